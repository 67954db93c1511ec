"""Large libraries: which terms a denominator may have is found first, one term at a time, by linear regressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.discovery.rational.output_fit import LawFit, keeps_sign
from exactsindy.discovery.rational.profiling import profiled
from exactsindy.discovery.rational.row_search import RowSearch
from exactsindy.discovery.rational.rows import Rows
from exactsindy.discovery.rational.shapes import Candidates, Columns, Shape
from exactsindy.solver import Deadline

# Coefficients that a law could have, beyond which terms are screened: exact searches of all would not end.
LARGE = 100
# Most terms of p and of M that are kept: those of lowest degree. Rows for each column of a screening regression.
_MOST_TERMS, _ROWS_PER_COLUMN = 40, 3
# Rows for each column beyond which a screening regression would only take longer.
_ENOUGH_PER_COLUMN = 6
# Part of the time that screening may take.
_SHARE = 0.5
# Candidates of D up to which also pairs of terms are tried.
_FEW = 10
# Denominators of one or two terms beside the normaliser that are kept.
_KEPT = 6


@dataclass(frozen=True, eq=False)
class Screened:
    """Rows and candidates to search, and denominators known beforehand; ``among`` counts the candidates before."""

    rows: Rows
    candidates: Candidates
    among: int
    seeds: tuple[LawFit, ...] = ()

    def searched(self, largest: int, clock: Deadline, has_pole: Callable[[LawFit], bool]) -> RowSearch:
        """Return the finished search of the laws of one equation."""
        search = RowSearch(self.rows, self.candidates, largest, clock, has_pole, seeds=self.seeds, among=self.among)
        search.only_seeds = self.among > LARGE
        search.run()
        return search


def screened(rows: Rows, candidates: Candidates, clock: Deadline) -> Screened:
    """Return denominators to begin with and, of many candidates, only p and M of low degree and the best terms of D.

    Of few candidates denominators are profiled. Of many, linear regressions choose: with D = psi_0 + d psi and p, M of
    few terms, D y = p D + M is linear in all its unknowns: d, M, p and p d. One regression per psi, of twice as many
    columns as p has terms, tells how well any such law can fit; so does one per pair of terms where there are few. As a
    quotient N / D such a law may need terms that are no candidates of M.
    """
    if not candidates.under:
        return Screened(rows, candidates, candidates.free)
    if candidates.free <= LARGE:
        return Screened(rows, candidates, candidates.free, tuple(_seed(psi, d) for psi, d in profiled(rows, clock)))
    plain, over = _lowest(candidates.plain, rows.count), _lowest(candidates.over, rows.count)
    first = next((j for j, term in enumerate(candidates.under) if not term.factors), 0)
    others = [j for j in range(len(candidates.under)) if j != first]
    tried: list[Columns] = [(j,) for j in others]
    if len(others) <= _FEW:
        tried += combinations(others, 2)
    found = _denominators(_fewer(rows, 2 * len(plain) + len(over)), plain, over, first, tried, clock)
    under = sorted({first, *(j for psi, _ in found for j in psi)})
    few = Candidates(
        tuple(candidates.plain[j] for j in plain),
        tuple(candidates.over[j] for j in over),
        tuple(candidates.under[j] for j in under),
    )
    fewer = Rows(rows.plain[:, plain], rows.over[:, over], rows.under[:, under], rows.label, rows.stretches)
    seeds = [_seed((under.index(first), *map(under.index, psi)), d) for psi, d in found]
    return Screened(fewer, few, candidates.free, tuple(seeds))


def _seed(under: Columns, coef: Array) -> LawFit:
    """Return a denominator as a law that has no terms yet."""
    return LawFit(Shape((), (), under), np.zeros(0), np.zeros(0), coef, np.inf)


def _fewer(rows: Rows, columns: int) -> Rows:
    """Return evenly chosen samples, as many as a regression of so many columns needs; windows stay as they are."""
    step = len(rows.label) // (_ENOUGH_PER_COLUMN * columns)
    if rows.stretches or step < 2:
        return rows
    return Rows(rows.plain[::step], rows.over[::step], rows.under[::step], rows.label[::step])


def _lowest(terms: Sequence[object], rows: int) -> list[int]:
    """Return the terms of lowest degree, whole degrees, as many as the rows allow."""
    most = min(_MOST_TERMS, max(rows // (2 * _ROWS_PER_COLUMN), 2))
    degrees = [getattr(term, "degree", 0) for term in terms]
    limit = max((n for n in set(degrees) if sum(d <= n for d in degrees) <= most), default=min(degrees))
    return [j for j, degree in enumerate(degrees) if degree <= limit]


def _denominators(
    rows: Rows, plain: list[int], over: list[int], first: int, tried: Sequence[Columns], clock: Deadline
) -> list[tuple[Columns, Array]]:
    """Return the terms of D beside psi_0 that fit best, with their coefficients, the best first."""
    psi_0 = rows.under[:, first]
    target = rows.labelled(psi_0[:, None])[:, 0]
    base = rows.rates(np.hstack([rows.over[:, over], rows.plain[:, plain] * psi_0[:, None]]))
    from scipy.linalg import qr  # loaded when needed: it takes as much memory as numpy

    q, r, _ = qr(base, mode="economic", pivoting=True)
    size = np.abs(np.diag(r))
    q = q[:, size > 1e-10 * size[0]]
    rest = target - q @ (q.T @ target)
    found, late = [], (1.0 - _SHARE) * clock.left()
    for psi in tried:
        go_on()
        if clock.left() < late:
            break
        products = [rows.rates(rows.plain[:, plain] * rows.under[:, [j]]) for j in psi]
        columns = np.hstack([*products, rows.labelled(rows.under[:, psi])])
        columns = columns - q @ (q.T @ columns)
        lengths = np.sqrt((columns**2).sum(axis=0))
        used = lengths > 0
        if not used[-len(psi) :].all() or used.sum() + q.shape[1] >= len(rest):
            continue
        columns = columns[:, used] / lengths[used]
        from scipy.linalg import lstsq

        coef = lstsq(columns, rest, cond=1e-11, lapack_driver="gelsy", check_finite=False)[0]
        d = -np.asarray(coef[-len(psi) :]) / lengths[-len(psi) :]
        bottom = psi_0 + rows.under[:, psi] @ d
        if keeps_sign(bottom):
            freedom = len(rest) - q.shape[1] - int(used.sum())
            found.append((_output(rows, rest - columns @ coef, bottom) / freedom, psi, d))
    found.sort(key=lambda entry: entry[0])
    return [(psi, d) for _, psi, d in found[:_KEPT]]


def _output(rows: Rows, residual: Array, bottom: Array) -> float:
    """Return the residual of D y in units of y: divided by D where a row is a sample, by its mean size otherwise."""
    scale = bottom if not rows.stretches else np.sqrt(np.mean(bottom**2))
    return float(((residual / scale) ** 2).sum())

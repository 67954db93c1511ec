"""Information criteria: AICc as in the published experiments, BIC and extended BIC with effective rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.errors import SolverError
from exactsindy.problem import Problem
from exactsindy.selection.choices import Candidate, SizeScore
from exactsindy.selection.growth import first_sizes, ln_choose, row_counts, term_count
from exactsindy.solver import Solution, Total, refit

RowCounts = float | str | Mapping[str, float] | None


@dataclass(frozen=True)
class AICc:
    r"""Akaike's criterion with small-sample correction, on validation data.

    2k + m ln(RSS / m) + 2(k+1)(k+2) / max(m - k - 2, 1), m the rows and RSS the residual of the validation problem.

    Parameters
    ----------
    validation
        Problem of data not used for fitting, over the same library; the training rows if left out.
    count
        ``"all"``: k counts the terms of all equations of the same grid point together, as the published code does;
        ``"own"``: those of the equation, as the article says.
    unbias
        Whether coefficients are refitted without ridge before they are scored.
    smallest
        The least number of terms considered; the published grids start at 1.
    """

    validation: Problem | None = field(default=None, repr=False)
    count: str = "all"
    unbias: bool = True
    smallest: int = 1

    def __post_init__(self) -> None:
        if self.count not in ("all", "own"):
            raise SolverError(f"AICc(count={self.count!r}): expected 'all' (as coded) or 'own' (as written).")

    def scores(self, candidate: Candidate) -> tuple[SizeScore, ...]:
        """Return the size of least criterion for every equation of a candidate."""

        def penalty(solution: Solution, entry: int, m: float) -> float:
            everything = self.count == "all" or isinstance(solution.k, Total)
            k = sum(map(len, solution.support)) if everything else len(solution.support[entry])
            return 2 * k + 2 * (k + 1) * (k + 2) / max(m - k - 2, 1)

        return _least(candidate, self.validation, self.unbias, self.smallest, None, penalty)


@dataclass(frozen=True)
class BIC:
    r"""Schwarz's criterion m ln(RSS / m) + k ln m, for rows that may depend on each other.

    With ``rows`` the likelihood term and the penalty use that effective number instead of the nominal one:
    overlapping windows of a weak form carry far less information than there are of them (see `effective_rows`).

    Parameters
    ----------
    validation
        Problem of data not used for fitting; the training rows if left out.
    rows
        Effective number of rows, one for all equations or by equation; ``"folds"`` estimates it from how much the
        residuals of the folds vary; by default the nominal number.
    extended
        Weight of the extended BIC's 2 ln C(D, k), the penalty for having D terms to choose from; 0 is plain BIC.
    unbias
        Whether coefficients are refitted without ridge before they are scored.
    """

    validation: Problem | None = field(default=None, repr=False)
    rows: RowCounts = None
    extended: float = 0.0
    unbias: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.rows, str) and self.rows != "folds":
            raise SolverError(f"BIC(rows={self.rows!r}): expected a number, a mapping by equation, or 'folds'.")

    def scores(self, candidate: Candidate) -> tuple[SizeScore, ...]:
        """Return the size of least criterion for every equation of a candidate."""

        def penalty(solution: Solution, entry: int, m: float) -> float:
            k = sum(map(len, solution.support)) if isinstance(solution.k, Total) else len(solution.support[entry])
            terms = term_count(candidate.path, entry)
            return k * math.log(max(m, 2.0)) + 2 * self.extended * ln_choose(terms, k)

        return _least(candidate, self.validation, self.unbias, 0, self.rows, penalty)


def EBIC(validation: Problem | None = None, *, rows: RowCounts = None, unbias: bool = True) -> BIC:
    """Return the extended BIC: `BIC` with the penalty 2 ln C(D, k) for choosing among D terms.

    Examples
    --------
    >>> EBIC(rows=20.0).extended
    1.0
    """
    return BIC(validation, rows, 1.0, unbias)


def _least(
    candidate: Candidate,
    validation: Problem | None,
    unbias: bool,
    smallest: int,
    rows: RowCounts,
    penalty: Callable[[Solution, int, float], float],
) -> tuple[SizeScore, ...]:
    """Return the size of least m ln(RSS / m) + penalty per entry, among those that satisfy the constraints."""
    scored = candidate.problem if validation is None else validation
    shared = isinstance(candidate.path[0].k, Total)
    values = np.full((len(candidate.path), 1 if shared else len(scored.target_names)), np.nan)
    nominal = np.array([scored.n_samples_of(i) for i in range(len(scored.target_names))], dtype=float)
    first = first_sizes(candidate.path)
    for k in range(smallest, len(candidate.path)):
        solution = candidate.path[k]
        if k < min(first):
            continue
        coef = refit(candidate.problem, solution, constraints=candidate.constraints).coef if unbias else solution.coef
        rss = np.maximum(scored.rss(coef), np.finfo(float).tiny)
        totals = (np.array([rss.sum()]), np.array([nominal.sum()])) if shared else (rss, nominal)
        for entry, (residual, n) in enumerate(zip(*totals, strict=True)):
            if not np.isfinite(solution.objective[entry]):
                continue
            m = _effective(rows, candidate, entry, n)
            values[k, entry] = m * math.log(residual / n) + penalty(solution, entry, m)
    scores = []
    for column in values.T:
        order = np.argsort(np.where(np.isnan(column), np.inf, column), kind="stable")
        rival = int(order[1]) if len(order) > 1 and np.isfinite(column[order[1]]) else None
        scores.append(SizeScore(int(order[0]), -float(column[order[0]]), tuple(map(float, column)), rival))
    return tuple(scores)


def _effective(rows: RowCounts, candidate: Candidate, entry: int, nominal: float) -> float:
    if rows is None:
        return nominal
    if isinstance(rows, Mapping):
        target = candidate.problem.target_names[entry]
        count = rows.get(target, rows.get(target.rstrip("'")))
        if count is None:
            raise SolverError(f"BIC(rows=...): no number of rows for the equation {target}.")
        return float(count)
    if isinstance(rows, str):
        if len(candidate.folds) < 2:
            text = "pass the folds of the data to select, e.g. form.folds(data, lib, 20)."
            raise SolverError(f"BIC(rows='folds'): {text}")
        largest = candidate.path[len(candidate.path) - 1]
        share = effective_rows(candidate.folds, largest.coef)
        fitted = row_counts(candidate.path)[entry]  # one entry, of all rows, for a shared budget
        return float(np.mean(share) if isinstance(largest.k, Total) else share[entry]) / fitted * nominal
    return float(rows)


def effective_rows(folds: Sequence[Problem], coef: ArrayLike) -> Array:
    r"""Return per equation how many independent rows the rows of all folds are worth.

    The sum of squares of n independent residuals of one variance scatters by a share sqrt(2 / n) of its mean; m rows
    that depend on each other scatter as if there were fewer, m_eff = (tr C)^2 / tr(C^2). So the scatter of the
    residual per row between folds gives m_eff. It needs folds (10 or more) longer than the dependence, and the
    coefficients (equations x terms) of a saturated model serve best.
    """
    if len(folds) < 2:
        raise SolverError("effective_rows(folds): expected at least two folds, better 10 or more.")
    counts = np.array([[fold.n_samples_of(i) for i in range(len(fold.target_names))] for fold in folds], dtype=float)
    means = np.array([fold.rss(coef) for fold in folds]) / counts
    # Weighted by length: short folds scatter more.
    centre = (counts * means).sum(axis=0) / counts.sum(axis=0)
    scatter = (counts * (means / centre - 1.0) ** 2).sum(axis=0) / (len(folds) - 1)
    total = counts.sum(axis=0)
    return np.asarray(np.clip(2.0 * total / np.maximum(scatter, 2.0), 1.0, total))


def effective_samples(residuals: ArrayLike) -> float:
    r"""Return how many independent rows a series of residuals, in order, is worth.

    m_eff = N / (1 + 2 sum_l (1 - l/N) rho_l^2) with rho the autocorrelation. The squares matter: for a row that is a
    difference, as in every weak form, sum rho is 0. Lags are summed until rho falls into the noise of its estimate.
    """
    series = np.asarray(residuals, dtype=float).ravel()
    n = len(series)
    if n < 3 or not np.isfinite(series).all():
        raise SolverError("effective_samples(residuals): expected at least 3 finite numbers.")
    correlation = np.fft.irfft(np.abs(np.fft.rfft(series - series.mean(), 2 * n)) ** 2)[:n]
    if correlation[0] <= 0:
        return float(n)
    rho = correlation[1:] / correlation[0]
    quiet = np.convolve(np.abs(rho) < 2.0 / np.sqrt(n), np.ones(10), "valid") >= 10
    last = int(np.argmax(quiet)) if quiet.any() else len(rho)
    lags = np.arange(1, last + 1)
    return float(n / (1.0 + 2.0 * np.sum((1.0 - lags / n) * rho[:last] ** 2)))

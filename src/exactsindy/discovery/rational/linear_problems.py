"""The linear regressions whose best supports are tried as rational laws; each is solved exactly.

Notation: the law is p + M / D with D = psi_0 + sum d_j psi_j, y the derivative.

- Levy: D y - M = 0 with psi_0 y as the target. The noise of y is in the columns psi_j y, too, which draws D to zero.
  Because y enters linearly, the covariance C of that noise is known up to its size; the largest multiple of it that
  leaves the products of all columns positive semidefinite is taken off them. That is the corrected Levy regression.
- Gauss-Newton: the rates of all laws near a known one, linearised; no column holds y.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from exactsindy._types import Array
from exactsindy.discovery.rational.output_fit import LawFit
from exactsindy.discovery.rational.rows import Rows
from exactsindy.problem import Problem

# Share of the noise's covariance that is taken off: less than 1, so that rounding leaves no negative products.
_TAKEN = 0.999


def corrected_levy(rows: Rows, normaliser: int, weight: Array) -> Problem | None:
    """Return the corrected Levy regression with one term of D as the target; None if columns are dependent.

    Its columns are the candidates of M, then those of D but for the normaliser. Samples are multiplied by ``weight``:
    1 / D of a known law, or 1 / psi_0, so that the rows have equal noise. It has one row per column: the products of
    its columns are those of the data less those of the noise.
    """
    others = [j for j in range(rows.under.shape[1]) if j != normaliser]
    order = [*others, normaliser]
    columns = (rows.under * weight[:, None])[:, order]
    over, under = rows.rates(rows.over * weight[:, None]), rows.labelled(columns)
    if not (np.isfinite(over).all() and np.isfinite(under).all()):
        return None
    size = np.sqrt((under**2).sum(axis=0))
    if not (size > 0).all() or len(over) < over.shape[1] + under.shape[1]:
        return None
    scaled = under / size
    covariance = rows.noise(columns) / np.outer(size, size)
    from scipy.linalg import cholesky, qr, solve_triangular  # loaded when needed: it takes as much memory as numpy

    q, r_over = qr(over, mode="economic")
    across = q.T @ scaled
    rest = scaled - q @ across
    again = q.T @ rest  # orthogonal up to rounding only after a second time
    across, rest = across + again, rest - q @ again
    r_under = qr(rest, mode="r")[0][: rest.shape[1]]
    try:
        factor = cholesky(covariance, lower=True)
        ratio = solve_triangular(factor, r_under.T, lower=True).T
        _, s, vt = np.linalg.svd(ratio)
    except np.linalg.LinAlgError:
        return None
    kept = np.sqrt(np.maximum(s**2 - _TAKEN * s[-1] ** 2, 0.0))
    corrected = kept[:, None] * (vt @ factor.T)
    table = np.block([[r_over, across], [np.zeros((len(corrected), r_over.shape[1])), corrected]])
    table[:, r_over.shape[1] :] *= size
    return _problem(table[:, :-1], table[:, -1])


def at_rate(rows: Rows, normaliser: int, weight: Array) -> Problem | None:
    """Return D f = M at a rate f that is known, one term of D as the target; columns as in the Levy regression.

    For laws near f the residual is that of the rates themselves where ``weight`` is about 1 / D.
    """
    others = [j for j in range(rows.under.shape[1]) if j != normaliser]
    under = rows.labelled(rows.under * weight[:, None])
    target = rows.target - rows.rates(rows.label) + under[:, normaliser]
    return _problem(np.hstack([rows.rates(rows.over * weight[:, None]), under[:, others]]), target)


def gauss_newton(rows: Rows, law: LawFit, with_plain: bool) -> Problem | None:
    """Return the rates of laws near a known one as a regression: columns of p (if wanted), of M, of free terms of D.

    All candidates of D but for the normaliser of the known law are free; absent coefficients are 0 there.
    """
    d, fraction = law.denominator(rows), law.fraction(rows)
    first = law.shape.under[0]
    others = [j for j in range(rows.under.shape[1]) if j != first]
    parts = [rows.plain] if with_plain else []
    parts += [rows.over / d[:, None], -rows.under[:, others] * (fraction / d)[:, None]]
    target = rows.target - rows.rates(fraction) + rows.rates(fraction * rows.under[:, first] / d)
    return _problem(rows.rates(np.hstack(parts)), target)


def at_denominator(rows: Rows, d: Array) -> Problem | None:
    """Return the regression with a known denominator: columns of p, then of M / D."""
    return _problem(rows.rates(np.hstack([rows.plain, rows.over / d[:, None]])), rows.target)


def plain_problem(rows: Rows) -> Problem | None:
    """Return the regression without a denominator."""
    return _problem(rows.rates(rows.plain), rows.target)


def _problem(table: Array, target: Array) -> Problem | None:
    if not (np.isfinite(table).all() and np.isfinite(target).all()) or not table.shape[1]:
        return None
    return Problem.from_arrays(table, target, names=_numbered(table.shape[1]), target_names=("y",))


def _numbered(count: int) -> Sequence[str]:
    return [f"c{j}" for j in range(count)]

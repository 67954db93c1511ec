"""Every support that constraints allow, and its best fit under them, in plain NumPy.

The fit is least distance programming by nonnegative least squares (Lawson and Hanson 1974, ch. 23): after an orthogonal
change of variables, min |y|^2 subject to G y >= h is the residual of the NNLS problem [G'; h'] u = (0, ..., 0, 1).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from exactsindy.constraints import Stacked

Array = NDArray[np.float64]
Fit = tuple[float, Array | None]  # objective without the constant, and coefficients
_RANK = 1e-11  # singular values below this share of the largest are rounding
_FEASIBLE = 1e-9  # by this share of its right side a condition may be missed


def count_supports(stacked: Stacked) -> int:
    """Return how many supports have to be looked at, at most: all within the budgets."""
    return sum(math.comb(len(stacked.variables), size) for size in range(_largest(stacked) + 1))


def _largest(stacked: Stacked) -> int:
    """Return the most terms the rows that are plain budgets allow."""
    free, most = np.ones(len(stacked.variables), dtype=np.bool_), 0
    rows = zip(stacked.presence, stacked.presence_rhs, strict=True)
    budgets = [(row, int(limit)) for row, limit in rows if np.isin(row, (0, 1)).all()]
    for row, limit in sorted(budgets, key=lambda pair: -int(pair[0].sum())):
        if np.all(free[row > 0]):  # disjoint from the budgets counted so far
            free[row > 0] = False
            most += min(limit, int(row.sum()))
    return most + int(free.sum())


def supports(stacked: Stacked) -> Iterator[tuple[int, ...]]:
    """Yield the supports allowed by the presence rows (as columns), smaller ones first."""
    width = len(stacked.variables)
    for size in range(_largest(stacked) + 1):
        candidates = itertools.combinations(range(width), size)
        while batch := list(itertools.islice(candidates, 4096)):
            present = np.zeros((len(batch), width))
            np.put_along_axis(present, np.array(batch, dtype=np.intp).reshape(len(batch), size), 1.0, axis=1)
            allowed = np.all(present @ stacked.presence.T <= stacked.presence_rhs, axis=1)
            yield from (batch[i] for i in np.flatnonzero(allowed))


def support_value(stacked: Stacked, support: tuple[int, ...]) -> Fit:
    """Return the least value of a support (without the constant) and its coefficients; inf if it is infeasible."""
    columns = list(support)
    fits = [_convex_fit(stacked.restricted(columns, *bounds)) for bounds in _signed_bounds(stacked, columns)]
    return min(fits, key=lambda fit: fit[0], default=(np.inf, None))


def _signed_bounds(stacked: Stacked, columns: list[int]) -> Iterator[tuple[Array, Array]]:
    """Yield the bounds of a support, for each choice of signs of its semi-continuous terms."""
    absent = np.ones(stacked.matrix.shape[1], dtype=np.bool_)
    absent[columns] = False
    if np.any(stacked.lower[absent] > 0) or np.any(stacked.upper[absent] < 0):
        return
    lower = np.maximum(stacked.lower[columns], -stacked.most[columns])
    upper = np.minimum(stacked.upper[columns], stacked.most[columns])
    least = stacked.least[columns]
    signed = np.flatnonzero(least > 0)
    for signs in itertools.product((1.0, -1.0), repeat=len(signed)):
        low, high = lower.copy(), upper.copy()
        for i, sign in zip(signed, signs, strict=True):
            if sign > 0:
                low[i] = max(low[i], least[i])
            else:
                high[i] = min(high[i], -least[i])
        if np.all(low <= high):
            yield low, high


def _convex_fit(problem: Stacked) -> Fit:
    """Return the least |target - matrix x|^2 under the conditions of a problem and its x; (inf, None) if there is none.

    Presences and sizes of present terms are not looked at.
    """
    matrix, target = problem.matrix, problem.target
    particular, null = _affine(problem.equal, problem.equal_rhs, matrix.shape[1])
    if particular is None:
        return np.inf, None
    g, h = problem.inequalities()
    residual = target - matrix @ particular
    g_null, gap = g @ null, h - g @ particular
    y = _least_squares(matrix @ null, residual)
    if np.any(g_null @ y < gap - _FEASIBLE * (1 + np.abs(h))):
        bounded = _constrained(matrix @ null, residual, g_null, gap)
        if bounded is None:
            return np.inf, None
        y = bounded
    x = particular + null @ y
    residual = target - matrix @ x
    return float(residual @ residual), x


def _affine(equal: Array, rhs: Array, n: int) -> tuple[Array | None, Array]:
    """Return a solution and the null space of equal @ x == rhs; None if there is no solution."""
    if len(equal) == 0:
        return np.zeros(n), np.eye(n)
    if n == 0:
        return (np.zeros(0) if np.all(np.abs(rhs) <= _FEASIBLE) else None), np.zeros((0, 0))
    scale = np.abs(equal).max(axis=1, initial=0.0)
    scale[scale == 0] = 1.0
    rows, right = equal / scale[:, None], rhs / scale
    u, values, vt = np.linalg.svd(rows)
    rank = int(np.sum(values > _RANK * max(1.0, float(values[0]))))
    solution = vt[:rank].T @ ((u[:, :rank].T @ right) / values[:rank])
    if np.any(np.abs(rows @ solution - right) > _FEASIBLE * (1 + np.abs(right))):
        return None, vt[rank:].T
    return solution, vt[rank:].T


def _least_squares(matrix: Array, target: Array) -> Array:
    return np.asarray(np.linalg.lstsq(matrix, target, rcond=_RANK)[0]) if matrix.shape[1] else np.zeros(0)


def _constrained(matrix: Array, target: Array, g: Array, h: Array) -> Array | None:
    """Return the minimiser under g y >= h by least distance programming; None if infeasible."""
    from scipy.optimize import nnls

    count = matrix.shape[1]
    if count == 0:
        return None
    # Directions the data do not see are held by a weak pull to 0, so that a factor exists.
    pull = 1e-8 * max(float(np.abs(matrix).max(initial=0.0)), 1e-300) * np.eye(count)
    q, r = np.linalg.qr(np.vstack([matrix, pull]))
    inverse = np.linalg.inv(r)
    centre = q.T @ np.concatenate([target, np.zeros(count)])
    rows, right = g @ inverse, h - g @ inverse @ centre
    size = np.linalg.norm(np.column_stack([rows, right]), axis=1)
    size[size == 0] = 1.0
    stacked = np.vstack([(rows / size[:, None]).T, right / size])
    goal = np.zeros(count + 1)
    goal[-1] = 1.0
    multipliers, _ = nnls(stacked, goal, maxiter=100 * stacked.shape[1] + 100)
    residual = stacked @ multipliers - goal
    if np.linalg.norm(residual) <= 1e-9:
        return None
    y = inverse @ (-residual[:-1] / residual[-1] + centre)
    if np.any(g @ y < h - 1e-6 * (1 + np.abs(h) + np.abs(g) @ np.abs(y))):
        return None
    return np.asarray(_polished(matrix, target, g, h, multipliers > 0, y))


def _polished(matrix: Array, target: Array, g: Array, h: Array, active: NDArray[np.bool_], fallback: Array) -> Array:
    """Return the minimiser on the active inequalities taken as equalities, if it is feasible."""
    particular, null = _affine(g[active], h[active], matrix.shape[1])
    if particular is None:
        return fallback
    y = particular + null @ _least_squares(matrix @ null, target - matrix @ particular)
    return y if np.all(g @ y >= h - _FEASIBLE * (1 + np.abs(h))) else fallback

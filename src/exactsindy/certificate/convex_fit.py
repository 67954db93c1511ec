"""Least squares under linear constraints in plain NumPy: the convex solve of the enumeration oracle.

Least distance programming by nonnegative least squares (Lawson and Hanson 1974, ch. 23): after an orthogonal change of
variables, min |y|^2 subject to G y >= h is the residual of the NNLS problem [G'; h'] u = (0, ..., 0, 1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactsindy.constraints import Stacked

_RANK = 1e-11
_FEASIBLE = 1e-9


def convex_fit(problem: Stacked) -> tuple[float, NDArray[np.float64] | None]:
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


def _affine(
    equal: NDArray[np.float64], rhs: NDArray[np.float64], n: int
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64]]:
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


def _least_squares(matrix: NDArray[np.float64], target: NDArray[np.float64]) -> NDArray[np.float64]:
    if matrix.shape[1] == 0:
        return np.zeros(0)
    return np.asarray(np.linalg.lstsq(matrix, target, rcond=_RANK)[0])


def _constrained(
    matrix: NDArray[np.float64], target: NDArray[np.float64], g: NDArray[np.float64], h: NDArray[np.float64]
) -> NDArray[np.float64] | None:
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


def _polished(
    matrix: NDArray[np.float64],
    target: NDArray[np.float64],
    g: NDArray[np.float64],
    h: NDArray[np.float64],
    active: NDArray[np.bool_],
    fallback: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the minimiser on the active inequalities taken as equalities, if it is feasible."""
    particular, null = _affine(g[active], h[active], matrix.shape[1])
    if particular is None:
        return fallback
    y = particular + null @ _least_squares(matrix @ null, target - matrix @ particular)
    return y if np.all(g @ y >= h - _FEASIBLE * (1 + np.abs(h))) else fallback

"""One node of a conic problem by Clarabel, and a bound from its dual point that does not rest on what it reports.

For any omega, lambda, mu >= 0 and y in the dual cones, with delta = A'omega - C'lambda - G'mu - M'y,

    |z - A x|^2  >=  2 omega'z - |omega|^2 - 2 lambda'd - 2 mu'h - 2 y'offset - 2 sum_v max delta_v x_v

for all x with C x = d, G x <= h, offset - M x in the cones and x_v between its bounds: the inequality of the native
search with cones added. It is evaluated in doubles with a bound of its rounding errors. Coefficients beyond a million
times their natural size |z| / |a_v| are not considered.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.constraints import Cone, Stacked, triangle
from exactsindy.errors import MissingDependency

_EPS = float(np.finfo(np.float64).eps)
_FAR = 1e6
_TINY = 1e-9  # holds dependent columns apart


@dataclass(frozen=True, eq=False)
class Conic:
    """A stacked problem with its cones as dense rows over all columns."""

    stacked: Stacked
    cones: tuple[Cone, ...]
    centre: Array
    spread: Array

    @classmethod
    def of(cls, stacked: Stacked, cones: Sequence[Cone]) -> Conic:
        """Lay the cones out and bound the coefficients of all points of a given value."""
        position = {int(v): i for i, v in enumerate(stacked.variables)}
        dense = []
        for cone in cones:
            matrix = np.zeros((len(cone.offset), len(position)))
            matrix[:, [position[v] for v in cone.variables]] = cone.matrix
            dense.append(Cone(cone.kind, tuple(range(len(position))), matrix, cone.offset, cone.source))
        return cls(stacked, tuple(dense), *_reach(stacked.matrix, stacked.target))


@dataclass(frozen=True, eq=False)
class NodeResult:
    """The solution over all columns (None: infeasible), its value, and a safe bound (inf: infeasible, proved)."""

    x: Array | None
    value: float
    bound: float


def _reach(matrix: Array, target: Array) -> tuple[Any, Any]:
    """Return centre and spread with |x_v| <= centre_v + spread_v sqrt(value): x = L z - L (z - A x) + (I - L A) x."""
    count = matrix.shape[1]
    left = np.linalg.pinv(matrix)
    gamma = 4 * (len(matrix) + count + 8) * _EPS
    defect = np.abs(np.eye(count) - left @ matrix) + gamma * (np.abs(left) @ np.abs(matrix) + 1)
    rows, errors = np.linalg.norm(left, axis=1), np.linalg.norm(defect, axis=1)
    whole = float(np.linalg.norm(defect))
    if not whole < 0.5:
        return np.full(count, np.inf), np.full(count, np.inf)
    size = float(np.linalg.norm(left)) / (1 - whole)
    norm = float(np.linalg.norm(target))
    centre = np.abs(left @ target) + gamma * rows * norm + errors * size * norm
    return centre * (1 + gamma), (rows + errors * size) * (1 + gamma)


def solve_node(problem: Conic, columns: NDArray[np.intp], cut: float) -> NodeResult:
    """Solve the relaxation over some columns; the others are absent."""
    try:
        import clarabel
    except ImportError as error:
        raise MissingDependency(
            "Quadratic and semidefinite constraints need the clarabel package: pip install exactsindy[conic]."
        ) from error
    from scipy import sparse

    s = problem.stacked
    rows, rhs, cones, ends = _rows(problem, columns, clarabel)
    whole = np.vstack([s.matrix[:, columns], _TINY * np.eye(len(columns))])
    q, r = np.linalg.qr(whole)
    inverse = np.linalg.inv(r)
    centre = q.T @ np.concatenate([s.target, np.zeros(len(columns))])
    white, right = rows @ inverse, rhs - rows @ (inverse @ centre)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    settings.max_iter = 200
    unit = float(np.linalg.norm(s.target)) or 1.0
    identity = sparse.csc_matrix(2.0 * np.eye(len(columns)))
    solver = clarabel.DefaultSolver(
        identity, np.zeros(len(columns)), sparse.csc_matrix(white), right / unit, cones, settings
    )
    result = solver.solve()
    y, dual = np.array(result.x) * unit, np.array(result.z) * unit / 2
    status = str(result.status)
    if "Infeasible" in status:
        proved = _bound(problem, columns, np.zeros(len(s.target)), dual / unit, ends, cut) > 0
        return NodeResult(None, np.inf, np.inf if proved else -np.inf)
    x = np.zeros(s.matrix.shape[1])
    x[columns] = inverse @ (y + centre)
    residual = s.target - s.matrix @ x
    return NodeResult(x, float(residual @ residual), _bound(problem, columns, residual, dual, ends, cut))


def _rows(
    problem: Conic, columns: NDArray[np.intp], clarabel: Any
) -> tuple[Any, Any, list[Any], list[tuple[str, int]]]:
    """Return all conditions as rows, right sides, cones, and what each stretch of rows is."""
    s = problem.stacked
    lower, upper = np.maximum(s.lower, -s.most)[columns], np.minimum(s.upper, s.most)[columns]
    eye = np.eye(len(columns))
    low, high = np.isfinite(lower), np.isfinite(upper)
    bounds = np.vstack([-eye[low], eye[high]])
    parts = [s.equal[:, columns], s.below[:, columns], bounds, *(cone.matrix[:, columns] for cone in problem.cones)]
    rights = [s.equal_rhs, s.below_rhs, np.concatenate([-lower[low], upper[high]])]
    rights += [cone.offset for cone in problem.cones]
    cones = [clarabel.ZeroConeT(len(s.equal)), clarabel.NonnegativeConeT(len(s.below) + len(bounds))]
    for cone in problem.cones:
        second, size = cone.kind == "second-order", len(cone.offset)
        cones.append(clarabel.SecondOrderConeT(size) if second else clarabel.PSDTriangleConeT(side_of(cone.offset)))
    kinds = ["equal", "below", "bounds", *(cone.kind for cone in problem.cones)]
    return np.vstack(parts), np.concatenate(rights), cones, list(zip(kinds, map(len, rights), strict=True))


def _bound(
    problem: Conic, columns: NDArray[np.intp], omega: Array, dual: Array, ends: Sequence[tuple[str, int]], cut: float
) -> float:
    """Evaluate the inequality; with omega = 0 a positive value proves that nothing is feasible."""
    s = problem.stacked
    y, start = dual.copy(), 0
    for kind, size in ends:
        y[start : start + size] = _into_dual_cone(kind, y[start : start + size])
        start += size
    first, second = ends[0][1], ends[0][1] + ends[1][1]
    third = second + ends[2][1]
    rows = np.vstack([s.equal, s.below, *(cone.matrix for cone in problem.cones)])[:, columns]
    rhs = np.concatenate([s.equal_rhs, s.below_rhs, *(cone.offset for cone in problem.cones)])
    # The bounds' share is found again from the intervals.
    used = np.concatenate([y[:first], y[first:second], y[third:]])
    gamma = 4 * (len(omega) + len(used) + len(columns) + 8) * _EPS
    matrix = s.matrix[:, columns]
    delta = matrix.T @ omega - rows.T @ used
    error = gamma * (np.abs(matrix).T @ np.abs(omega) + np.abs(rows).T @ np.abs(used))
    norms = np.linalg.norm(matrix, axis=0)
    limit = _FAR * (float(np.linalg.norm(s.target)) or 1.0) / np.where(norms > 0, norms, 1.0)
    reach = np.fmin(problem.centre[columns] + problem.spread[columns] * np.sqrt(cut), limit)
    lower = np.maximum(np.maximum(s.lower, -s.most)[columns], -reach)
    upper = np.minimum(np.minimum(s.upper, s.most)[columns], reach)
    most = np.maximum(delta * lower, delta * upper) + error * np.maximum(np.abs(lower), np.abs(upper))
    value = 2 * omega @ s.target - omega @ omega - 2 * used @ rhs - 2 * most.sum()
    size = (
        2 * np.abs(omega) @ np.abs(s.target) + omega @ omega + 2 * np.abs(used) @ np.abs(rhs) + 2 * np.abs(most).sum()
    )
    result = float(value - gamma * size)
    return result if result == result else -np.inf


def _into_dual_cone(kind: str, y: Array) -> Array:
    """Return a point of the dual cone near y, with room for rounding."""
    if kind == "equal" or not len(y):
        return y
    if kind in ("below", "bounds"):
        return np.maximum(y, 0.0)
    if kind == "second-order":
        return np.concatenate([[max(y[0], float(np.linalg.norm(y[1:])) * (1 + 1e-13))], y[1:]])
    values, vectors = np.linalg.eigh(matrix_of(y, side_of(y)))
    shift = 1e-13 * max(float(np.abs(values).max()), 1e-300)
    return triangle((vectors * (np.maximum(values, 0.0) + shift)) @ vectors.T)


def side_of(entries: Array) -> int:
    """Return the number of rows of the symmetric matrix of a triangle."""
    return round((math.sqrt(8 * len(entries) + 1) - 1) / 2)


def matrix_of(entries: Array, side: int) -> Array:
    """Return the symmetric matrix of a triangle (see `Cone`)."""
    matrix, at = np.zeros((side, side)), 0
    for column in range(side):
        for row in range(column + 1):
            matrix[row, column] = matrix[column, row] = entries[at] / (1.0 if row == column else np.sqrt(2.0))
            at += 1
    return matrix

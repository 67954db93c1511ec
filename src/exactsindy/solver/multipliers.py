"""Multipliers of the constraints on coefficients: numbers that prove a lower bound for one support.

The least of |y|^2 with G y >= h is found by non-negative least squares (Lawson and Hanson), which also tells where
nothing is feasible. A proof file holds the multipliers; any numbers give a true bound, good ones a good one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.solver.equations import Equation

_STEEP = 1e4  # most units of the value that is to be exceeded: enough where nothing is feasible


@dataclass(frozen=True)
class LinearRow:
    """``sum coefficient * x  <= limit`` (or ``== limit``) over terms (place of the equation, column)."""

    terms: tuple[tuple[int, int], ...]
    coefficients: tuple[float, ...]
    limit: float
    equal: bool


def multipliers(
    equations: Sequence[Equation],
    weights: Sequence[float],
    supports: Sequence[Sequence[int]],
    rows: Sequence[LinearRow],
    value: float,
) -> tuple[dict[int, float], float]:
    """Return the multipliers of the rows (by number) for a joint support, and by how much they raise its bound.

    ``value`` is what is to be reached. Positive ones of an inequality say that it binds. Empty: none was found, or no
    row binds.
    """
    terms = [(e, j) for e, support in enumerate(supports) for j in support]
    position = {term: p for p, term in enumerate(terms)}
    triangle, target = _triangle(equations, weights, supports)
    matrix = np.zeros((len(rows), len(terms)))
    for line, row in zip(matrix, rows, strict=True):
        for term, coefficient in zip(row.terms, row.coefficients, strict=True):
            if term in position:
                line[position[term]] = coefficient
    limit = np.array([row.limit for row in rows])
    try:
        inverse = np.linalg.solve(triangle.T, matrix.T).T
    except np.linalg.LinAlgError:
        return {}, 0.0
    # In y = triangle x - target the rows are inverse y <= limit - inverse target; in units of the root of the value.
    unit = np.sqrt(value) if value > 0 else 1.0
    right = (limit - inverse @ target) / unit
    size = np.maximum(np.sqrt((inverse**2).sum(axis=1)), 1e-9 * np.abs(right))
    size[size == 0.0] = 1.0
    equal = np.flatnonzero([row.equal for row in rows])
    least = np.vstack([-inverse / size[:, None], inverse[equal] / size[equal, None]])
    bound = np.concatenate([-right / size, right[equal] / size[equal]])
    forces = _forces(least, bound)
    if forces is None:
        return {}, 0.0
    gain = float(2.0 * (bound @ forces) - ((least.T @ forces) ** 2).sum()) * unit**2
    whole = forces[: len(rows)]
    whole[equal] -= forces[len(rows) :]
    whole *= 2.0 * unit / size
    return {r: float(number) for r, number in enumerate(whole) if number != 0.0 and np.isfinite(number)}, gain


def _triangle(
    equations: Sequence[Equation], weights: Sequence[float], supports: Sequence[Sequence[int]]
) -> tuple[Array, Array]:
    """Return R and q with  weighted objective = |R x - q|^2 + constant."""
    size = sum(map(len, supports))
    triangle, target, at = np.zeros((size, size)), np.zeros(size), 0
    for equation, weight, support in zip(equations, weights, supports, strict=True):
        chosen, end = list(support), at + len(support)
        columns = np.vstack([equation.factor[:, chosen], np.diag(np.sqrt(equation.ridge[chosen]))])
        q, r = np.linalg.qr(np.sqrt(weight) * columns)
        triangle[at:end, at:end] = r
        target[at:end] = q.T @ (np.sqrt(weight) * np.concatenate([equation.z, np.zeros(len(chosen))]))
        at = end
    return triangle, target


def _forces(least: Array, bound: Array) -> NDArray[np.float64] | None:
    """Return numbers >= 0, one per row, with which rows ``least y >= bound`` hold y = least' forces in place."""
    if not len(bound) or (bound <= 0.0).all() or not (np.isfinite(least).all() and np.isfinite(bound).all()):
        return None  # (what overflows belongs to columns that depend on each other but for a tiny remainder)
    from scipy.optimize import nnls  # solving without a proof needs NumPy only

    unit = np.zeros(least.shape[1] + 1)
    unit[-1] = 1.0
    try:
        weights, _ = nnls(np.vstack([least.T, bound]), unit)
    except RuntimeError:  # too many steps
        return None
    left = 1.0 - float(bound @ weights)
    forces = weights * min(1.0 / left if left > 0 else _STEEP, _STEEP)
    held = np.flatnonzero(weights)
    if left > 1.0 / _STEEP and len(held):  # the same rows, with more digits
        y = np.linalg.lstsq(least[held], bound[held], rcond=None)[0]
        better = np.linalg.lstsq(least[held].T, y, rcond=None)[0]
        if (better >= 0.0).all():
            forces[held] = better
    return np.asarray(forces)

"""Lower bounds of all supports of a node at once, with every rounding error subtracted.

The inequality: for any vector w and any x with |x_j| <= X_j that is zero outside a support T,

    |z - A x|^2 + sum ridge_j x_j^2  >=  2 w'z - |w|^2 - sum_{j in T} cost_j(a_j'w),
    cost_j(g) = max over |x| <= X_j of 2 g x - ridge_j x^2.

It holds however w was computed; a better w only gives a better bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from exactsindy_check import twofold
from exactsindy_check.instance import SMALL, UNIT, Scaled, Vector

Indices = npt.NDArray[np.intp]
TINY = 2.0**-960  # more than all underflow of one dot product


@dataclass(frozen=True, eq=False)
class Ground:
    """What all bounds of a section stand on: the scaled numbers, and X_j for every support with f <= cut."""

    numbers: Scaled
    reach: Vector

    @property
    def rows(self) -> int:
        """The number of rows of A."""
        return len(self.numbers.z)


def ground(numbers: Scaled) -> Ground:
    """Return the ground of a section: X_j = C |y| / |a_j|, made smaller where the numbers prove it (Lemma 5)."""
    box = numbers.box
    if not (np.isfinite(numbers.cut) and numbers.cut >= 0.0):
        return Ground(numbers, box)
    error = math.sqrt(numbers.cut) * (1.0 + 4.0 * UNIT) + TINY  # |z - A x| of every support at or below the cut
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        box = np.fmin(box, np.where(numbers.ridge > 0, error / np.sqrt(numbers.ridge) * (1.0 + 8.0 * UNIT), np.inf))
    used = np.flatnonzero(numbers.box > 0)
    a, n = numbers.a[:, used], len(numbers.z)
    with np.errstate(all="ignore"):
        left = _left_inverse(a)
        gamma = 2.0 * (n + 8) * UNIT
        rounding = gamma * (np.abs(left) @ np.abs(a)) * 1.01 + TINY
        defect = np.abs(np.eye(len(used)) - left @ a) + rounding + 4.0 * UNIT
        centre = np.abs(left @ numbers.z) + gamma * (np.abs(left) @ np.abs(numbers.z)) * 1.01 + TINY
        spread = np.sqrt((left**2).sum(axis=1)) * (1.0 + gamma) * error
        reach = box[used]
        for _ in range(4):
            better = (centre + spread + defect @ reach * (1.0 + gamma)) * (1.0 + 8.0 * UNIT)
            reach = np.fmin(reach, better)
    result = box.copy()
    result[used] = reach
    return Ground(numbers, result)


def _left_inverse(a: Vector) -> Vector:
    """Return something like a left inverse; nothing is assumed of it."""
    try:
        return np.asarray(np.linalg.pinv(a)) if a.size else np.zeros(a.T.shape)
    except np.linalg.LinAlgError:
        return np.zeros(a.T.shape)


def costs(g: Vector, ridge: Vector, reach: Vector) -> Vector:
    """Return upper bounds of cost_j for |g_j| <= g (axis 0: columns); ridge and reach as columns."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        edge = ridge * reach
        free = g * g / ridge
        held = (2.0 * g - edge) * reach
        return np.where(g == 0.0, 0.0, np.where((ridge > 0) & (g <= edge), free, held)) * (1.0 + 16.0 * UNIT) + TINY


def spent(cost: Vector, inside: Indices, free: npt.NDArray[np.bool_], slots: int) -> Vector:
    """Return the sum of the costs of `inside` and of the `slots` largest of `free` (a mask like `cost`), rounded up."""
    fixed = cost[inside].sum(axis=0)
    if slots > 0:
        open_costs = np.where(free, cost, 0.0)
        take = min(slots, len(cost))
        fixed = fixed + np.partition(open_costs, len(cost) - take, axis=0)[len(cost) - take :].sum(axis=0)
    return np.asarray(fixed * (1.0 + 4.0 * (len(cost) + 4) * UNIT))


def bounds(base: Ground, w: Vector, inside: Indices, free: npt.NDArray[np.bool_], slots: int) -> Vector:
    """Return the safe bound of a node for each column of `w`; free[j, i]: column j is free in case i."""
    numbers, n = base.numbers, base.rows
    gamma = 2.0 * (n + 8) * UNIT
    norm = np.sqrt((w * w).sum(axis=0)) * (1.0 + gamma) + SMALL
    plain = 2.0 * (numbers.z @ w) - (w * w).sum(axis=0)
    lost = gamma * norm * (2.0 * numbers.z_norm + norm)
    g = np.abs(numbers.a.T @ w) + gamma * numbers.norm[:, None] * norm + TINY
    cost = costs(g, numbers.ridge[:, None], base.reach[:, None])
    return np.asarray(plain - (lost + spent(cost, inside, free, slots)) * (1.0 + 8.0 * UNIT))


def exceeds(base: Ground, high: Vector, low: Vector, g: Vector, inside: Indices, free: Indices, slots: int) -> bool:
    """Return whether the bound of w = high + low exceeds the cut; `g` is A'w as `twofold.dots` returns it."""
    numbers, n = base.numbers, base.rows
    error = twofold.dots_error(2 * n)
    norm = float(np.sqrt((high * high).sum())) * (1.0 + 2.0 * (n + 8) * UNIT) + SMALL
    size = np.abs(g) * (1.0 + 4.0 * UNIT) + error * numbers.norm * norm + TINY
    mask = np.zeros(len(size), dtype=bool)
    mask[free] = True
    cost = costs(size, numbers.ridge, base.reach)
    loss = float(spent(cost, inside, mask, slots)) + 4.0 * error * norm * (2.0 * numbers.z_norm + norm) + TINY
    value, rest = value_of(numbers.z, high, low)
    over = value - numbers.cut
    return bool(over + rest - loss > 8.0 * UNIT * (np.abs(over) + np.abs(rest) + loss))


def value_of(z: Vector, high: Vector, low: Vector) -> tuple[Vector, Vector]:
    """Return 2 w'z - |w|^2 as a sum of two doubles, for w = high + low over axis 0."""
    first, second = 2.0 * high * z, -high * high
    small = (
        twofold.product_error(2.0 * high, z, first)
        + twofold.product_error(-high, high, second)
        + 2.0 * low * (z - high)
    )
    value, rest = twofold.total(np.concatenate([first, second]), small)
    return value, rest

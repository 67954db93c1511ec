"""The ends `B` and `D` of a proof: the checker's own vectors w, from plain least squares to refined ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from exactsindy_check import twofold
from exactsindy_check.bounds import Ground, Indices, bounds, exceeds
from exactsindy_check.instance import Vector

_SAFE_PIVOT = 1e-9  # below this pivot of unit columns the triangle is not trusted as a guide
_MOST_DROPS = 100_000
_AT_ONCE = 2048


def node_exceeds(base: Ground, inside: Indices, free: Indices, slots: int) -> bool:
    """Return whether f > cut is proved for all admissible supports of the node (end `B`)."""
    return drops_exceed(base, inside, free, slots, [()])


def dropped_exceeds(base: Ground, inside: Indices, free: Indices, slots: int, terms: Sequence[int], t: int) -> bool:
    """Return whether the bound without any `t` of the `terms` exceeds the cut (end `D`)."""
    if math.comb(len(terms), t) > _MOST_DROPS:
        return False
    return drops_exceed(base, inside, free, slots, list(combinations(terms, t)))


def drops_exceed(base: Ground, inside: Indices, free: Indices, slots: int, drops: Sequence[tuple[int, ...]]) -> bool:
    """Return whether, for each of the `drops`, the node without these free terms exceeds the cut."""
    cut = base.numbers.cut
    if cut < 0.0:
        return True
    if not math.isfinite(cut):
        return False
    left: list[tuple[int, ...]] = []
    for start in range(0, len(drops), _AT_ONCE):
        part = drops[start : start + _AT_ONCE]
        w = _quick(base, np.sort(np.concatenate([inside, free])), part)
        if w is None:
            left += part
            continue
        mask = np.zeros((base.rows, len(part)), dtype=bool)
        mask[free] = True
        for i, drop in enumerate(part):
            mask[list(drop), i] = False
        passed = bounds(base, w, inside, mask, slots) > cut
        left += [drop for drop, fine in zip(part, passed, strict=True) if not fine]
    return all(_refined(base, inside, np.setdiff1d(free, np.array(drop, dtype=np.intp)), slots) for drop in left)


def _augmented(base: Ground, columns: Indices) -> tuple[Vector, Vector]:
    """Return the columns and the target with one more row for each ridge weight."""
    numbers = base.numbers
    a, z, ridge = numbers.a[:, columns], numbers.z, numbers.ridge[columns]
    if not ridge.any():
        return a, z
    return np.vstack([a, np.diag(np.sqrt(ridge))]), np.concatenate([z, np.zeros(len(columns))])


def _quick(base: Ground, columns: Indices, drops: Sequence[tuple[int, ...]]) -> Vector | None:
    """Return one w per drop from a single triangle, in doubles; None if it is too close to singular."""
    a, z = _augmented(base, columns)
    if len(columns) > len(z):
        return None
    q, r = np.linalg.qr(a)
    if len(columns) and np.abs(np.diag(r)).min() < _SAFE_PIVOT:
        return None
    for _ in range(2):
        z = z - q @ (q.T @ z)
    n = base.rows
    if not drops[0]:
        return np.repeat(z[:n, None], len(drops), axis=1)
    # Dual vectors: w + dual (dual'dual)^-1 x_drop is the residual without the dropped terms.
    terms = sorted({j for drop in drops for j in drop})
    place = np.searchsorted(columns, terms)
    unit = np.zeros((len(columns), len(terms)))
    unit[place, np.arange(len(terms))] = 1.0
    try:
        triangle = np.linalg.solve(r.T, unit)
    except np.linalg.LinAlgError:  # pivots may be far apart although none of them is small
        return None
    dual = q @ triangle
    inner = dual.T @ dual
    target = _augmented(base, columns)[1]
    coef = triangle.T @ (q.T @ target)
    where = np.searchsorted(terms, np.array(drops))  # (b, t)
    try:
        steps = np.linalg.solve(inner[where[:, :, None], where[:, None, :]], coef[where][:, :, None])[:, :, 0]
    except np.linalg.LinAlgError:
        return None
    weights = np.zeros((len(drops), len(terms)))
    np.put_along_axis(weights, where, steps, axis=1)
    return z[:n, None] + dual[:n] @ weights.T


def _refined(base: Ground, inside: Indices, free: Indices, slots: int) -> bool:
    """Try better and better w for one node until its bound exceeds the cut."""
    columns = np.sort(np.concatenate([inside, free]))
    numbers = base.numbers
    return any(
        exceeds(base, high, low, twofold.dots(numbers.a, high[:, None], low[:, None]), inside, free, slots)
        for high, low in _better(base, columns)
    )


def _better(base: Ground, columns: Indices) -> Iterator[tuple[Vector, Vector]]:
    """Yield vectors w = high + low: residuals of least squares, each corrected by its own gradient.

    Small singular values are left out at several levels: a library may be singular.
    """
    a, z = _augmented(base, columns)
    n, ridge = base.rows, base.numbers.ridge[columns]
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    top = float(s[0]) if len(s) else 1.0
    seen = -1
    for level in (1e-15, 1e-13, 1e-11, 1e-9, 1e-7):
        rank = int((s > level * top).sum())
        if rank == seen:
            continue
        seen = rank
        basis, right = u[:, :rank], vt[:rank].T / s[:rank] if rank else vt[:0].T
        coef = basis.T @ z
        x = right @ coef
        w = z - basis @ coef
        high, low = w[:n].copy(), np.zeros(n)
        for _ in range(4):
            g = twofold.dots(base.numbers.a[:, columns], high[:, None], low[:, None])
            step = right.T @ (g - ridge * x)
            high, low = twofold.two_sum(high, low - (basis @ step)[:n])
            x = x + right @ step
            yield high, low

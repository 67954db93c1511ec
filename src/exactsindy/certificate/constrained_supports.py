"""Every support that constraints allow, and what it is worth."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from exactsindy.certificate.convex_fit import convex_fit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactsindy.constraints import Stacked


def count_supports(stacked: Stacked) -> int:
    """Return how many supports have to be looked at, at most: all within the budgets."""
    width = len(stacked.variables)
    return sum(math.comb(width, size) for size in range(_largest(stacked) + 1))


def _largest(stacked: Stacked) -> int:
    """Return the most terms the rows that are plain budgets allow."""
    free, most = np.ones(len(stacked.variables), dtype=np.bool_), 0
    budgets = [(row, int(b)) for row, b in zip(stacked.presence, stacked.presence_rhs, strict=True) if _plain(row)]
    for row, limit in sorted(budgets, key=lambda pair: -int(pair[0].sum())):
        if np.all(free[row > 0]):  # disjoint from the budgets counted so far
            free[row > 0] = False
            most += min(limit, int(row.sum()))
    return most + int(free.sum())


def _plain(row: NDArray[np.float64]) -> bool:
    return bool(np.all((row == 0) | (row == 1)))


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


def support_value(stacked: Stacked, support: tuple[int, ...]) -> tuple[float, NDArray[np.float64] | None]:
    """Return the least value of a support (without the constant) and its coefficients; inf if it is infeasible."""
    best: tuple[float, NDArray[np.float64] | None] = (np.inf, None)
    columns = list(support)
    for lower, upper in _signed_bounds(stacked, columns):
        best = min(best, convex_fit(stacked.restricted(columns, lower, upper)), key=lambda pair: pair[0])
    return best


def _signed_bounds(stacked: Stacked, columns: list[int]) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
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
            low[i] = max(low[i], least[i]) if sign > 0 else low[i]
            high[i] = min(high[i], -least[i]) if sign < 0 else high[i]
        if np.all(low <= high):
            yield low, high

"""Cuts along time: at gaps, into training and validation, and into folds. Index ranges only."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.errors import DataError

# Three samples are the least that have a derivative with an error estimate.
LEAST_SAMPLES = 3
# A step this many times the median one is a gap rather than uneven sampling: no quadrature bridges it.
GAP_RATIO = 10.0


def gap_starts(times: Array) -> NDArray[np.intp]:
    """Return the indices of the samples before a gap: a step more than `GAP_RATIO` times the median step."""
    steps = np.diff(times)
    return np.flatnonzero(steps > GAP_RATIO * np.median(steps))


def whole_ranges(whole: NDArray[np.bool_], times: Array) -> list[tuple[int, int]]:
    """Return the ranges (start, stop) of consecutive rows without missing values, cut also at gaps in time."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], whole.astype(np.int8), [0]))))
    breaks = gap_starts(times) + 1
    ranges: list[tuple[int, int]] = []
    for low, high in zip(edges[::2], edges[1::2], strict=True):
        inside = [int(b) for b in breaks if low < b < high]
        ranges += pairwise([int(low), *inside, int(high)])
    return ranges


def cuts(n: int, count: int) -> list[int]:
    """Return where to cut n samples into ``count`` nearly equal parts: count + 1 positions."""
    return [int(i) for i in np.linspace(0, n, count + 1).round()]


def cut_at(n: int, fraction: float) -> int:
    """Return the position that cuts n samples after ``fraction`` of them."""
    if not 0 < fraction < 1:
        raise DataError(f"split(fraction={fraction!r}): expected a number between 0 and 1, e.g. 2/3.")
    at = int(n * fraction)
    if min(at, n - at) < LEAST_SAMPLES:
        sizes = f"{n} samples give parts of {at} and {n - at}"
        raise DataError(f"split(fraction={fraction:g}): {sizes}; each needs at least {LEAST_SAMPLES}.")
    return at


def fold_ranges(lengths: Sequence[int], count: int) -> list[list[tuple[int, int, int]]]:
    """Return for each fold its parts (trajectory, start, stop), of trajectories of these lengths laid end to end."""
    n = sum(lengths)
    most = n // LEAST_SAMPLES
    if not (isinstance(count, int) and 2 <= count <= most):
        raise DataError(f"folds(count={count!r}): expected an integer from 2 to {most} for {n} samples in time.")
    starts = np.cumsum([0, *lengths])
    borders = _without_scraps(cuts(n, count), starts)
    return [
        [
            (i, int(max(low - start, 0)), int(min(high - start, lengths[i])))
            for i, start in enumerate(starts[:-1])
            if start < high and start + lengths[i] > low
        ]
        for low, high in pairwise(borders)
    ]


def _without_scraps(borders: list[int], starts: NDArray[np.intp]) -> list[int]:
    """Move cuts that would leave a part too short to differentiate to the end of that trajectory."""
    moved = []
    for border in borders:
        nearest = int(starts[np.abs(starts - border).argmin()])
        moved.append(nearest if abs(nearest - border) < LEAST_SAMPLES else border)
    if len(set(moved)) < len(moved):
        count = len(borders) - 1
        raise DataError(f"folds(count={count}): the trajectories are too short for so many folds; use fewer.")
    return moved

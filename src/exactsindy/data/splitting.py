"""Parts of data that are contiguous in time: training and validation, and folds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from exactsindy.data.checks import LEAST_SAMPLES
from exactsindy.data.field_data import Field
from exactsindy.data.trajectory import Trajectories
from exactsindy.errors import DataError


def cuts(n: int, count: int) -> list[int]:
    """Return where to cut n samples into ``count`` nearly equal parts: count + 1 positions."""
    return [int(i) for i in np.linspace(0, n, count + 1).round()]


def _cut(n: int, fraction: float) -> int:
    if not 0 < fraction < 1:
        raise DataError(f"split(fraction={fraction!r}): expected a number between 0 and 1, e.g. 2/3.")
    at = int(n * fraction)
    if min(at, n - at) < LEAST_SAMPLES:
        raise DataError(
            f"split(fraction={fraction:g}): {n} samples give parts of {at} and {n - at}; each needs at least "
            f"{LEAST_SAMPLES}."
        )
    return at


def split_trajectories(data: Trajectories, fraction: float) -> tuple[Trajectories, Trajectories]:
    """Return the first ``fraction`` of every trajectory and the rest."""
    at = [_cut(len(member), fraction) for member in data]
    first = data.slices([(i, 0, a) for i, a in enumerate(at)])
    rest = data.slices([(i, a, len(data[i])) for i, a in enumerate(at)])
    return first, rest


def fold_trajectories(data: Trajectories, count: int) -> tuple[Trajectories, ...]:
    """Return parts of the trajectories laid end to end; a fold may hold parts of several."""
    if not (isinstance(count, int) and 2 <= count <= data.n_samples // LEAST_SAMPLES):
        raise DataError(
            f"folds(count={count!r}): expected an integer from 2 to {data.n_samples // LEAST_SAMPLES} for "
            f"{data.n_samples} samples."
        )
    starts = np.cumsum([0, *(len(member) for member in data)])
    borders = _movable(cuts(data.n_samples, count), starts)
    folds = []
    for low, high in pairwise(borders):
        ranges = [
            (i, int(max(low - start, 0)), int(min(high - start, len(data[i]))))
            for i, start in enumerate(starts[:-1])
            if start < high and start + len(data[i]) > low
        ]
        folds.append(data.slices(ranges))
    return tuple(folds)


def _movable(borders: list[int], starts: np.ndarray) -> list[int]:
    """Move cuts that would leave a scrap too short to differentiate to the end of that trajectory."""
    moved = []
    for border in borders:
        nearest = int(starts[np.abs(starts - border).argmin()])
        moved.append(nearest if abs(nearest - border) < LEAST_SAMPLES else border)
    if len(set(moved)) < len(moved):
        raise DataError(
            f"folds(count={len(borders) - 1}): the trajectories are too short for so many folds; use fewer."
        )
    return moved


def split_field(data: Field, fraction: float) -> tuple[Field, Field]:
    """Return the first ``fraction`` of the times and the rest."""
    at = _cut(len(data.times), fraction)
    return data.slice(0, at), data.slice(at, len(data.times))


def fold_field(data: Field, count: int) -> tuple[Field, ...]:
    """Return ``count`` parts contiguous in time."""
    n = len(data.times)
    if not (isinstance(count, int) and 2 <= count <= n // LEAST_SAMPLES):
        raise DataError(f"folds(count={count!r}): expected an integer from 2 to {n // LEAST_SAMPLES} for {n} times.")
    borders = cuts(n, count)
    return tuple(data.slice(a, b) for a, b in pairwise(borders))

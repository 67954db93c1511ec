"""The intervals between samples of all pieces, and the controls within them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.data import Trajectory


@dataclass(frozen=True, eq=False)
class Intervals:
    """Intervals of all pieces: the samples at which they begin (all pieces end to end), begin and length in time.

    ``controls`` (4 x controls x intervals) are the coefficients of the cubic of each control in the share of the
    interval that has passed: of the cubic through the four samples around an interval, at the ends of a piece of the
    parabola through three. These are the curves that the rows integrate, too.
    """

    starts: NDArray[np.int64]
    begin: Array
    length: Array
    controls: Array

    @classmethod
    def of(cls, pieces: Sequence[Trajectory]) -> Intervals:
        """Return the intervals of pieces of trajectories."""
        first = np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])])[:-1]
        return cls(
            np.concatenate([at + np.arange(len(p) - 1, dtype=np.int64) for at, p in zip(first, pieces, strict=True)]),
            np.concatenate([piece.times[:-1] for piece in pieces]),
            np.concatenate([np.diff(piece.times) for piece in pieces]),
            np.concatenate([_cubics(piece.times, piece.inputs) for piece in pieces], axis=2),
        )


def _cubics(times: Array, values: Array) -> Array:
    """Return the coefficients (4 x columns x intervals) of local cubics through samples (samples x columns)."""
    n = len(times)
    cubics = np.zeros((4, values.shape[1], n - 1))
    if not values.shape[1]:
        return cubics
    lengths = np.diff(times)
    for low, high in {(0, 1), (1, n - 2), (n - 2, n - 1)}:
        if high <= low:
            continue
        inner = np.arange(low, high)
        reach = range(max(-low, -1), min(n - high, 2) + 1)
        nodes = inner[:, None] + np.array(reach)
        place = (times[nodes] - times[inner, None]) / lengths[inner, None]
        powers = place[:, :, None] ** np.arange(len(reach))
        cubics[: len(reach), :, low:high] = np.linalg.solve(powers, values[nodes]).transpose(1, 2, 0)
    return cubics

"""Long rest after the motion: left out, because it tells little and drowns what the motion tells."""

from __future__ import annotations

import math

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Notice, Trajectories
from exactsindy.forms import smooth

# A trajectory is looked at in so many parts of equal length, if that leaves as many samples in each.
_PARTS, _LEAST_SAMPLES, _LEAST_PARTS = 50, 20, 8
# Standard deviations by which the mean square of a part at rest may exceed that of the noise.
_SURE = 4.0
# Of the rest as much is kept as of the motion; nothing is cut unless that halves a trajectory.
_KEPT, _WORTH = 2, 0.5


def trim_steady_tail(data: Trajectories) -> tuple[Trajectories, tuple[Notice, ...]]:
    """Return the trajectories without the end at which a system has come to rest, and what was left out.

    Smoothing and weights are those of whole trajectories: where most of one is rest, they suit the rest and not the
    motion. Only long rests of systems without inputs are cut.

    Examples
    --------
    >>> from exactsindy.data import Trajectories
    >>> t = np.linspace(0.0, 100.0, 5000)
    >>> x = np.exp(-t) * np.cos(5 * t) + 0.01 * np.random.default_rng(0).normal(size=5000)
    >>> left, notes = trim_steady_tail(Trajectories.from_arrays(x, time=t))
    >>> len(left[0]) < 1000, notes[0].message
    (True, 'The last 4400 of 5000 samples are left out: the system is at rest there, within its noise.')
    """
    if data.control_names or any(piece.derivatives is not None for piece in data):
        return data, ()
    noise = smooth(data).noise
    ranges, notes = [], []
    for i, piece in enumerate(data):
        n, kept = len(piece), _moving(piece.states, noise)
        if kept <= _WORTH * n:
            which = f" of trajectory {i + 1}" if len(data) > 1 else ""
            text = f"The last {n - kept} of {n} samples{which} are left out"
            notes.append(Notice("rest", f"{text}: the system is at rest there, within its noise."))
        else:
            kept = n
        ranges.append((i, 0, kept))
    return (data.slices(ranges), tuple(notes)) if notes else (data, ())


def _moving(states: Array, noise: Array) -> int:
    """Return how many samples to keep: those of the motion, and as many of the rest."""
    n = len(states)
    length = max(n // _PARTS, _LEAST_SAMPLES)
    count = n // length
    if count < _LEAST_PARTS:
        return n
    parts = states[n - count * length :].reshape(count, length, -1)
    end = parts[-(count // 5) :].mean(axis=(0, 1))
    size = (((parts - end) / noise) ** 2).mean(axis=1)
    moving = np.flatnonzero((size > 1.0 + _SURE * math.sqrt(2.0 / length)).any(axis=1))
    if not len(moving):
        return n
    return min(n, _KEPT * (n - (count - 1 - int(moving[-1])) * length))

"""Trim the steady tail of trajectories: it carries no dynamics but dominates the fit."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Field, Notice
from exactsindy.discovery.read import Measurement

# A trajectory is divided into _PARTS parts of equal length, or into fewer of _LEAST_SAMPLES samples each; one with
# fewer than _LEAST_PARTS parts is too short to be trimmed.
_PARTS, _LEAST_SAMPLES, _LEAST_PARTS = 50, 20, 8
# The mean of the last fifth of the parts is taken for the steady state.
_LAST = 5
# Standard deviations by which the mean square of a steady part may exceed that of the noise.
_SURE = 4.0
# Samples kept, as a multiple of those that move; nothing is cut unless this share of a trajectory or less remains.
_KEPT, _WORTH = 2, 0.5


def trim_steady_tail(measured: Measurement) -> Measurement:
    """Return the measurement without the ends at which a system has become steady, and with notices that say so.

    Smoothing and weights are those of whole trajectories: where most of one is steady, they suit the steady part and
    not the motion. Only long steady tails of systems without inputs are cut.
    """
    data = measured.used
    if isinstance(data, Field) or data.control_names or any(piece.derivatives is not None for piece in data):
        return measured
    noise = measured.smoothed.noise
    ranges, notices = [], []
    for i, piece in enumerate(data):
        n, kept = len(piece), _samples_kept(piece.states, noise)
        if kept <= _WORTH * n:
            which = f" of trajectory {i + 1}" if len(data) > 1 else ""
            text = f"The last {n - kept} of {n} samples{which} are left out"
            notices.append(Notice("steady", f"{text}: the system is steady there, within its noise."))
        else:
            kept = n
        ranges.append((i, 0, kept))
    if not notices:
        return measured
    return replace(measured, used=data.slices(ranges), notices=(*measured.notices, *notices))


def _samples_kept(states: Array, noise: Array) -> int:
    """Return the number of samples to keep: those of the motion, and as many of the steady tail."""
    return _kept(len(states), steady_end(states, noise))


def worth_cutting(samples: int, steady: int) -> int:
    """Return how many samples of a trajectory are left out of which so many at the end are steady."""
    kept = _kept(samples, steady)
    return samples - kept if kept <= _WORTH * samples else 0


def _kept(samples: int, steady: int) -> int:
    return samples if steady == samples else min(samples, _KEPT * (samples - steady))


def steady_end(states: Array, noise: Array) -> int:
    """Return how many samples at the end stay at one place within their noise; 0 if there are too few to tell."""
    n = len(states)
    length = max(n // _PARTS, _LEAST_SAMPLES)
    count = n // length
    if count < _LEAST_PARTS:
        return 0
    parts = states[n - count * length :].reshape(count, length, -1)
    end = parts[-(count // _LAST) :].mean(axis=(0, 1))
    size = np.array([(((part - end) / noise) ** 2).mean(axis=0) for part in parts])
    moving = np.flatnonzero((size > 1.0 + _SURE * math.sqrt(2.0 / length)).any(axis=1))
    return (count - 1 - int(moving[-1])) * length if len(moving) else n

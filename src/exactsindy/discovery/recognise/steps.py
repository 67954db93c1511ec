"""Recognise samples of a flow that were given as samples of a map, and maps that have settled on a cycle."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Notice, Trajectories

# Half the mean square of a step over the variance below which neighbouring samples are nearly equal: 0.05 is reached
# at 20 samples per period, 0.01 at 45.
_NEAR = 0.01
# Longest cycle that is looked for, and how many times larger than that of noise alone the mean square of the difference
# of samples so far apart may be.
_LONGEST, _WITHIN = 32, 2.0
# Samples come back at least to within this share of the spread.
_CLOSE = 1e-6


def step_notices(data: Trajectories, noise: Array | None, sizes: Mapping[str, int]) -> tuple[Notice, ...]:
    """Return notices on samples of a map: ``noise`` is that of each state, ``sizes`` the terms of each equation."""
    states = np.vstack([member.states for member in data])
    spread = states.std(axis=0)
    moving = spread > 0
    if not moving.any():
        return ()
    steps = np.vstack([np.diff(member.states, axis=0) for member in data])[:, moving]
    if np.mean((steps / spread[moving]) ** 2) / 2 < _NEAR:
        text = "Neighbouring samples are nearly equal: this looks like a flow sampled finely, not like a map"
        cure = "Then these equations are its step from one sample to the next; for x' leave form='map' (--map) out"
        return (Notice("flow", f"{text}. {cure} and pass the time."),)
    size = _CLOSE * spread if noise is None else np.maximum(noise, _CLOSE * spread)
    few = [name for name, k in sizes.items() if k >= len(steps)]
    if few:
        text = f"{', '.join(few)}: the data have {len(steps)} steps, no more than these equations have terms"
        cure = "So many terms pass through any samples. Measure more of them"
        return (Notice("few steps", f"{text}. {cure}.", ", ".join(few)),)
    period = _cycle(data, size[moving], moving)
    doubtful = [name for name, k in sizes.items() if period is not None and k >= period]
    if not doubtful:
        return ()
    points = "one point" if period == 1 else f"a cycle of {period} points"
    text = f"The samples have settled on {points}, through which many maps pass; {', '.join(doubtful)} may be any"
    cure = "Add trajectories from other starts, or the samples before they settled"
    return (Notice("cycle", f"{text} of them. {cure}.", ", ".join(doubtful)),)


def _cycle(data: Trajectories, size: Array, moving: Array) -> int | None:
    """Return after how many steps samples come back, but for noise of this size; None if they do not."""
    for period in range(1, _LONGEST + 1):
        changes = [(m.states[period:] - m.states[:-period])[:, moving] for m in data if len(m) > 2 * period]
        if changes and (np.mean(np.vstack(changes) ** 2, axis=0) < _WITHIN * 2 * size**2).all():
            return period
    return None

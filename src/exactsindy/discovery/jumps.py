"""Cut trajectories where an input jumps: between two samples nobody knows when it did."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.data import Field, Notice
from exactsindy.discovery.read import Measurement

# An input that changes in at most this share of the steps is held constant and jumps.
_SELDOM = 0.1
# Shorter pieces cannot be smoothed; nothing is cut unless longer ones keep this share of the samples.
_LEAST_SAMPLES, _KEPT = 8, 0.8


def cut_at_jumps(measured: Measurement) -> Measurement:
    """Return the measurement with trajectories cut where an input that is held constant jumps, and a notice.

    Rates jump there, too: smoothing across a jump bends the states, and the step in which it lies fits no law.
    """
    data = measured.used
    if isinstance(data, Field) or not data.control_names or any(piece.derivatives is not None for piece in data):
        return measured
    cuts = [jumps(piece.controls) for piece in data]
    count = sum(map(len, cuts))
    ranges = []
    for i, (piece, at) in enumerate(zip(data, cuts, strict=True)):
        ends = [0, *(int(j) + 1 for j in at), len(piece)]
        ranges += [(i, a, b) for a, b in pairwise(ends) if b - a >= _LEAST_SAMPLES]
    if not count or sum(b - a for _, a, b in ranges) < _KEPT * data.n_samples:
        return measured
    held = [
        name
        for j, name in enumerate(data.control_names)
        if any(len(jumps(piece.controls[:, j : j + 1])) for piece in data)
    ]
    times = "once" if count == 1 else f"{count} times"
    verb = "jumps" if len(held) == 1 else "jump"
    text = f"{' and '.join(held)} {verb} {times}: trajectories are cut there, because rates jump, too"
    notice = Notice("jump", f"{text}, and when between two samples is not known.")
    return replace(measured, used=data.slices(ranges), notices=(*measured.notices, notice))


def jumps(inputs: Array) -> NDArray[np.intp]:
    """Return the steps in which an input jumps that is held constant otherwise."""
    changes = np.diff(inputs, axis=0) != 0
    seldom = changes.mean(axis=0) <= _SELDOM if len(changes) else np.zeros(inputs.shape[1], dtype=bool)
    return np.flatnonzero(changes[:, seldom].any(axis=1))

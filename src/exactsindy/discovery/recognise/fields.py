"""Recognise fields whose ends do not match though an axis is called periodic, and fields with shocks."""

from __future__ import annotations

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Field, Notice
from exactsindy.forms import field_noise

# The step from the last point to the first may be so many times the largest step between neighbours.
_JUMP = 3.0
# Times that are looked at.
_TIMES = 200
# A shock: the largest step between neighbours is such a share of the range of a field, and so many times the noise, at
# such a share of the times.
_SHOCK, _ABOVE, _OFTEN = 0.3, 8.0, 0.25


def shock_notices(data: Field) -> tuple[Notice, ...]:
    """Return notices on fields that jump between neighbouring points, which no derivative describes."""
    notices = []
    noise = field_noise(data)
    for axis, dim in enumerate(data.axes):
        for name, values, level in zip(data.names, data.values, noise, strict=True):
            few = values[..., :: max(1, values.shape[-1] // _TIMES)]
            steps = np.abs(np.diff(np.moveaxis(few, axis, 0), axis=0)).reshape(-1, few.shape[-1])
            known = np.isfinite(steps).any(axis=0)
            if not known.any():
                continue
            largest, width = np.nanmax(steps[:, known], axis=0), float(np.nanmax(few) - np.nanmin(few))
            jumps = (largest > _SHOCK * width) & (largest > _ABOVE * level)
            if jumps.mean() > _OFTEN:
                text = f"{name} jumps between neighbouring points in {dim} at {100 * jumps.mean():.0f} % of the times"
                text = f"{text}: a shock, or too coarse a grid. Derivatives there are those of test functions only."
                notices.append(Notice("shock", text))
    return tuple(notices)


def periodic_notices(data: Field) -> tuple[Notice, ...]:
    """Return notices on periodic axes along which a field jumps from its last point to its first."""
    notices = []
    for axis, (dim, period) in enumerate(zip(data.axes, data.periods, strict=True)):
        if period is None:
            continue
        for name, values in zip(data.names, data.values, strict=True):
            stride = max(1, values.shape[-1] // _TIMES)
            wrap, inner = _steps(values[..., ::stride], axis)
            if wrap > _JUMP * inner > 0:
                text = f"{dim!r} is called periodic, but from its last point to its first {name} jumps by"
                text = f"{text} {wrap / inner:.1f} times its largest step between neighbours"
                notices.append(Notice("ends", f"{text}: the ends do not match. Leave out periodic={dim!r}."))
    return tuple(notices)


def _steps(values: Array, axis: int) -> tuple[float, float]:
    """Return the root mean square step across the ends, and the largest one between neighbours."""
    moved = np.moveaxis(values, axis, 0)
    rest = tuple(range(1, moved.ndim))
    inner = np.sqrt(np.nanmean(np.diff(moved, axis=0) ** 2, axis=rest))
    return float(np.sqrt(np.nanmean((moved[0] - moved[-1]) ** 2))), float(np.nanmax(inner))

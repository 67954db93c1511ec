"""Recognise fields whose ends do not match though an axis is called periodic."""

from __future__ import annotations

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Field, Notice

# The step from the last point to the first may be so many times the largest step between neighbours.
_JUMP = 3.0
# Times that are looked at.
_TIMES = 200


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

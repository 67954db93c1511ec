"""What a table whose time goes back or stands still may be: several trajectories, or a field with one row per point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from exactsindy._types import Array
from exactsindy.data.frames import Table
from exactsindy.data.input_checks import unmasked

# Most axes of a field in space.
_MOST_AXES = 3


def cure(table: Table, time_name: str, times: Array, names: Sequence[str]) -> str:
    """Return a sentence that says how to read such a table; empty if the columns ``names`` do not show it."""
    back = np.flatnonzero(np.diff(times) <= 0)
    if not len(back) or len(times) < 3:
        return ""
    for name in names:
        if _changes_at(unmasked(table[name]), back):
            return f"The column {name!r} changes wherever the time goes back: pass trajectory={name!r}."
    axes = _axes(table, times, names)
    if axes:
        listed = ", ".join(repr(name) for name in (*axes, time_name))
        return f"Each time is there with the same points of {', '.join(axes)}: for a field pass dims=({listed})."
    return ""


def _changes_at(column: np.ndarray, rows: np.ndarray) -> bool:
    """Return True if a column of labels or whole numbers changes after these rows and nowhere else."""
    if column.dtype.kind not in "iubUSO" and not (column == np.round(column)).all():
        return False
    return np.array_equal(np.flatnonzero(column[1:] != column[:-1]), rows)


def _axes(table: Table, times: Array, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that with the time number every row of the table exactly once, as few as possible."""
    columns = {name: unmasked(table[name]) for name in names[:-1]}  # at least one column holds values
    chosen: list[str] = []
    count = len(np.unique(times))
    for name, column in columns.items():
        if column.dtype.kind not in "fiu" or len(chosen) == _MOST_AXES:
            continue
        size = len(np.unique(column))
        if 1 < size < len(times) and len(times) % (count * size) == 0:
            chosen.append(name)
            count *= size
        if count == len(times):
            return tuple(chosen)
    return ()

"""Fields in tables with one row per point and time: x, t, u."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.data.frames import Table
from exactsindy.data.input_checks import as_times, numbers, unmasked
from exactsindy.errors import DataError, nearest


def gridded(table: Table, dims: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return the coordinates of the axes ``dims`` and every other column of numbers over their grid.

    Rows may come in any order; points that have no row are missing.
    """
    absent = next((dim for dim in dims if dim not in table), None)
    if absent is not None:
        raise DataError(f"dims={tuple(dims)}: the table has no column {absent!r}. {nearest(absent, table)}")
    columns = {dim: numbers(as_times(unmasked(table[dim]), dim)[0], f"column {dim!r}") for dim in dims}
    points, places = {}, []
    for dim, column in columns.items():
        points[dim], place = np.unique(column, return_inverse=True)
        places.append(place)
    shape = tuple(len(values) for values in points.values())
    rows = len(places[0])
    cells = int(np.prod(shape, dtype=object))
    if cells > 4 * rows:  # (a grid with this many holes is none, and would take much memory)
        raise DataError(
            f"dims={tuple(dims)}: {' x '.join(map(str, shape))} points for {rows} rows: this is no grid with one row "
            "per point."
        )
    flat = np.ravel_multi_index(tuple(places), shape)
    counts = np.bincount(flat, minlength=cells)
    if counts.max() > 1:
        where = ", ".join(f"{dim} = {columns[dim][np.argmax(counts[flat] > 1)]:g}" for dim in dims)
        raise DataError(f"dims={tuple(dims)}: several rows are about {where}; expected one row per point and time.")
    fields: dict[str, NDArray[Any]] = dict(points)
    for name, column in table.items():
        if name not in points:
            values = np.full(cells, np.nan)
            values[flat] = numbers(column, f"column {name!r}")
            fields[name] = values.reshape(shape)
    return fields

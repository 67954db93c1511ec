"""Dates as numbers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np

from exactsindy.data.checks import unmasked
from exactsindy.data.notice import Notice


def as_times(values: Any, name: str) -> tuple[Any, tuple[Notice, ...]]:
    """Return times with dates (datetime64, or ISO text) turned into seconds since the first one, and say so.

    Examples
    --------
    >>> as_times(np.array(["2020-01-01", "2020-01-02"]), "date")[0]
    array([    0., 86400.])
    """
    array = unmasked(values)
    if array.dtype.kind in "OU" and array.size and _is_date(array.flat[0]):
        try:
            stamps = [cell if isinstance(cell, datetime) else datetime.fromisoformat(cell) for cell in array]
        except (TypeError, ValueError):
            return array, ()
        seconds = np.array([(stamp - stamps[0]).total_seconds() for stamp in stamps])
    elif array.dtype.kind == "M":
        seconds = (array - array[0]) / np.timedelta64(1, "s")
    elif array.dtype.kind == "m":
        seconds = array / np.timedelta64(1, "s")
    else:
        return values, ()
    first = np.datetime_as_string(array[0], unit="s") if array.dtype.kind == "M" else array.flat[0]
    start = f" since {first}" if array.dtype.kind != "m" else ""
    return seconds, (Notice("dates", f"{name!r} holds dates: the time is counted in seconds{start}."),)


def _is_date(cell: Any) -> bool:
    if isinstance(cell, datetime):
        return True
    try:
        float(cell)
    except (TypeError, ValueError):
        pass
    else:
        return False
    try:
        datetime.fromisoformat(cell)
    except (TypeError, ValueError):
        return False
    return True

"""Input checks; every error says how to correct the data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from textwrap import shorten
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.data.notice import Notice
from exactsindy.data.splitting import LEAST_SAMPLES
from exactsindy.errors import DataError

# A number with a decimal comma.
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?")
_DATE = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}|\d{1,2}:\d{2}")


def unmasked(values: Any) -> NDArray[Any]:
    """Return values as a plain array in which masked entries (`numpy.ma`) are missing: NaN, NaT or None."""
    if not masked_entries(values):
        return np.asarray(values)
    if isinstance(values, (list, tuple)):
        return np.array([unmasked(entry) for entry in values])
    if values.dtype.kind in "mM":
        return np.asarray(values.filled(np.array("NaT", dtype=values.dtype)))
    if values.dtype.kind in "fiubc":
        return np.asarray(values.astype(np.result_type(values.dtype, np.float64)).filled(np.nan))
    plain = np.array(values, dtype=object)
    plain[np.asarray(values.mask)] = None
    return plain


def masked_entries(values: Any) -> int:
    """Return how many entries of an array, or of arrays in nested lists, are masked (`numpy.ma`)."""
    if isinstance(values, (list, tuple)):
        return sum(map(masked_entries, values))
    return int(np.sum(values.mask)) if isinstance(values, np.ma.MaskedArray) else 0


def as_array(values: Any, what: str) -> NDArray[Any]:
    """Return values of any kind as a plain array, masked ones missing, refusing rows of different lengths."""
    try:
        return unmasked(values)
    except ValueError:
        expected = "expected a full table. Several trajectories are a list of arrays, each samples x states."
        raise DataError(f"{what} has rows of different lengths; {expected}") from None


def numbers(values: Any, what: str) -> Array:
    """Return values as doubles, masked ones as NaN, or say which one is not a number."""
    table = as_array(values, what)
    if np.iscomplexobj(table):
        raise DataError(f"{what} is complex; pass real and imaginary parts as separate states.")
    if table.dtype.kind in "mM":
        cure = "Leave it out, or count from one date: (dates - dates[0]) / np.timedelta64(1, 's')."
        raise DataError(f"{what} holds dates; expected numbers. {cure}")
    if table.dtype.kind in "fiub":
        return table.astype(float, order="C")  # transposed arrays, such as solve_ivp(...).y.T, too
    for place, entry in np.ndenumerate(table):
        cell = entry.item() if isinstance(entry, np.generic) else entry
        if cell is not None and not _readable(float, cell):
            where = place[0] if len(place) == 1 else place
            expected = "expected numbers. Correct or remove it, or leave the column out."
            if isinstance(cell, str) and _DECIMAL_COMMA.fullmatch(cell.strip()):
                expected = "expected numbers. For a decimal comma pass decimal=','."
            elif isinstance(cell, str) and _DATE.match(cell.strip()):
                cure = "Write it as 2026-03-02T14:05:10, or count the seconds in numbers."
                expected = f"expected numbers. It looks like a date or a time of day. {cure}"
            raise DataError(f"{what} holds {shorten(repr(cell), 60)} at row {where}; {expected}")
    return np.array([float("nan" if cell is None else cell) for cell in table.flat]).reshape(table.shape)


def frozen(values: Array) -> Array:
    """Return the array marked read-only."""
    values.flags.writeable = False
    return values


def names_of(names: Sequence[str] | None, count: int, stem: str, what: str) -> tuple[str, ...]:
    """Return ``names`` checked, or default ones: x0, x1, ...; one column may be called by its name alone."""
    if names is None:
        return tuple(f"{stem}{i}" for i in range(count))
    if isinstance(names, str) and count == 1:
        names = (names,)
    if isinstance(names, str):
        likely = tuple(names) if len(set(names)) == len(names) == count else (f"{names}0", f"{names}1")
        raise DataError(f"{what}={names!r}: expected a list of {count} names, e.g. {likely!r}.")
    if not isinstance(names, Iterable):
        raise DataError(f"{what}={names!r}: expected a list of names, e.g. ('x', 'y').")
    labels = tuple(str(name) for name in names)
    if len(labels) != count:
        raise DataError(
            f"{what}: {len(labels)} name{'' if len(labels) == 1 else 's'} {labels} for "
            f"{count} column{'' if count == 1 else 's'}; expected one per column."
        )
    if len(set(labels)) < count or "" in labels:
        raise DataError(f"{what}: {labels} must be different and not empty.")
    return labels


def check_states(states: Array) -> Array:
    """Return states as (samples, states), refusing other shapes."""
    if not states.size:
        raise DataError(f"states has shape {states.shape}: there are no samples; expected samples x states.")
    if states.ndim == 1:
        return states[:, None]
    if states.ndim != 2:
        cure = "For a field over space and time use Field.from_arrays(values, dims=..., coords=...)."
        raise DataError(f"states has shape {states.shape}; expected samples x states. {cure}")
    return states


def as_times(values: Any, name: str) -> tuple[Any, tuple[Notice, ...]]:
    """Return times with dates (datetime64, or ISO text) turned into seconds since the first one, and say so."""
    array = as_array(values, name)
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
    return isinstance(cell, datetime) or (not _readable(float, cell) and _readable(datetime.fromisoformat, cell))


def _readable(read: Callable[[Any], Any], cell: Any) -> bool:
    try:
        read(cell)
    except (TypeError, ValueError):
        return False
    return True


def check_times(time: Any, states: Array) -> Array:
    """Return one time per sample from times or a step, refusing what does not fit the states."""
    n, d = states.shape
    if time is None:
        raise DataError("time is missing: pass the sample times or the step between samples, e.g. time=0.01.")
    times = numbers(time, "time")
    if times.ndim == 0:
        if not (np.isfinite(times) and times > 0):
            raise DataError(f"time={float(times)}: a step must be positive.")
        if n < d:
            cure = "pass states.T (several trajectories of one state: a list of arrays of shape (n, 1))."
            raise DataError(f"states has shape ({n}, {d}): {n} samples of {d} states looks transposed; {cure}")
        times = np.arange(n) * np.float64(times)
    if times.ndim == 2 and times.shape in ((n, 1), (1, n)):  # (a column or a row, as of MATLAB)
        times = times.ravel()
    if times.ndim != 1:
        swapped = " Data and time seem to be swapped: the data come first." if d == 1 and len(times) == n else ""
        raise DataError(f"time has shape {times.shape}; expected one time per sample, ({n},).{swapped}")
    if len(times) != n:
        hint = " The states look transposed; pass states.T." if len(times) == d else ""
        raise DataError(f"time has {len(times)} entries but states has {n} samples; expected as many.{hint}")
    if n < LEAST_SAMPLES:
        raise DataError(f"{n} samples are too short a trajectory; expected at least {LEAST_SAMPLES} (leave it out).")
    _check_increasing(times)
    return times


def _check_increasing(times: Array) -> None:
    if not np.isfinite(times).all():
        row = int(np.argmin(np.isfinite(times)))
        raise DataError(f"time is missing at row {row}; remove the row or fill the time in.")
    bad = np.flatnonzero(np.diff(times) <= 0)
    if not len(bad):
        return
    i = int(bad[0])
    before, after = times[i], times[i + 1]
    if before == after:
        raise DataError(
            f"time {before:g} occurs twice (rows {i} and {i + 1}): average or remove repeated samples. If several "
            "trajectories are in one table, name the column that tells them apart: trajectory='...'."
        )
    raise DataError(
        f"time is not sorted: it goes from {before:g} to {after:g} at row {i + 1}. Sort the rows by time; if a new "
        "trajectory starts there, name the column that tells trajectories apart, trajectory='...', or give each "
        "trajectory by itself."
    )


def check_rows(values: Any, what: str, n: int) -> Array:
    """Return controls or derivatives as (samples, columns), refusing any other number of samples."""
    table = numbers(values, what)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or len(table) != n:
        expected = f"expected one row per sample, ({n}, columns)"
        raise DataError(f"{what} has shape {table.shape} but there are {n} samples; {expected}.")
    return table


def check_finite(values: Array, names: Sequence[str]) -> None:
    """Refuse missing and infinite values, saying how many and what to do."""
    finite = np.isfinite(values)
    if finite.all():
        return
    row, column = (int(i) for i in np.argwhere(~finite)[0])
    count = int((~finite).sum())
    many = f"{count} values are" if count > 1 else "1 value is"
    raise DataError(
        f"{many} missing or infinite, the first in {names[column]!r} at row {row}. Pass gaps='split' to cut the "
        "trajectory there, or fill them in."
    )

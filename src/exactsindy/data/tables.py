"""From arrays, or columns of tables, to the checked samples of trajectories."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.data.columns import Columns
from exactsindy.data.frames import Table, dimensions, framed, index_column, is_frame, is_xarray, named_columns
from exactsindy.data.input_checks import as_times, check_rows, check_states, check_times, numbers, unmasked
from exactsindy.data.notice import Notice
from exactsindy.data.parameters import constant_value
from exactsindy.data.repeated_times import cure
from exactsindy.data.splitting import LEAST_SAMPLES, whole_ranges
from exactsindy.errors import DataError, listed, name_tuple, nearest

T = TypeVar("T")
# The constructor of a trajectory: (times, states, names, *, controls, control_names, derivatives, label, parameters).
Build = Callable[..., T]
# Names of columns that are the time if there is only one such: time_h, t [s], time (s), timestamp, date.
_LIKELY_TIME = re.compile(r"(?:t|time)[\s_(\[/].*|timestamp|date|datetime", re.IGNORECASE)
# What lists of trajectories may have one of for each.
_BESIDE = ("time", "controls", "derivatives")


def members(source: Any, columns: Columns, build: Build[T]) -> tuple[list[T], list[int], str, list[Notice]]:
    """Return the trajectories in arrays or tables, each made by ``build``; the name of the time; and notices.

    The second list says which trajectory a piece is of, for those that are cut at gaps.
    """
    several = isinstance(source, (list, tuple)) and bool(source) and not _is_row(source[0])
    items = [framed(item) for item in source] if several else [framed(source)]
    tables = [named_columns(item) for item in items]
    parts: list[T] = []
    origins: list[int] = []
    whole = 0
    notices: list[Notice] = []
    time_names = []
    for i, (item, table) in enumerate(zip(items, tables, strict=True)):
        beside = {what: _entry(getattr(columns, what), i, len(items), what) for what in _BESIDE} if several else {}
        part = replace(columns, **beside)
        if all(table is not None for table in tables):
            wholes, name, notes = _from_table(*_with_clock(item, table or {}, part), build)
        else:
            wholes, name, notes = _from_array(item, part, str(i) if several else "", build)
        for pieces in wholes:
            origins += [whole] * len(pieces)
            parts += pieces
            whole += 1
        notices += notes
        time_names.append(name)
    return parts, origins, time_names[0], list(dict.fromkeys(notices))


def _is_row(value: Any) -> bool:
    """Return True if a list starts with numbers or rows of numbers: then it is one array, not several."""
    if isinstance(value, Mapping) or is_frame(framed(value)) or is_xarray(value):
        return False
    return np.ndim(value) < 2


def _entry(value: Any, i: int, count: int, what: str) -> Any:
    """Return what belongs to trajectory i: the entry of a list, or the value for all trajectories."""
    listed = isinstance(value, (list, tuple)) and bool(value) and not any(isinstance(entry, str) for entry in value)
    stacked = isinstance(value, np.ndarray) and value.dtype.kind != "U" and what != "time"
    if not (listed or stacked):
        return value
    if not listed or len(value) != count:
        raise DataError(
            f"{what} has {len(value)} entries for {count} trajectories; pass a list with one entry per trajectory"
            + (", or one step or array of times for all." if what == "time" else ".")
        )
    return value[i]


def _from_array(states: Any, columns: Columns, label: str, build: Build[T]) -> tuple[list[list[T]], str, list[Notice]]:
    """Return the pieces of the trajectory in an array, which is one of several if it has a label."""
    if columns.parameters is not None and not isinstance(columns.parameters, Mapping):
        example = "parameters={'mu': [0.1, 0.4]}"
        raise DataError(
            f"parameters={columns.parameters!r}: names of columns are for tables; for arrays pass one value per "
            f"trajectory by name, e.g. {example}."
        )
    counted = columns.time is None and (columns.steps or columns.derivatives is not None)
    times, notes = as_times(1.0 if counted else columns.time, "time")
    controls: Any = columns.controls
    control_names = columns.control_names
    if isinstance(controls, Mapping):
        control_names = tuple(controls) if control_names is None else control_names
        controls = np.column_stack([unmasked(column) for column in controls.values()])
    named = partial(build, names=columns.states, control_names=control_names)
    try:
        pieces, lost = _pieces(named, columns.gaps, label, times, states, controls, columns.derivatives)
    except DataError as error:
        if not label:
            raise
        one = isinstance(columns.time, np.ndarray) and len(columns.time) != np.shape(states)[0]
        cure = " Give each trajectory its own times, time=[t0, t1, ...], or one step for all." if one else ""
        raise DataError(f"trajectory {label}: {error}{cure}") from None
    return [pieces], "t", [*notes, *lost]


def _with_clock(item: Any, table: Table, columns: Columns) -> tuple[Table, Columns]:
    """Return table and columns with a time: by default a pandas index or the dimension of an xarray object."""
    time = columns.time
    if time is None and is_xarray(item) and dimensions(item)[0] in table:
        return table, replace(columns, time=dimensions(item)[0])
    index = index_column(item)
    wanted = time is None and not any(name.lower() in ("t", "time") for name in table)
    if index is None or not (wanted or (isinstance(time, str) and time == index[0])) or index[0] in table:
        return table, columns
    return {index[0]: index[1], **table}, replace(columns, time=index[0])


def _from_table(table: Table, columns: Columns, build: Build[T]) -> tuple[list[list[T]], str, list[Notice]]:
    """Return the pieces of each trajectory in a table, told apart by the column ``columns.trajectory``."""
    _check_lengths(table)
    time_column, times, notes = _times(table, columns.time, columns.steps)
    control_names = _listed(columns.controls, "controls", table)
    if columns.trajectory is not None:
        _column(table, columns.trajectory, "trajectory")
    by_value = isinstance(columns.parameters, Mapping)
    parameter_names = () if by_value else _listed(columns.parameters, "parameters", table)
    special = {time_column, columns.trajectory, *control_names, *parameter_names}
    if columns.states is None:
        counters = [name for name in table if name not in special and _is_row_number(name, table[name])]
        special |= set(counters)
        text = "counts the rows and has no name of its own: it is taken for an index and left out."
        notes = (*notes, *(Notice("index", f"Column {name!r} {text}") for name in counters))
        blank = [name for name in table if name not in special and _is_blank(table[name])]
        special |= set(blank)
        notes = (*notes, *(Notice("blank", f"Column {name!r} holds no value and is left out.") for name in blank))
    state_names = _listed(columns.states, "states", table) or tuple(name for name in table if name not in special)
    if not state_names:
        raise DataError(f"No column is left for the states; the columns are {', '.join(table)}.")
    x = _matrix(table, state_names)
    u = _matrix(table, control_names) if control_names else None
    named = partial(build, names=state_names, control_names=control_names)
    parts: list[list[T]] = []
    notices = list(notes)
    apart = columns.trajectory is not None
    for label, rows in _groups(table, columns.trajectory):
        clock = times if np.ndim(times) == 0 else unmasked(times)[rows]
        constants = {n: constant_value(table[n][rows], n, label, told_apart=apart) for n in parameter_names}
        made = partial(named, parameters=constants) if constants else named
        try:
            pieces, lost = _pieces(made, columns.gaps, label, clock, x[rows], None if u is None else u[rows], None)
        except DataError as error:
            if np.ndim(times) == 0 or columns.trajectory is not None:
                raise
            better = cure(table, time_column or "time", unmasked(times), (*parameter_names, *state_names))
            raise DataError(f"{str(error).partition('. ')[0]}. {better}" if better else str(error)) from None
        parts.append(pieces)
        notices += lost
    return parts, time_column or "t", notices


def _check_lengths(table: Table) -> None:
    shapes = {name: np.shape(column) for name, column in table.items()}
    first = next(iter(shapes), "")
    for name, shape in shapes.items():
        if len(shape) != 1 or shape != shapes[first]:
            raise DataError(f"column {name!r} has shape {shape}, column {first!r} has {shapes[first]}; expected equal.")


def _grows(column: Any) -> bool:
    """Return True if a column holds numbers or dates that grow from row to row."""
    try:
        times, _ = as_times(column, "time")
        return len(times) > 1 and bool((np.diff(numbers(times, "time")) > 0).all())
    except (DataError, TypeError):
        return False


def _times(table: Table, time: Any, steps: bool = False) -> tuple[str | None, Any, tuple[Notice, ...]]:
    """Return the name of the time column if there is one, the times or the step, and notices."""
    notes: tuple[Notice, ...] = ()
    if time is None:
        time, notes = _time_column(table)
        if time is None and steps:
            return None, 1.0, ()
        if time is None:
            cure = f"The columns are {listed(table)}. Or pass the step between samples, e.g. time=0.01."
            likely = next((name for name, column in table.items() if _grows(column)), None)
            name = (
                "time='...'" if likely is None else f"time={likely!r} if it is {likely!r}, which grows from row to row"
            )
            raise DataError(f"time is missing: name the time column, {name}. {cure}")
    if not isinstance(time, str):
        count = len(next(iter(table.values()), ()))
        if np.ndim(time) and np.shape(time) != (count,):
            raise DataError(f"time has shape {np.shape(time)} for a table of {count} rows; expected one time per row.")
        return None, time, ()
    values, dates = as_times(_column(table, time, "time"), time)
    return time, numbers(values, f"column {time!r}"), (*notes, *dates)


def _time_column(table: Table) -> tuple[str | None, tuple[Notice, ...]]:
    """Return the column called t or time, else the only one whose name begins so or says date; and a notice then."""
    exact = next((name for name in table if name.lower() in ("t", "time")), None)
    likely = [name for name in table if _LIKELY_TIME.fullmatch(name)]
    if exact is not None or len(likely) != 1:
        return exact, ()
    return likely[0], (Notice("time", f"Column {likely[0]!r} is taken for the time."),)


def _listed(names: Any, what: str, table: Table) -> tuple[str, ...]:
    if names is None:
        return ()
    chosen = name_tuple((names,) if isinstance(names, str) else names, what, DataError)
    for name in chosen:
        _column(table, name, what)
    return chosen


def _column(table: Table, name: str, what: str) -> NDArray[Any]:
    if not isinstance(name, str):
        raise DataError(f"{what} holds a {type(name).__name__}; expected names of columns: {', '.join(table)}.")
    if name not in table:
        raise DataError(f"{what}: there is no column {name!r}. {nearest(name, table)}")
    return table[name]


def _is_row_number(name: str, column: NDArray[Any]) -> bool:
    """Return True for the index that pandas writes into files: without a name, 0, 1, 2, ..."""
    if name and not name.startswith("Unnamed:"):
        return False
    values = unmasked(column)
    return values.dtype.kind in "fiu" and bool((values == np.arange(len(values))).all())


def _is_blank(column: NDArray[Any]) -> bool:
    """Return True for a column of which every entry is missing."""
    values = unmasked(column)
    if values.dtype.kind == "f":
        return bool(len(values)) and bool(np.isnan(values).all())
    return values.dtype.kind == "O" and bool(len(values)) and all(cell is None or cell != cell for cell in values)


def _matrix(table: Table, names: Sequence[str]) -> Array:
    return np.column_stack([_numbers(table[name], name) for name in names])


def _numbers(column: NDArray[Any], name: str) -> Array:
    """Return a column as doubles; if it holds words that repeat, the error proposes ``trajectory=``."""
    try:
        return numbers(column, f"column {name!r}")
    except DataError as error:
        words = {str(cell) for cell in column}
        if 2 * len(words) > len(column) or any(cell[:1].isdigit() for cell in words):
            raise
        cure = f"If it tells trajectories apart, pass trajectory={name!r}."
        raise DataError(f"{error} {cure}") from None


def _groups(table: Table, trajectory: str | None) -> list[tuple[str, NDArray[np.intp]]]:
    """Return the label and the rows of each trajectory."""
    if trajectory is None:
        return [("", np.arange(len(next(iter(table.values())))))]
    rows: dict[str, list[int]] = {}
    for i, value in enumerate(_column(table, trajectory, "trajectory")):
        rows.setdefault(str(value), []).append(i)
    return [(label, np.array(index)) for label, index in rows.items()]


def _pieces(
    build: Build[T], gaps: str, label: str, times: Any, states: Any, controls: Any, derivatives: Any
) -> tuple[list[T], list[Notice]]:
    """Return the trajectory, or with ``gaps="split"`` its parts between missing values and breaks in time."""
    if gaps == "refuse":
        return [build(times, states, controls=controls, derivatives=derivatives, label=label)], []
    x = check_states(numbers(states, "states"))
    t = check_times(times, x)
    u = None if controls is None else check_rows(controls, "controls", len(x))
    dx = None if derivatives is None else check_rows(derivatives, "derivatives", len(x))
    finite = np.isfinite(np.hstack([part for part in (x, u, dx) if part is not None]))
    whole = np.asarray(finite.all(axis=1))
    parts: list[T] = []
    notices: list[Notice] = []
    for low, high in whole_ranges(whole, t):
        if high - low < LEAST_SAMPLES:
            where = f"{t[low]:g}" if high - low == 1 else f"{t[low]:g} to {t[high - 1]:g}"
            many = "samples" if high - low > 1 else "sample"
            text = f"{high - low} {many} at {where} between gaps: too few, left out."
            notices.append(Notice("short piece", text))
            continue
        cut = slice(low, high)
        beside = {"controls": None if u is None else u[cut], "derivatives": None if dx is None else dx[cut]}
        parts.append(build(t[cut], x[cut], **beside, label=f"{label or 'piece'} {len(parts)}"))
    if len(parts) > 1 or not whole.all():
        text = f"Cut into {len(parts)} pieces at gaps; {int((~whole).sum())} samples have missing values."
        notices.insert(0, Notice("split", text))
    return parts, notices

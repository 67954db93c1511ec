"""The one entrance for data in memory: arrays, lists of arrays, frames, mappings, xarray objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from exactsindy.data.build_field import field
from exactsindy.data.checks import unmasked
from exactsindy.data.field_data import Field
from exactsindy.data.frames import index_column, is_frame, read_frame
from exactsindy.data.gaps import pieces
from exactsindy.data.labelled import dimensions, is_xarray
from exactsindy.data.notice import Notice
from exactsindy.data.table import from_table
from exactsindy.data.times import as_times
from exactsindy.data.trajectory import Trajectories, Trajectory
from exactsindy.errors import DataError


def trajectories(
    source: Any,
    *,
    time: Any = None,
    states: Sequence[str] | None = None,
    controls: Any = None,
    control_names: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
    derivatives: Any = None,
    trajectory: str | None = None,
    gaps: str = "refuse",
) -> Trajectories:
    """Return checked trajectories from arrays, frames, mappings, or lists of these.

    Parameters
    ----------
    source
        An array (samples x states), a pandas, polars or Arrow table, a mapping from name to column, a
        one-dimensional xarray Dataset, a `Trajectory`, or a list with one of these per trajectory.
    time
        Arrays: sample times or the step; a list of them for a list of arrays. Tables: the name of the time
        column.
    states
        Names of the states; for tables the columns to use.
    controls
        Inputs u(t): for arrays an array (samples x controls) or a mapping from name to column, or a list of them;
        for tables names of columns.
    control_names
        Names of the controls of arrays; u0, u1, ... by default.
    targets
        The equations wanted, e.g. ``("x''", "y''")``; the first derivative of every state by default.
    derivatives
        Measured derivatives of arrays, shaped like the states.
    trajectory
        Tables: the column whose value tells trajectories apart.
    gaps
        ``"refuse"`` missing values, or ``"split"`` trajectories at them and at long breaks in time.

    Examples
    --------
    >>> trajectories(np.zeros((100, 2)), time=0.01, states=("x", "y"))
    Trajectories(1 of x, y; samples: 100)
    """
    several = isinstance(source, (list, tuple)) and bool(source) and not _is_row(source[0])
    items = list(source) if several else [source]
    if all(isinstance(item, Trajectory) for item in items):
        return Trajectories(items, targets)
    tables = [_table(item) for item in items]
    if all(table is not None for table in tables):
        clocks = [_one_of(time, i, several, len(items), "time") for i in range(len(items))]
        parts = [
            from_table(
                *_with_clock(items[i], table or {}, clocks[i]),
                states=states,
                controls=controls,
                targets=targets,
                trajectory=trajectory,
                gaps=gaps,
            )
            for i, table in enumerate(tables)
        ]
        return joined(parts)
    members: list[Trajectory] = []
    notices: list[Notice] = []
    for i, item in enumerate(items):
        when, notes = as_times(_one_of(time, i, several, len(items), "time"), "time")
        inputs = _one_of(controls, i, several, len(items), "controls")
        if isinstance(inputs, Mapping):
            control_names = tuple(inputs) if control_names is None else control_names
            inputs = np.column_stack([unmasked(column) for column in inputs.values()])
        slopes = _one_of(derivatives, i, several, len(items), "derivatives")
        label = str(i) if several else ""
        try:
            found, lost = pieces(
                when, item, inputs, slopes, gaps=gaps, names=states, control_names=control_names, label=label
            )
        except DataError as error:
            raise DataError(f"trajectory {i}: {error}") if several else error from None
        members += found
        notices += [*notes, *lost]
    return Trajectories(members, targets, notices=notices)


def joined(parts: Sequence[Trajectories]) -> Trajectories:
    """Return the trajectories of several data sets of the same system as one."""
    members = tuple(member for part in parts for member in part)
    notices = tuple(dict.fromkeys(note for part in parts for note in part.notices))
    return Trajectories(members, parts[0].targets, time_name=parts[0].time_name, notices=notices)


def as_data(
    source: Any,
    *,
    time: Any = None,
    states: Sequence[str] | None = None,
    controls: Any = None,
    targets: Sequence[str] | None = None,
    trajectory: str | None = None,
    gaps: str = "refuse",
    dims: Sequence[str] | None = None,
    coords: Mapping[str, Any] | None = None,
    periodic: Iterable[str] | Mapping[str, float] = (),
) -> Trajectories | Field:
    """Return data of any accepted kind as `Trajectories` or a `Field`.

    ``source`` is a path, what `trajectories` takes, an xarray object, arrays with ``dims`` (a field), or data
    already read, which are returned as they are. The other arguments are those of `load`, `field` and
    `trajectories`.

    Examples
    --------
    >>> as_data(np.zeros((100, 2)), time=0.01)
    Trajectories(1 of x0, x1; samples: 100)
    """
    from exactsindy.data.files import load

    if isinstance(source, (Trajectories, Field)):
        return source
    if isinstance(source, (str, Path)):
        return load(
            source,
            time=time,
            states=states,
            controls=controls,
            targets=targets,
            trajectory=trajectory,
            gaps=gaps,
            dims=dims,
            periodic=periodic,
        )
    if dims is not None:
        missing = "keep" if gaps == "split" else "refuse"
        return field(
            source,
            dims=dims,
            coords=coords,
            names=states,
            time=time,
            periodic=periodic,
            targets=targets,
            missing=missing,
        )
    if is_xarray(source):
        return from_xarray(
            source, time=time, states=states, controls=controls, targets=targets, gaps=gaps, periodic=periodic
        )
    return trajectories(
        source, time=time, states=states, controls=controls, targets=targets, trajectory=trajectory, gaps=gaps
    )


def from_xarray(
    source: Any,
    *,
    time: str | None = None,
    states: Sequence[str] | None = None,
    controls: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
    gaps: str = "refuse",
    periodic: Iterable[str] | Mapping[str, float] = (),
) -> Trajectories | Field:
    """Return trajectories from an xarray object over time alone, a field from one over space and time."""
    if len(dimensions(source)) == 1:
        return trajectories(source, time=time, states=states, controls=controls, targets=targets, gaps=gaps)
    chosen = source if states is None else source[list(states)]
    missing = "keep" if gaps == "split" else "refuse"
    return field(chosen, time=time, periodic=periodic, targets=targets, missing=missing)


def _is_row(value: Any) -> bool:
    """Say whether a list starts with numbers or rows of numbers: then it is one array, not several."""
    if isinstance(value, (Mapping, Trajectory)) or is_frame(value) or is_xarray(value):
        return False
    return np.ndim(value) < 2


def _table(value: Any) -> dict[str, Any] | None:
    if is_frame(value):
        return read_frame(value)
    if is_xarray(value):  # before mappings: a Dataset is one, but without its coordinates
        if len(dimensions(value)) > 1:
            return None
        (dim,) = dimensions(value)
        arrays = dict(value.data_vars) if hasattr(value, "data_vars") else {str(value.name or "x"): value}
        columns = {dim: value[dim].values} if dim in value.coords else {}
        return {**columns, **{str(name): array.values for name, array in arrays.items()}}
    if isinstance(value, Mapping):
        return {str(name): unmasked(column) for name, column in value.items()}
    return None


def _with_clock(item: Any, table: dict[str, Any], time: Any) -> tuple[dict[str, Any], Any]:
    """Return columns and time: if no column is named, a pandas index or the dimension of an xarray object."""
    if time is None and is_xarray(item) and dimensions(item)[0] in table:
        return table, dimensions(item)[0]
    found = index_column(item)
    named = time is None and not any(name.lower() in ("t", "time") for name in table)
    if found is None or not (named or time == found[0]) or found[0] in table:
        return table, time
    return {found[0]: found[1], **table}, found[0]


def _one_of(value: Any, i: int, several: bool, count: int, what: str) -> Any:
    """Return what belongs to trajectory i: the entry of a list, or the one value given for all."""
    listed = isinstance(value, (list, tuple)) and not any(isinstance(entry, str) for entry in value)
    if not several or not (listed or isinstance(value, np.ndarray)):
        return value
    if isinstance(value, np.ndarray) and what == "time":
        return value
    if not listed or len(value) != count:
        raise DataError(
            f"{what} has {len(value)} entries for {count} trajectories; pass a list with one entry per "
            "trajectory" + (", or one step or array of times for all." if what == "time" else ".")
        )
    return value[i]

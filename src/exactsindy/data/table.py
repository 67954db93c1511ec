"""From named columns to trajectories; what CSV, Parquet, frames and mappings have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.data.checks import numbers, unmasked
from exactsindy.data.gaps import pieces
from exactsindy.data.notice import Notice
from exactsindy.data.times import as_times
from exactsindy.data.trajectory import Trajectories
from exactsindy.errors import DataError

Array = NDArray[np.float64]
Table = Mapping[str, NDArray[Any]]


def from_table(
    table: Table,
    time: Any = None,
    *,
    states: Sequence[str] | None = None,
    controls: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
    trajectory: str | None = None,
    gaps: str = "refuse",
) -> Trajectories:
    """Return trajectories from columns.

    Parameters
    ----------
    time
        Name of the time column (``t`` or ``time`` by default), or times, or a step.
    states, controls
        Names of columns; all other columns are states by default.
    targets
        The equations wanted, see `Trajectories`.
    trajectory
        Name of a column whose value tells trajectories apart.
    gaps
        ``"refuse"`` missing values, or ``"split"`` the trajectory there.
    """
    sizes = {name: np.shape(column) for name, column in table.items()}
    n = len(next(iter(table.values()))) if table else 0
    odd = next((name for name, shape in sizes.items() if shape != (n,)), None)
    if odd is not None:
        first = next(iter(sizes))
        raise DataError(f"column {odd!r} has shape {sizes[odd]}, column {first!r} has {sizes[first]}; expected equal.")
    time_column, when, notes = _times(table, time)
    control_names = _listed(controls, "controls", table)
    special = {time_column, trajectory, *control_names}
    state_names = _listed(states, "states", table) or tuple(name for name in table if name not in special)
    if not state_names:
        raise DataError(f"No column is left for the states; the columns are {', '.join(table)}.")
    x = np.column_stack([_numbers(table, name) for name in state_names])
    u = np.column_stack([_numbers(table, name) for name in control_names]) if control_names else None
    members, dropped = [], list(notes)
    for label, rows in _groups(table, trajectory, n):
        clock = when if np.ndim(when) == 0 else unmasked(when)[rows]
        parts, lost = pieces(
            clock,
            x[rows],
            None if u is None else u[rows],
            None,
            gaps=gaps,
            names=state_names,
            control_names=control_names,
            label=label,
        )
        members += parts
        dropped += lost
    name = time_column if time_column else "t"
    return Trajectories(members, targets, time_name=name, notices=dropped)


def _times(table: Table, time: Any) -> tuple[str | None, Any, tuple[Notice, ...]]:
    if time is None:
        found = [name for name in table if name.lower() in ("t", "time")]
        if not found:
            raise DataError(
                f"time is missing: name the time column, time='...'. The columns are {', '.join(table)}. Or "
                "pass "
                "the step between samples, e.g. time=0.01."
            )
        time = found[0]
    if not isinstance(time, str):
        return None, time, ()
    column = _column(table, time, "time")
    values, notes = as_times(column, time)
    return time, numbers(values, f"column {time!r}"), notes


def _listed(names: Sequence[str] | None, what: str, table: Table) -> tuple[str, ...]:
    if names is None:
        return ()
    if isinstance(names, str):
        raise DataError(f"{what}={names!r}: expected a list of columns, e.g. {what}=({names!r},).")
    for name in names:
        _column(table, name, what)
    return tuple(names)


def _column(table: Table, name: str, what: str) -> NDArray[Any]:
    if name not in table:
        raise DataError(f"{what}: there is no column {name!r}; the columns are {', '.join(table)}.")
    return table[name]


def _numbers(table: Table, name: str) -> Array:
    return numbers(table[name], f"column {name!r}")


def _groups(table: Table, trajectory: str | None, n: int) -> list[tuple[str, NDArray[np.intp]]]:
    if trajectory is None:
        return [("", np.arange(n))]
    labels = [str(value) for value in _column(table, trajectory, "trajectory")]
    rows: dict[str, list[int]] = {}
    for i, label in enumerate(labels):
        rows.setdefault(label, []).append(i)
    return [(label, np.array(index)) for label, index in rows.items()]

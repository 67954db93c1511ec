"""Which column means what: guessed from the table, changed by clicks, given to `load`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.app.files import Source
from exactsindy.data import array_table, arrays_in
from exactsindy.errors import DataError

# Names of columns that are taken for the time, in small letters.
_TIME_NAMES = ("t", "time")
# A column of words tells trajectories apart if each word is there so often on average.
_LEAST_ROWS_PER_WORD = 5


class Role(Enum):
    """What a column of a table means; the value is the word on the page."""

    TIME = "time"
    STATE = "state"
    INPUT = "input u(t)"
    TRAJECTORY = "tells trajectories apart"
    NONE = "left out"


@dataclass(frozen=True)
class Columns:
    """The meaning of the columns of a table, and how gaps are treated; for fields the names of the axes.

    ``step`` is the time between samples where no column is the time. ``notes`` say what was guessed.
    """

    roles: Mapping[str, Role]
    step: float = 1.0
    split_gaps: bool = False
    dims: tuple[str, ...] = ()
    periodic: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def having(self, role: Role) -> tuple[str, ...]:
        """Return the columns with a role."""
        return tuple(name for name, given in self.roles.items() if given is role)

    def with_role(self, column: str, role: Role) -> Columns:
        """Return the columns with another role for one of them; time and trajectory belong to one column at most."""
        roles = dict(self.roles)
        if column not in roles:
            return self
        if role in (Role.TIME, Role.TRAJECTORY):
            roles = {name: Role.NONE if given is role else given for name, given in roles.items()}
        roles[column] = role
        return replace(self, roles=roles)

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `load` that say this; those at their defaults are left out."""
        arguments: dict[str, Any] = {}
        if self.roles:
            time = self.having(Role.TIME)
            if not time or time[0].lower() not in _TIME_NAMES:
                arguments["time"] = time[0] if time else self.step
            if self.having(Role.NONE):
                arguments["states"] = list(self.having(Role.STATE))
            if self.having(Role.INPUT):
                arguments["controls"] = list(self.having(Role.INPUT))
            if self.having(Role.TRAJECTORY):
                arguments["trajectory"] = self.having(Role.TRAJECTORY)[0]
        if self.dims:
            arguments["dims"] = list(self.dims)
        if self.periodic:
            arguments["periodic"] = list(self.periodic)
        if self.split_gaps:
            arguments["gaps"] = "split"
        return arguments


def guess(source: Source) -> Columns:
    """Return the meaning of the columns as far as names and values show it; no roles for NetCDF and fields.

    Raises
    ------
    DataError
        If the file cannot be read.
    """
    try:
        return _guess(source)
    except DataError as error:
        raise DataError(source.named(str(error))) from None


def _guess(source: Source) -> Columns:
    arrays = arrays_in(source.path)
    if arrays is None:
        return Columns({})
    if any(array.ndim > 1 for array in arrays.values()):
        columns = _field(arrays)
        return columns if columns.dims else _roles(array_table(arrays))
    return _roles(arrays)


def _field(arrays: Mapping[str, NDArray[Any]]) -> Columns:
    """Return the axes of a field: the one-dimensional arrays, in the order of the lengths of the largest array."""
    largest = max(arrays.values(), key=lambda array: array.ndim)
    vectors = {name: len(array) for name, array in arrays.items() if array.ndim == 1}
    dims: list[str] = []
    for length in largest.shape:
        fitting = [name for name, count in vectors.items() if count == length and name not in dims]
        time = [name for name in fitting if name.lower() in _TIME_NAMES]
        last = len(dims) == largest.ndim - 1
        ordered = time + fitting if last else [name for name in fitting if name not in time] + time
        dims += ordered[:1]
    return Columns({}, dims=tuple(dims) if len(dims) == largest.ndim else ())


def _roles(table: Mapping[str, NDArray[Any]]) -> Columns:
    roles = dict.fromkeys(table, Role.STATE)
    notes: list[str] = []
    for name, column in table.items():
        if not name or name.startswith("Unnamed:"):  # the index that pandas writes
            roles[name] = Role.NONE
        elif column.dtype.kind not in "fiub":
            roles[name] = _role_of_words(column)
    time = next((name for name in table if name.lower() in _TIME_NAMES), None)
    if time is None:
        candidates = [name for name, role in roles.items() if role is Role.STATE or _is_date(table[name])]
        time = next((name for name in candidates if _increases(table[name])), None)
        if time is not None:
            notes.append(f"{time!r} grows from row to row: it is taken for the time.")
        else:
            notes.append("No column looks like a time: rows are taken to be 1 apart. Say otherwise below.")
    if time is not None:
        roles[time] = Role.TIME
    notes += [f"{n!r} tells trajectories apart." for n, role in roles.items() if role is Role.TRAJECTORY]
    return Columns(roles, notes=tuple(notes))


def _role_of_words(column: NDArray[Any]) -> Role:
    words = {str(cell) for cell in column}
    return Role.TRAJECTORY if 1 < len(words) <= len(column) / _LEAST_ROWS_PER_WORD else Role.NONE


def _is_date(column: NDArray[Any]) -> bool:
    if column.dtype.kind == "M":
        return True
    if column.dtype.kind in "fiub" or not len(column):
        return False
    try:
        np.datetime64(str(column[0]).strip().replace(" ", "T"))
    except ValueError:
        return False
    return True


def _increases(column: NDArray[Any]) -> bool:
    """Return True if every entry is larger than the one before."""
    if _is_date(column):
        return True
    values = np.asarray(column, dtype=float)
    return len(values) > 1 and bool(np.isfinite(values).all()) and bool((np.diff(values) > 0).all())

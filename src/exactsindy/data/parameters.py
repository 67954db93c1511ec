"""Parameters: numbers that are constant within a trajectory and may differ between trajectories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.data.input_checks import numbers
from exactsindy.errors import DataError, is_real, listed

# Values that an error message lists.
_LISTED = 3


def checked_parameters(parameters: object, taken: Sequence[str]) -> dict[str, float]:
    """Return the parameters of one trajectory by name; ``taken`` are names of its states and controls."""
    if parameters is None:
        return {}
    if not isinstance(parameters, Mapping):
        raise DataError(f"parameters={parameters!r}: expected a mapping from name to number, e.g. {{'mu': 0.1}}.")
    values: dict[str, float] = {}
    for name, value in parameters.items():
        if not isinstance(name, str) or not name:
            raise DataError(f"parameters: {name!r} is no name; expected text, e.g. 'mu'.")
        if name in taken:
            raise DataError(f"parameters: {name!r} is also a state or a control; rename one of them.")
        number = value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
        if not is_real(number) or not np.isfinite(number):
            raise DataError(f"parameters: {name!r} is {value!r}; expected one finite number.")
        values[name] = float(number)
    return values


def per_trajectory(parameters: Mapping[str, Any], count: int) -> list[dict[str, float]]:
    """Return the parameters of each of ``count`` trajectories from ``{"mu": [0.1, 0.4]}``."""
    rows: list[dict[str, float]] = [{} for _ in range(count)]
    for name, given in parameters.items():
        values = np.atleast_1d(numbers(given, f"parameters: {name!r}"))
        if values.shape != (count,):
            many = f"{values.size} value{'' if values.size == 1 else 's'}"
            where = f"{count} trajector{'y' if count == 1 else 'ies'}"
            raise DataError(f"parameters: {name!r} has {many} for {where}; expected one value per trajectory.")
        for row, value in zip(rows, values, strict=True):
            row[name] = float(value)
    return rows


def constant_value(column: NDArray[Any], name: str, label: str, *, told_apart: bool) -> float:
    """Return the one value of a table's column within a trajectory, or say that it has several."""
    values = numbers(column, f"column {name!r}")
    known = np.unique(values[np.isfinite(values)])
    where = f"trajectory {label!r}" if told_apart else "the table"
    if not len(known):
        raise DataError(f"parameters: column {name!r} has no value in {where}; fill it in.")
    if len(known) > 1:
        shown = listed([f"{value:g}" for value in known[:_LISTED]]) + (", ..." if len(known) > _LISTED else "")
        cure = f"If it changes with time, it is an input: controls=({name!r},)."
        if not told_apart:
            cure = "If the table holds several trajectories, name the column that tells them apart: trajectory='...'."
        raise DataError(
            f"parameters: column {name!r} has {len(known)} values in {where} ({shown}); a parameter is constant "
            f"within each trajectory. {cure}"
        )
    return float(known[0])

"""pandas, polars and Arrow tables, through narwhals, and other values with named columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exactsindy._optional import optional
from exactsindy.data.checks import numbers
from exactsindy.errors import DataError, MissingDependency

# What methods of a model take: numbers by position, or a frame or mapping by name (frames count as array-like).
Columns = ArrayLike | Mapping[str, ArrayLike]


def is_frame(value: object) -> bool:
    """Say whether a value is a data frame of some package, without importing any."""
    package = type(value).__module__.partition(".")[0]
    packages = ("pandas", "polars", "pyarrow", "modin", "cudf", "narwhals")
    return package in packages and hasattr(type(value), "columns")


def read_frame(frame: Any) -> dict[str, NDArray[Any]]:
    """Return the columns of a data frame; missing entries of number columns become NaN."""
    narwhals = optional("narwhals", "data", "Reading a data frame")
    try:
        table = narwhals.from_native(frame, eager_only=True)
    except TypeError:
        raise DataError(
            f"Cannot read a {type(frame).__module__}.{type(frame).__name__}; expected an eager frame "
            "(collect a lazy "
            "one first)."
        ) from None
    return {str(name): _column(table.get_column(name)) for name in table.columns}


def _column(series: Any) -> NDArray[Any]:
    values = series.to_numpy()
    if series.dtype.is_numeric() and values.dtype.kind == "O":
        return np.array([float("nan") if cell is None else float(cell) for cell in values])
    return np.asarray(values)


def is_named(values: object) -> bool:
    """Return True if columns are known by name: a data frame, or a mapping from name to numbers."""
    return is_frame(values) or isinstance(values, Mapping)


def is_labelled_row(values: Any) -> bool:
    """Return True if a value is a pandas Series whose labels are names: one row of a frame."""
    kind = type(values)
    return (kind.__module__.partition(".")[0], kind.__name__) == ("pandas", "Series") and all(
        isinstance(label, str) for label in values.index
    )


def by_name(values: Any, names: Sequence[str], what: str) -> NDArray[np.float64]:
    """Return the columns ``names`` of a frame or mapping, (samples, names), or (names,) if all are single numbers.

    Examples
    --------
    >>> by_name({"t": [0.0, 0.1], "y": [3, 4], "x": [1, 2]}, ("x", "y"), "x")
    array([[1., 3.],
           [2., 4.]])
    """
    table = _named_columns(values)
    absent = [name for name in names if name not in table]
    if absent:
        raise DataError(
            f"{what} has no column {absent[0]!r}: it has {', '.join(table) or 'none'}; expected {', '.join(names)} "
            "in any order. Rename its columns, or pass an array with these columns in this order."
        )
    columns = []
    for name in names:
        if np.asarray(table[name]).dtype.kind in "mM":
            raise DataError(f"{what}: column {name!r} holds dates; expected numbers.")
        columns.append(numbers(table[name], f"{what}: column {name!r}"))
    shapes = {column.shape for column in columns if column.ndim}
    if len(shapes) > 1 or any(len(shape) > 1 for shape in shapes):
        listed = ", ".join(f"{name} {column.shape}" for name, column in zip(names, columns, strict=True))
        raise DataError(f"{what} has columns of shape {listed}; expected one number per sample in each.")
    return np.stack(np.broadcast_arrays(*columns), axis=-1)


def _named_columns(values: Any) -> dict[str, Any]:
    if not is_frame(values):
        return {str(name): column for name, column in values.items()}
    try:
        return dict(read_frame(values))
    except MissingDependency:
        if type(values).__module__.partition(".")[0] != "pandas":
            raise
        return {str(name): values[name].to_numpy() for name in values.columns}


def index_column(frame: Any) -> tuple[str, NDArray[Any]] | None:
    """Return name and values of the index of a pandas frame, unless it only counts the rows."""
    index = getattr(frame, "index", None)
    if type(frame).__module__.partition(".")[0] != "pandas" or type(index).__name__ == "RangeIndex":
        return None
    return str(getattr(index, "name", None) or "index"), np.asarray(index)

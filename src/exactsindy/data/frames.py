"""pandas, polars and Arrow tables, through narwhals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.data.optional import optional
from exactsindy.errors import DataError


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
    return {str(name): _column(table[name]) for name in table.columns}


def _column(series: Any) -> NDArray[Any]:
    values = series.to_numpy()
    if series.dtype.is_numeric() and values.dtype.kind == "O":
        return np.array([float("nan") if cell is None else float(cell) for cell in values])
    return np.asarray(values)


def index_column(frame: Any) -> tuple[str, NDArray[Any]] | None:
    """Return name and values of the index of a pandas frame, unless it only counts the rows."""
    index = getattr(frame, "index", None)
    if type(frame).__module__.partition(".")[0] != "pandas" or type(index).__name__ == "RangeIndex":
        return None
    return str(getattr(index, "name", None) or "index"), np.asarray(index)

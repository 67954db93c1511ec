"""Named columns of data frames, mappings and xarray objects, recognised without importing their packages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exactsindy._optional import optional
from exactsindy._types import Array
from exactsindy.data.input_checks import as_array, numbers
from exactsindy.errors import DataError, MissingDependency, repeated

Table = Mapping[str, NDArray[Any]]


def is_frame(value: object) -> bool:
    """Return True if a value is a data frame of some package."""
    packages = ("pandas", "polars", "pyarrow", "modin", "cudf", "narwhals")
    return _package(value) in packages and hasattr(type(value), "columns")


def framed(value: Any) -> Any:
    """Return a pandas or polars Series that has a name or a meaningful index as a frame; other values as they are."""
    if type(value).__name__ != "Series" or _package(value) not in ("pandas", "polars"):
        return value
    counted = type(getattr(value, "index", None)).__name__ in ("RangeIndex", "NoneType", "method")
    if not value.name and counted:
        return value
    return value.to_frame(str(value.name or "x"))


def is_xarray(value: object) -> bool:
    """Return True if a value is an xarray DataArray or Dataset."""
    return _package(value) == "xarray"


def is_named(values: object) -> bool:
    """Return True if columns are known by name: a data frame, or a mapping from name to numbers."""
    return is_frame(values) or isinstance(values, Mapping)


def is_labelled_row(values: Any) -> bool:
    """Return True if a value is a pandas Series whose labels are names: one row of a frame."""
    is_series = (_package(values), type(values).__name__) == ("pandas", "Series")
    return is_series and all(isinstance(label, str) for label in values.index)


def _package(value: object) -> str:
    return type(value).__module__.partition(".")[0]


def read_frame(frame: Any) -> Table:
    """Return the columns of a data frame; missing entries of number columns become NaN."""
    if _package(frame) in ("pandas", "pyarrow"):
        names = [str(name) for name in getattr(frame, "column_names", frame.columns)]
        twice = repeated(names)
        if twice is not None:
            raise DataError(f"The {type(frame).__name__} has two columns named {twice!r}; rename or drop one of them.")
    try:
        narwhals = optional("narwhals", "data", "Reading a data frame")
    except MissingDependency:
        if _package(frame) != "pandas":
            raise
        return {str(name): frame[name].to_numpy() for name in frame.columns}
    try:
        table = narwhals.from_native(frame, eager_only=True)
    except TypeError:
        kind = f"{type(frame).__module__}.{type(frame).__name__}"
        raise DataError(f"Cannot read a {kind}; expected an eager frame (collect a lazy one first).") from None
    return {str(name): _values(table.get_column(name)) for name in table.columns}


def _values(series: Any) -> NDArray[Any]:
    values = series.to_numpy()
    if series.dtype.is_numeric() and values.dtype.kind == "O":
        return np.array([float("nan") if cell is None else float(cell) for cell in values])
    return np.asarray(values)


def named_columns(values: Any) -> Table | None:
    """Return the columns of a frame, a mapping or an xarray object over one dimension; ``None`` for other values."""
    if is_frame(values):
        return read_frame(values)
    if is_xarray(values):  # before mappings: a Dataset is one, but without its coordinates
        dims = dimensions(values)
        if len(dims) > 1:
            return None
        arrays = dict(values.data_vars) if hasattr(values, "data_vars") else {str(values.name or "x"): values}
        table = {dim: values[dim].values for dim in dims if dim in values.coords}
        return {**table, **{str(name): array.values for name, array in arrays.items()}}
    if isinstance(values, Mapping):
        return {str(name): as_array(column, f"column {name!r}") for name, column in values.items()}
    return None


def by_name(values: Any, names: Sequence[str], what: str) -> Array:
    """Return the columns ``names`` of a frame or mapping, (samples, names), or (names,) if all are single numbers."""
    table = named_columns(dict(values.items()) if is_labelled_row(values) else values)
    if table is None:
        raise DataError(f"{what} has the dimensions {dimensions(values)}; expected samples alone.")
    absent = [name for name in names if name not in table]
    if absent:
        raise DataError(
            f"{what} has no column {absent[0]!r}: it has {', '.join(table) or 'none'}; expected {', '.join(names)} "
            "in any order. Rename its columns, or pass an array with these columns in this order."
        )
    columns = [numbers(table[name], f"{what}: column {name!r}") for name in names]
    shapes = {column.shape for column in columns if column.ndim}
    if len(shapes) > 1 or any(len(shape) > 1 for shape in shapes):
        listed = ", ".join(f"{name} {column.shape}" for name, column in zip(names, columns, strict=True))
        raise DataError(f"{what} has columns of shape {listed}; expected one number per sample in each.")
    return np.stack(np.broadcast_arrays(*columns), axis=-1)


def index_column(frame: Any) -> tuple[str, NDArray[Any]] | None:
    """Return name and values of the index of a pandas frame, unless it only counts the rows."""
    index = getattr(frame, "index", None)
    if _package(frame) != "pandas" or type(index).__name__ == "RangeIndex":
        return None
    return str(getattr(index, "name", None) or "index"), np.asarray(index)


def dimensions(value: Any) -> tuple[str, ...]:
    """Return the dimensions that the variables of an xarray object use."""
    if hasattr(value, "data_vars"):
        return tuple(dict.fromkeys(str(dim) for array in value.data_vars.values() for dim in array.dims))
    return tuple(str(dim) for dim in value.dims)


def unpack_xarray(
    value: Any, dims: Sequence[str] | None, coords: Mapping[str, ArrayLike] | None
) -> tuple[dict[str, NDArray[Any]], tuple[str, ...], dict[str, ArrayLike]]:
    """Return (arrays by name, dims, coords) of an xarray object; ``coords`` takes precedence over its own."""
    arrays = dict(value.data_vars) if hasattr(value, "data_vars") else {str(value.name or "u"): value}
    if not arrays:
        raise DataError("The xarray Dataset has no data variables; expected at least one field.")
    order = dimensions(value)
    if dims is not None and set(dims) != set(order):
        raise DataError(f"dims={tuple(dims)}: the xarray object has the dimensions {order}.")
    for name, array in arrays.items():
        if set(array.dims) != set(order):
            whole = tuple(str(other) for other, one in arrays.items() if set(one.dims) == set(order))
            expected = f"expected all variables over {order}. Choose some: states={whole or ('...',)}."
            raise DataError(f"The variable {name!r} has dimensions {tuple(array.dims)}; {expected}")
    points = {str(dim): value[dim].values for dim in order if dim in value.coords}
    ordered = {str(name): array.transpose(*order) for name, array in arrays.items()}
    # Chunked arrays stay as they are; `chunks` does not load what `data` would.
    views = {name: array.values if array.chunks is None else array.data for name, array in ordered.items()}
    return views, order, {**points, **(coords or {})}

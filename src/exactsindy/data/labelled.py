"""xarray objects, recognised without importing xarray."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from exactsindy.errors import DataError


def is_xarray(value: object) -> bool:
    """Say whether a value is an xarray DataArray or Dataset."""
    return type(value).__module__.partition(".")[0] == "xarray"


def dimensions(value: Any) -> tuple[str, ...]:
    """Return the dimensions that the variables of an xarray object use."""
    if hasattr(value, "data_vars"):
        used = dict.fromkeys(str(dim) for array in value.data_vars.values() for dim in array.dims)
        return tuple(used)
    return tuple(str(dim) for dim in value.dims)


def unpack(
    value: Any, dims: Sequence[str] | None, coords: Mapping[str, Any] | None
) -> tuple[dict[str, Any], tuple[str, ...], dict[str, Any]]:
    """Return (arrays by name, dims, coords) of an xarray object; given coords take precedence."""
    arrays = dict(value.data_vars) if hasattr(value, "data_vars") else {str(value.name or "u"): value}
    if not arrays:
        raise DataError("The xarray Dataset has no data variables; expected at least one field.")
    order = dimensions(value)
    if dims is not None and set(dims) != set(order):
        raise DataError(f"dims={tuple(dims)}: the xarray object has the dimensions {order}.")
    for name, array in arrays.items():
        if set(array.dims) != set(order):
            raise DataError(
                f"The variable {name!r} has dimensions {tuple(array.dims)}; expected all variables over "
                f"{order}. "
                "Select some: dataset[['...']]."
            )
    given = dict(coords or {})
    found = {str(dim): value[dim].values for dim in order if dim in value.coords}
    return (
        {str(name): array.transpose(*order).values for name, array in arrays.items()},
        order,
        {**found, **given},
    )

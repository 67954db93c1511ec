"""Results as pandas frames and xarray objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from exactsindy._optional import optional


def frame(columns: Mapping[str, Any], index: str | None = None) -> Any:
    """Return a pandas DataFrame of columns; ``index`` names the one that labels the rows."""
    pandas = optional("pandas", "data", "to_pandas")
    table = pandas.DataFrame(dict(columns))
    return table if index is None else table.set_index(index)


def dataset(variables: Mapping[str, tuple[Sequence[str], Any]], coords: Mapping[str, Any], **about: Any) -> Any:
    """Return an xarray Dataset of (dimensions, values) by name, with its coordinates and attributes."""
    xarray = optional("xarray", "data", "to_xarray")
    return xarray.Dataset(dict(variables), coords=dict(coords), attrs=about)

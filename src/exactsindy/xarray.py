"""``import exactsindy.xarray`` gives xarray objects the accessor ``sindy``: ``dataset.sindy.discover(...)``.

Nothing is registered unless this module is imported. Needs xarray: ``pip install exactsindy[data]``.
"""

from __future__ import annotations

from typing import Any

from exactsindy._optional import optional
from exactsindy.data import Columns as _Columns
from exactsindy.data import Data, as_data
from exactsindy.discovery import Discovery, discover

_xarray = optional("xarray", "data", "exactsindy.xarray")


@_xarray.register_dataset_accessor("sindy")
@_xarray.register_dataarray_accessor("sindy")
class Sindy:
    """What exactsindy does with a Dataset or DataArray; made by xarray as ``data.sindy``.

    Examples
    --------
    >>> import numpy as np, xarray as xr, exactsindy.xarray
    >>> t = np.arange(0.0, 10.0, 0.05)
    >>> data = xr.Dataset({"x": ("t", np.cos(t)), "v": ("t", -np.sin(t))}, coords={"t": t})
    >>> data.sindy.discover(degree=1).model.equations(2)
    ["x' = v", "v' = -x"]
    """

    def __init__(self, source: Any) -> None:
        self._source = source

    def discover(self, **options: Any) -> Discovery:
        """Find the equations behind the data; the options are those of `exactsindy.discover`."""
        return discover(self._source, **options)

    def data(self, **columns: Any) -> Data:
        """Return `Trajectories` (one dimension) or a `Field` (space and time), checked.

        The options are those of `exactsindy.load` that say what the variables mean, e.g. ``periodic=("x",)``.
        """
        return as_data(self._source, _Columns(**columns))

"""Arrays that are not in memory: Dask arrays, and zarr or HDF5 arrays as Dask arrays of their own chunks."""

from __future__ import annotations

from typing import Any

from exactsindy._optional import optional
from exactsindy.errors import DataError


def is_lazy(values: object) -> bool:
    """Return True if values are a Dask array."""
    return type(values).__module__.partition(".")[0] == "dask"


def as_lazy(values: Any, what: str) -> Any:
    """Return a Dask array of numbers as it is, a stored array as a Dask array of its chunks; None for other values."""
    if type(values).__module__.partition(".")[0] in ("zarr", "h5py") and hasattr(values, "shape"):
        dask_array = optional("dask.array", "dask", "Reading a stored array piece by piece")
        values = dask_array.from_array(values, chunks=getattr(values, "chunks", None) or "auto")
    if not is_lazy(values):
        return None
    if values.dtype.kind not in "fiu":
        raise DataError(f"{what} holds {values.dtype} values; expected real numbers.")
    if not all(size == size for size in values.shape):  # Dask writes NaN for a length that it does not know
        raise DataError(f"{what} is a Dask array of unknown shape {values.shape}; call compute_chunk_sizes() first.")
    return values


def loaded(values: Any) -> Any:
    """Return a lazy array in memory, read in this process."""
    return values.compute(scheduler="synchronous") if is_lazy(values) else values

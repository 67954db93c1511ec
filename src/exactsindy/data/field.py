"""Fields over one to three space dimensions and time, with named dimensions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.data.columns import Columns, Samples, Target, rate_names
from exactsindy.data.field_parts import checked_grid, checked_values
from exactsindy.data.lazy_arrays import is_lazy, loaded
from exactsindy.data.notice import Notice, column_notices, gap_notice
from exactsindy.data.splitting import cut_at, fold_ranges
from exactsindy.errors import DataError


@dataclass(frozen=True, eq=False, repr=False)
class Field:
    """One or more fields u(x, ..., t) on a grid; the data of a PDE. Built by `Field.from_arrays`.

    Parameters
    ----------
    values
        One array per field, axes in the order of ``dims``; views of the arrays passed, not copies.
    names
        Names of the fields.
    dims
        Names of the dimensions: space first, time last.
    coords
        Increasing coordinates along each dimension.
    periods
        Per space dimension its period, or ``None`` where it is not periodic.
    targets
        The equations wanted, u_t for every field by default.
    missing
        Number of missing cells (NaN); 0 unless they were allowed; -1 if they were and nobody has counted them yet.

    Notes
    -----
    Dask arrays, also those inside xarray objects, and zarr arrays stay as they are (`lazy`): forms and `discover` read
    them chunk by chunk along time.
    """

    values: tuple[Array, ...]
    names: tuple[str, ...]
    dims: tuple[str, ...]
    coords: tuple[Array, ...]
    periods: tuple[float | None, ...]
    targets: tuple[Target, ...]
    missing: int = 0
    notices: tuple[Notice, ...] = ()

    @classmethod
    def from_arrays(
        cls,
        values: Samples | Sequence[ArrayLike],
        *,
        dims: Sequence[str] | None = None,
        coords: Mapping[str, ArrayLike] | None = None,
        names: Sequence[str] | None = None,
        time: str | None = None,
        periodic: Iterable[str] | Mapping[str, float] = (),
        targets: str | Sequence[str] | None = None,
        missing: str = "refuse",
    ) -> Field:
        """Return a field over 1-3 space dimensions and time, checked and with named dimensions.

        Parameters
        ----------
        values
            An array, a mapping from field name to array, a list of arrays, or an xarray DataArray or Dataset.
        dims
            Names of the axes of the arrays, in their order, e.g. ``("x", "t")``; xarray brings its own.
        coords
            For each dimension its coordinates or its step, e.g. ``{"x": x, "t": 0.1}``; xarray brings its own.
        names
            Names of the fields; ``u`` (or ``u0, u1, ...``) by default.
        time
            Which dimension is time; ``t`` or ``time`` by default.
        periodic
            The periodic space dimensions, e.g. ``("x",)``. A mapping gives their periods, which must be number of
            points times step: the first point is not repeated at the end.
        targets
            The equations wanted, e.g. ``("u_t",)`` or ``("u_tt",)``; u_t of every field by default.
        missing
            ``"refuse"`` missing cells (NaN), or ``"keep"`` them for forms that can leave them out.

        Examples
        --------
        >>> x, t = np.linspace(0, 1, 20), np.linspace(0, 2, 50)
        >>> Field.from_arrays(np.sin(x[:, None] - t), dims=("x", "t"), coords={"x": x, "t": t})
        Field(u; x 20 x t 50)
        """
        if not isinstance(missing, str) or missing not in ("refuse", "keep"):
            raise DataError(f"missing={missing!r}: expected 'refuse' or 'keep'.")
        gaps = "split" if missing == "keep" else "refuse"
        columns = Columns(time, names, targets=targets, gaps=gaps, dims=dims, coords=coords, periodic=periodic)
        return cls.from_columns(values, columns)

    @classmethod
    def from_columns(cls, values: object, columns: Columns) -> Field:
        """Return what `from_arrays` returns, its keyword arguments in one record."""
        return cls(*checked_grid(values, columns))

    def __repr__(self) -> str:
        sizes = " x ".join(f"{dim} {size}" for dim, size in zip(self.dims, self.shape, strict=True))
        return f"Field({', '.join(self.names)}; {sizes})"

    def __getitem__(self, name: str) -> Array:
        return self.values[self.names.index(name)]

    @property
    def lazy(self) -> bool:
        """Return True if the values are Dask arrays, which are read piece by piece."""
        return any(is_lazy(array) for array in self.values)

    def load(self, start: int = 0, stop: int | None = None) -> Field:
        """Return the times from ``start`` up to (not including) ``stop`` in memory.

        Examples
        --------
        >>> u = np.zeros((20, 50))
        >>> Field.from_arrays(u, dims=("x", "t"), coords={"x": 0.1, "t": 0.1}).load(10, 20)
        Field(u; x 20 x t 10)
        """
        end = len(self.times) if stop is None else stop
        if not self.lazy:
            return self.slice(start, end)
        return self.described(start, end).filled([loaded(array[..., start:end]) for array in self.values], start)

    def described(self, start: int, stop: int) -> Field:
        """Return the times from ``start`` to ``stop`` without values; `filled` puts them in."""
        return replace(self, values=(), coords=(*self.coords[:-1], self.times[start:stop]))

    def filled(self, values: Iterable[ArrayLike], start: int = 0) -> Field:
        """Return the field with these values, as checked doubles; ``start`` tells errors the number of the first."""
        gaps = "split" if self.missing else "refuse"
        arrays, lost = checked_values(values, self.names, f"times {start} to {start + len(self.times)}", gaps)
        return replace(self, values=arrays, missing=lost, notices=())

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the number of grid points along each dimension."""
        return self.values[0].shape

    @property
    def n_samples(self) -> int:
        """Return the number of grid points."""
        return int(np.prod(self.shape))

    @property
    def state_names(self) -> tuple[str, ...]:
        """Return the names of the fields."""
        return self.names

    @property
    def rate_names(self) -> tuple[str, ...]:
        """Return the rates that are variables beside the fields: ``u_t`` where an equation is for ``u_tt``."""
        return rate_names(self.targets, self.names)

    @property
    def control_names(self) -> tuple[str, ...]:
        """Return the names of the controls: none."""
        return ()

    @property
    def axes(self) -> tuple[str, ...]:
        """Return the names of the space dimensions."""
        return self.dims[:-1]

    @property
    def time_name(self) -> str:
        """Return the name of the time dimension."""
        return self.dims[-1]

    @property
    def times(self) -> Array:
        """Return the sample times."""
        return self.coords[-1]

    def coordinate(self, dim: str) -> Array:
        """Return the coordinates along a dimension."""
        return self.coords[self.dims.index(dim)]

    def slice(self, start: int, stop: int) -> Field:
        """Return the times from ``start`` up to (not including) ``stop``, without copying."""
        values = tuple(array[..., start:stop] for array in self.values)
        missing = self.missing
        if missing and not self.lazy:
            missing = sum(int(np.isnan(array).sum()) for array in values)
        return replace(self, values=values, coords=(*self.coords[:-1], self.times[start:stop]), missing=missing)

    def split(self, fraction: float = 2 / 3) -> tuple[Field, Field]:
        """Return the first ``fraction`` of the times and the remaining ones: training and validation."""
        at = cut_at(len(self.times), fraction)
        return self.slice(0, at), self.slice(at, len(self.times))

    def folds(self, count: int) -> tuple[Field, ...]:
        """Return ``count`` parts of about equal size, contiguous in time."""
        ranges = fold_ranges([len(self.times)], count)
        return tuple(self.slice(start, stop) for ((_, start, stop),) in ranges)

    @cached_property
    def warnings(self) -> tuple[Notice, ...]:
        """Return warnings about the data: constant fields, very different sizes, gaps in time, ..."""
        if self.lazy:
            return (*self.notices, *gap_notice(self.times, f"dimension {self.time_name!r}"))
        low = np.array([np.nanmin(array) for array in self.values])
        high = np.array([np.nanmax(array) for array in self.values])
        gaps = gap_notice(self.times, f"dimension {self.time_name!r}")
        return (*self.notices, *column_notices(self.names, low, high, np.maximum(abs(low), abs(high))), *gaps)

    @cached_property
    def fingerprint(self) -> str:
        """Return the SHA-256 of names, dimensions, targets, periods and all numbers."""
        digest = hashlib.sha256()
        labels = (*self.names, *self.dims, *(target.name for target in self.targets), *map(str, self.periods))
        digest.update("\n".join(labels).encode())
        for array in (*self.coords, *self.values):
            digest.update(b"|")
            if is_lazy(array):
                lazily: Any = array
                digest.update(str(lazily.name).encode())  # Dask's name for what the array will hold
                continue
            for part in array if array.ndim > 1 else (array,):  # in parts: a field may be large
                digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()

"""Fields over one to three space dimensions and time, with named dimensions."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.data.notice import Notice, column_notices, gap_notice
from exactsindy.data.target import Target

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Field:
    """One or more fields u(x, ..., t) on a grid; the data of a PDE. Built by `field`.

    Parameters
    ----------
    values
        One array per field, axes in the order of ``dims``; views of what was given, not copies.
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
        Number of missing cells (NaN); 0 unless they were allowed.
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
    def from_arrays(cls, values: Any, **options: Any) -> Field:
        """Return a field over 1-3 space dimensions and time, checked and with named dimensions; see `field`."""
        from exactsindy.data.build_field import field

        return field(values, **options)

    def __repr__(self) -> str:
        sizes = " x ".join(f"{dim} {size}" for dim, size in zip(self.dims, self.shape, strict=True))
        return f"Field({', '.join(self.names)}; {sizes})"

    def __getitem__(self, name: str) -> Array:
        return self.values[self.names.index(name)]

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
        missing = sum(int(np.isnan(array).sum()) for array in values) if self.missing else 0
        return replace(self, values=values, coords=(*self.coords[:-1], self.times[start:stop]), missing=missing)

    def split(self, fraction: float = 2 / 3) -> tuple[Field, Field]:
        """Return the first ``fraction`` of the times and the rest: training and validation."""
        from exactsindy.data.splitting import split_field

        return split_field(self, fraction)

    def folds(self, count: int) -> tuple[Field, ...]:
        """Return ``count`` parts of about equal size, contiguous in time."""
        from exactsindy.data.splitting import fold_field

        return fold_field(self, count)

    @cached_property
    def warnings(self) -> tuple[Notice, ...]:
        """Return what is odd about the data: constant fields, very different sizes, gaps in time, ..."""
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
            for part in array if array.ndim > 1 else (array,):  # in parts: a field may be large
                digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()

"""Fields over periodic dimensions as low Fourier modes: noise level and transforms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.data import Field
from exactsindy.errors import DataError

Complex = NDArray[np.complex128]

# Grid points transformed together: a few arrays of eight megabytes.
_SLAB_POINTS = 1 << 19


@dataclass(frozen=True)
class Box:
    """Wavenumbers -K..K along each dimension, 0..K along the last: all modes of a real field.

    Arrays of modes have the dimensions of space last, in the order of the discrete Fourier transform. Along each
    dimension ``sizes`` are the numbers of grid points N of the data, ``lengths`` the periods, ``largest`` K.
    """

    sizes: tuple[int, ...]
    lengths: tuple[float, ...]
    largest: tuple[int, ...]

    @cached_property
    def indices(self) -> tuple[NDArray[np.intp], ...]:
        """Return the integer wavenumbers along each dimension."""
        last = len(self.largest) - 1
        return tuple(
            np.arange(k + 1) if i == last else np.r_[0 : k + 1, -k:0].astype(np.intp)
            for i, k in enumerate(self.largest)
        )

    @cached_property
    def waves(self) -> tuple[Array, ...]:
        """Return the wavenumbers along each dimension, shaped to broadcast over the box."""
        dims = len(self.largest)
        return tuple(
            np.asarray(2 * np.pi / length * index, dtype=float).reshape([-1 if j == i else 1 for j in range(dims)])
            for i, (index, length) in enumerate(zip(self.indices, self.lengths, strict=True))
        )

    @cached_property
    def shells(self) -> NDArray[np.intp]:
        """Return |k| in units of the smallest wavenumber, rounded."""
        radius = np.sqrt(sum(wave**2 for wave in self.waves))
        return np.rint(radius / (2 * np.pi / max(self.lengths))).astype(np.intp)

    @cached_property
    def independent(self) -> NDArray[np.bool_]:
        """Return which modes are not the conjugates of others: where k_last = 0 only half of them."""
        mesh = np.meshgrid(*self.indices, indexing="ij")
        sign = np.zeros(mesh[0].shape)
        for index in (mesh[-1], *mesh[:-1]):
            sign = np.where(sign == 0, np.sign(index), sign)
        return np.asarray(sign >= 0)

    def derivative(self, orders: Sequence[int]) -> Complex:
        """Return the factor (i k)^orders by which a derivative multiplies the modes."""
        factor = np.ones([len(index) for index in self.indices], dtype=complex)
        for wave, order in zip(self.waves, orders, strict=True):
            factor = factor * (1j * wave) ** order
        return factor

    def smaller(self, largest: tuple[int, ...]) -> tuple[Box, tuple[NDArray[np.intp], ...]]:
        """Return a box within this one, and where along each dimension its modes are."""
        box = Box(self.sizes, self.lengths, largest)
        places = []
        for outer, inner in zip(self.indices, box.indices, strict=True):
            position = {int(k): i for i, k in enumerate(outer)}
            places.append(np.array([position[int(k)] for k in inner], dtype=np.intp))
        return box, tuple(places)

    def to_grid(self, modes: Complex, points: Sequence[int]) -> Array:
        """Return the field (..., *points) of modes (..., *box) on a finer or coarser grid."""
        from scipy import fft

        dims, values = len(points), modes
        for i in range(dims - 1):
            axis = i - dims
            shape = list(values.shape)
            shape[axis] = points[i]
            wide = np.zeros(shape, dtype=complex)
            k, before = self.largest[i], (slice(None),) * (values.ndim + axis)
            wide[(*before, slice(0, k + 1))] = values[(*before, slice(0, k + 1))]
            if k:
                wide[(*before, slice(-k, None))] = values[(*before, slice(k + 1, None))]
            values = fft.ifft(wide, axis=axis, overwrite_x=True)
        grid = fft.irfft(values, n=points[-1], axis=-1, overwrite_x=True)
        grid *= np.prod(points) / np.prod(self.sizes)
        return np.asarray(grid)

    def of_grid(self, values: Array) -> Complex:
        """Return the modes (..., *box) of fields (..., *points), scaled as those of the data."""
        from scipy import fft

        dims = len(self.sizes)
        modes = fft.rfft(values, axis=-1)[..., : self.largest[-1] + 1]
        for i in reversed(range(dims - 1)):
            axis = i - dims
            modes = np.take(fft.fft(modes, axis=axis), self.indices[i], axis=axis, mode="wrap")
        return np.asarray(modes * (np.prod(self.sizes) / np.prod(values.shape[-dims:])))


@dataclass(frozen=True)
class Spectra:
    """Low modes of all fields (fields x times x box) and the noise of each field."""

    box: Box
    modes: Complex
    noise: Array


def spectra(data: Field) -> Spectra:
    """Return the modes below a quarter of the grid, and the noise from the band above.

    The variance of white noise is the mean of |y_k|^2 / N over wavenumbers beyond N / 4 (one dimension) or
    those beyond N / 4 along the last dimension and N / 3 along the others; that band must hold no signal.
    """
    from scipy import fft

    dims, sizes, n = len(data.axes), data.shape[:-1], len(data.times)
    box = Box(sizes, _periods(data), tuple(max(size // 4, 1) for size in sizes))
    total = int(np.prod(sizes))
    modes = np.empty((len(data.names), n, *(len(index) for index in box.indices)), dtype=complex)
    noise = np.zeros(len(data.names))
    slab = max(_SLAB_POINTS // total, 1)
    band = _band(sizes)
    for f, values in enumerate(data.values):
        for a in range(0, n, slab):
            part = np.ascontiguousarray(np.moveaxis(values[..., a : a + slab], -1, 0))
            full = np.asarray(fft.rfftn(part, axes=tuple(range(1, dims + 1))))
            times = np.arange(len(full))
            noise[f] += (np.abs(full[np.ix_(times, *band)]) ** 2).sum()
            keep = [np.mod(index, size) for index, size in zip(box.indices, sizes, strict=True)]
            modes[f, a : a + slab] = full[np.ix_(times, *keep)]
    count = n * int(np.prod([len(part) for part in band]))
    return Spectra(box, modes, np.sqrt(noise / (count * total)))


def _band(sizes: Sequence[int]) -> list[NDArray[np.intp]]:
    """Return per dimension the wavenumbers of the band that only noise reaches."""
    outer = [np.arange(size // 3 + 1, size - size // 3) for size in sizes[:-1]]
    return [*outer, np.arange(sizes[-1] // 4 + 1, sizes[-1] // 2)]


def _periods(data: Field) -> tuple[float, ...]:
    if data.missing:
        raise DataError(f"ModalForm: {data.missing} cells are missing; use WeakForm, or fill them in.")
    small = [name for name, size in zip(data.axes, data.shape, strict=False) if size < 16]
    if small:
        raise DataError(f"ModalForm: the dimension {small[0]!r} has fewer than 16 points; use WeakForm.")
    return tuple(float(period) for period in data.periods if period is not None)

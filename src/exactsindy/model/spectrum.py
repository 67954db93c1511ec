"""Fields on a periodic grid in Fourier space: transforms, derivatives and dealiasing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array

Complex = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Real Fourier transforms over the space axes of arrays (..., space axes)."""

    axes: tuple[str, ...]
    shape: tuple[int, ...]
    periods: tuple[float, ...]

    @cached_property
    def _dims(self) -> tuple[int, ...]:
        return tuple(range(-len(self.shape), 0))

    @cached_property
    def _counts(self) -> tuple[Array, ...]:
        """Return per axis the number of waves in the period, ready to be broadcast."""
        d = len(self.shape)
        counts: list[Array] = []
        for i, n in enumerate(self.shape):
            waves = np.fft.rfftfreq(n, 1.0 / n) if i == d - 1 else np.fft.fftfreq(n, 1.0 / n)
            counts.append(waves.astype(np.float64).reshape([-1 if k == i else 1 for k in range(d)]))
        return tuple(counts)

    @cached_property
    def mask(self) -> Array:
        """Return 1 for waves kept by the 2/3 rule, so that products of two do not fold back, else 0."""
        mask = np.ones(())
        for n, count in zip(self.shape, self._counts, strict=True):
            mask = mask * (np.abs(count) < n / 3)
        return np.asarray(mask, dtype=float)

    def symbol(self, axes: Sequence[str]) -> Complex:
        """Return the factor of a spatial derivative; real for even ones."""
        symbol: Complex = np.ones((1,) * len(self.shape))
        for axis, order in Counter(axes).items():
            i = self.axes.index(axis)
            waves = 2 * np.pi / self.periods[i] * self._counts[i]
            if order % 2 == 0:
                symbol = symbol * ((-1) ** (order // 2) * waves**order)
            else:
                # The highest wave of an even grid has no sine partner: its odd derivatives vanish.
                waves = np.where(2 * np.abs(self._counts[i]) == self.shape[i], 0.0, waves)
                symbol = symbol * (1j * (-1) ** (order // 2) * waves**order)
        return symbol

    def forward(self, values: Array) -> Complex:
        """Return the transform."""
        import scipy.fft  # loaded when needed: it costs more than numpy

        return np.asarray(scipy.fft.rfftn(values, axes=self._dims))

    def backward(self, waves: Complex) -> Array:
        """Return the field of a transform."""
        import scipy.fft

        return np.asarray(scipy.fft.irfftn(waves, s=self.shape, axes=self._dims))

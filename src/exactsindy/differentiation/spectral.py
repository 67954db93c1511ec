"""Derivatives of periodic samples by the discrete Fourier transform."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.differentiation.steps import PRINTED, samples, uniform_step
from exactsindy.errors import DataError


@dataclass(frozen=True)
class Spectral:
    """The derivative of the trigonometric polynomial through periodic samples at equal steps.

    The last sample is one step before the end of the period (do not repeat the first sample), so the period
    is the number of samples times the step.

    Parameters
    ----------
    d
        Which derivative.

    Examples
    --------
    >>> x = 2 * np.pi * np.arange(16) / 16
    >>> bool(np.allclose(Spectral()(np.sin(x), x), np.cos(x)))
    True
    """

    d: int = 1

    def __post_init__(self) -> None:
        if not (isinstance(self.d, int) and self.d >= 1):
            raise DataError(f"Spectral(d={self.d!r}): expected an integer >= 1, e.g. 1 for u_x.")

    def __call__(self, x: ArrayLike, t: ArrayLike | float, *, axis: int = 0) -> Array:
        """Return the derivative of ``x`` along ``axis``, whose coordinates (or step) are ``t``."""
        values, times = samples(x, t, axis, 3, "Spectral")
        step = uniform_step(times, PRINTED)
        if step is None:
            cure = "use FiniteDifference, or interpolate to equal steps"
            raise DataError(f"Spectral: the samples are not equally spaced; {cure}.")
        n = len(values)
        waves = (2j * np.pi / (n * step) * np.arange(n // 2 + 1)) ** self.d
        if n % 2 == 0 and self.d % 2 == 1:
            # The highest wave of an even grid has no sine partner: its odd derivatives vanish at the samples.
            waves[-1] = 0.0
        spectrum = np.fft.rfft(values, axis=0) * waves.reshape(-1, *[1] * (values.ndim - 1))
        return np.moveaxis(np.fft.irfft(spectrum, n=n, axis=0), 0, axis)

    def states(self, x: ArrayLike, t: ArrayLike | float, *, axis: int = 0) -> Array:
        """Return the states that belong to the derivative: the samples themselves, as nothing is smoothed."""
        return np.asarray(x, dtype=float)

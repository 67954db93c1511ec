"""Noise that is not white, not normal, or not equal in all states; level as in `add_noise`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from exactsindy.systems import noise_scale

Array = NDArray[np.float64]
Rng = np.random.Generator
# (clean states, level, generator) -> noise
Noise = Callable[[Array, float, Rng], Array]


def white(x: Array, level: float, rng: Rng) -> Array:
    """Return normal noise of one size for all states."""
    return np.asarray(rng.normal(0.0, level * noise_scale(x), x.shape))


def per_state(x: Array, level: float, rng: Rng) -> Array:
    """Return noise relative to the standard deviation of each state."""
    return np.asarray(rng.normal(0.0, 1.0, x.shape) * level * x.std(axis=0))


def heavy(x: Array, level: float, rng: Rng) -> Array:
    """Return noise of Student's t with 3 degrees of freedom, of the usual standard deviation."""
    return np.asarray(rng.standard_t(3, x.shape) / np.sqrt(3) * level * noise_scale(x))


def coloured(correlation: float) -> Noise:
    """Return autoregressive noise of the usual standard deviation."""

    def noise(x: Array, level: float, rng: Rng) -> Array:
        from scipy.signal import lfilter

        fresh = rng.normal(0.0, level * noise_scale(x), x.shape)
        fresh[1:] *= np.sqrt(1 - correlation**2)
        return np.asarray(lfilter([1.0], [1.0, -correlation], fresh, axis=0))

    return noise

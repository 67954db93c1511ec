"""Measurement noise as in the published experiments."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from exactsindy.errors import DataError
from exactsindy.systems.system import Array, Rng


def noise_scale(x: ArrayLike) -> float:
    """Return the mean over the states of each state's root mean square (about zero, not about its mean).

    One scale for all states: noise of 0.2 % has the standard deviation ``0.002 * noise_scale(x)`` in each.

    Examples
    --------
    >>> noise_scale([[3.0, 0.0], [-3.0, 1.0], [3.0, -1.0], [3.0, 0.0]])
    1.8535533905932737
    """
    states = _states(x)
    return float(np.mean(np.sqrt(np.mean(states**2, axis=0))))


def add_noise(x: ArrayLike, fraction: float, rng: Rng, *, scale: float | None = None) -> Array:
    """Return ``x`` plus Gaussian noise of standard deviation ``fraction * scale`` in every entry.

    Parameters
    ----------
    x
        States, shape ``(n, d)``.
    fraction
        Noise level, 0.002 for 0.2 %.
    rng
        The published experiments seed the legacy generator anew with the trial number before the noise:
        ``np.random.RandomState(trial)``.
    scale
        `noise_scale` of ``x`` by default. The Duffing experiment takes it from the two positions only.

    Examples
    --------
    >>> import numpy as np
    >>> add_noise([[1.0], [1.0]], 0.1, np.random.RandomState(1)).round(3).tolist()
    [[1.162], [0.939]]
    """
    states = _states(x)
    if not (np.isfinite(fraction) and fraction >= 0):
        raise DataError(f"fraction: got {fraction!r}; expected a noise level >= 0, e.g. 0.002 for 0.2 %.")
    width = fraction * (noise_scale(states) if scale is None else scale)
    return states + rng.normal(0.0, width, states.shape)


def _states(x: ArrayLike) -> Array:
    states = np.asarray(x, dtype=np.float64)
    if states.ndim != 2 or states.size == 0:
        raise DataError(f"x: got shape {states.shape}; expected a non-empty array (times, states).")
    return states

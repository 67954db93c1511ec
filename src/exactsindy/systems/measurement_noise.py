"""Measurement noise as in the published experiments."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.data import Field
from exactsindy.errors import DataError
from exactsindy.systems.system import Rng


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
    _check_fraction(fraction)
    width = fraction * (noise_scale(states) if scale is None else scale)
    return states + rng.normal(0.0, width, states.shape)


def add_field_noise(data: Field, fraction: float, rng: Rng) -> Field:
    """Return the field with Gaussian noise of ``fraction`` times its size: the mean over time of its spatial RMS.

    Examples
    --------
    >>> clean = Field.from_arrays(np.ones((8, 9)), dims=("x", "t"), coords={"x": 1.0, "t": 1.0})
    >>> noisy = add_field_noise(clean, 0.5, np.random.default_rng(0))
    >>> bool(0.3 < np.std(noisy["u"]) < 0.7)
    True
    """
    _check_fraction(fraction)
    axes = tuple(range(len(data.axes)))
    noisy = {}
    for name, values in zip(data.names, data.values, strict=True):
        size = float(np.mean(np.sqrt(np.mean(values**2, axis=axes))))
        noisy[name] = values + rng.normal(0.0, fraction * size, values.shape)
    periodic = {axis: p for axis, p in zip(data.axes, data.periods, strict=True) if p is not None}
    coords = dict(zip(data.dims, data.coords, strict=True))
    return Field.from_arrays(noisy, dims=data.dims, coords=coords, periodic=periodic)


def _check_fraction(fraction: float) -> None:
    if not (np.isfinite(fraction) and fraction >= 0):
        raise DataError(f"fraction: got {fraction!r}; expected a noise level >= 0, e.g. 0.002 for 0.2 %.")


def _states(x: ArrayLike) -> Array:
    states = np.asarray(x, dtype=np.float64)
    if states.ndim != 2 or states.size == 0:
        raise DataError(f"x: got shape {states.shape}; expected a non-empty array (times, states).")
    return states

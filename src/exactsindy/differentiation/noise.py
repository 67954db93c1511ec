"""How noisy the states are, estimated from the data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Trajectories
from exactsindy.differentiation.penalised import whittaker


def noise_level(data: Trajectories) -> NDArray[np.float64]:
    """Return the standard deviation of white noise in each state, from all trajectories together.

    Each trajectory is smoothed by `whittaker`; what is removed is pooled by degrees of freedom.

    Examples
    --------
    >>> from exactsindy.data import Trajectories
    >>> t = np.linspace(0, 10, 500)
    >>> noisy = np.sin(t) + 0.05 * np.random.default_rng(0).normal(size=500)
    >>> bool(abs(noise_level(Trajectories.from_arrays(noisy, time=t)) - 0.05) < 0.005)
    True
    """
    squares = freedom = np.zeros(len(data.state_names))
    for member in data:
        smooth = whittaker(member.states, member.times)
        squares = squares + smooth.noise**2 * smooth.degrees_of_freedom
        freedom = freedom + smooth.degrees_of_freedom
    return np.asarray(np.sqrt(squares / freedom))

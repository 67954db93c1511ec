"""Samples of known maps for tests."""

from __future__ import annotations

import numpy as np


def logistic(n=400, start=0.3, rate=3.8):
    x = np.empty(n)
    x[0] = start
    for k in range(n - 1):
        x[k + 1] = rate * x[k] * (1 - x[k])
    return x


def henon(n=400, start=(0.1, 0.1), control=None):
    """x[k+1] = 1 - 1.4 x^2 + y + u, y[k+1] = 0.3 x."""
    states = np.empty((n, 2))
    states[0] = start
    for k in range(n - 1):
        x, y = states[k]
        states[k + 1] = 1 - 1.4 * x * x + y + (0.0 if control is None else control[k]), 0.3 * x
    return states


def noisy(states, share, seed=0):
    """Return samples with noise of this share of the spread of each state."""
    rng = np.random.default_rng(seed)
    return states + share * states.std(axis=0) * rng.normal(size=states.shape)

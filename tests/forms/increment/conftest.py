"""The Lorenz system, its clean states, and noisy trajectories of it."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.data import Trajectories
from exactsindy.systems import add_noise, find_system

STEP = 0.006


@pytest.fixture(scope="module")
def lorenz():
    return find_system("lorenz")


@pytest.fixture(scope="module")
def clean(lorenz):
    return lorenz.simulate([1.0, 2.0, 20.0], np.arange(0, 18, STEP))


@pytest.fixture(scope="module")
def noisy(lorenz, clean):
    values = add_noise(clean, 0.05, np.random.default_rng(0))
    return Trajectories.from_arrays(values, time=STEP, states=lorenz.states)

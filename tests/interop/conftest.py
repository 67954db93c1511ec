"""Data shared by the tests of PySINDy's optimizers and ours; PySINDy warns when parts of it are missing."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("pysindy")


def right_hand_side(x):
    return np.column_stack(
        [10 * (x[:, 1] - x[:, 0]), x[:, 0] * (28 - x[:, 2]) - x[:, 1], x[:, 0] * x[:, 1] - 8 / 3 * x[:, 2]]
    )


@pytest.fixture(scope="session")
def lorenz():
    """(x, t) of 1000 samples, by the classical Runge-Kutta method."""
    step, x = 0.01, np.empty((1000, 3))
    x[0] = -8, 8, 27
    for i in range(len(x) - 1):
        a = right_hand_side(x[i : i + 1])
        b = right_hand_side(x[i : i + 1] + step / 2 * a)
        c = right_hand_side(x[i : i + 1] + step / 2 * b)
        d = right_hand_side(x[i : i + 1] + step * c)
        x[i + 1] = x[i] + step / 6 * (a + 2 * b + 2 * c + d)[0]
    return x, step * np.arange(len(x))


@pytest.fixture
def regression():
    """(x, y, coefficients): 80 samples, 7 features of very different size, 3 targets, noise."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(80, 7)) * np.array([1, 10, 0.1, 1, 100, 1, 1])
    coef = np.array([[2.0, 0, 0, 0, 0, 0, 0], [0, 0.3, -20, 0, 0, 0, 0], [0, 0, 0, 1.5, 0.02, 0, -1]])
    return x, x @ coef.T + 0.3 * rng.normal(size=(80, 3)), coef

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactsindy.data import Trajectories
from exactsindy.differentiation import noise_level, whittaker
from exactsindy.differentiation.penalised import CubicSplines
from exactsindy.errors import DataError


def dense_smoother(n, lam):
    """The definition, by least squares on the stacked system."""
    difference = np.diff(np.eye(n), 3, axis=0)
    return np.linalg.solve(np.eye(n) + lam * difference.T @ difference, np.eye(n))


def formula_trace(n, lam):
    return sum(1 / (1 + lam * (2 - 2 * np.cos(np.pi * i / n)) ** 3) for i in range(n))


def noisy(n, seed, sd=0.1):
    t = np.linspace(0, 12, n)
    return np.sin(t) + sd * np.random.default_rng(seed).normal(size=n)


@pytest.mark.parametrize("lam", [0.01, 3.0, 1e4])
def test_the_smooth_is_the_penalised_least_squares_fit(lam):
    y = noisy(60, 0)
    found = whittaker(y, lam=lam)
    smooth = dense_smoother(60, lam) @ y
    np.testing.assert_allclose(found.values, smooth, atol=1e-10)
    trace = formula_trace(60, lam)
    np.testing.assert_allclose(found.trace, trace)
    np.testing.assert_allclose(found.noise, np.sqrt(((y - smooth) ** 2).sum() / (60 - trace)), rtol=1e-9)


def test_lam_is_the_gcv_minimum_of_the_two_grids():
    y = noisy(80, 1)

    def gcv(exponent):
        lam = 10.0**exponent
        rss = ((y - dense_smoother(80, lam) @ y) ** 2).sum()
        return 80 * rss / (80 - formula_trace(80, lam)) ** 2

    coarse = min(np.arange(-2.0, 11.0), key=gcv)
    fine = min(coarse + np.arange(-0.75, 0.8, 0.25), key=gcv)
    np.testing.assert_allclose(np.log10(whittaker(y).lam), fine)


def test_columns_are_smoothed_on_their_own():
    y = np.stack((noisy(200, 2, 0.01), noisy(200, 3, 1.0)), axis=1)
    both = whittaker(y)
    for j in range(2):
        alone = whittaker(y[:, j])
        np.testing.assert_allclose(both.values[:, j], alone.values, atol=1e-10)
        np.testing.assert_allclose(both.noise[j], alone.noise)
    assert both.lam[0] < both.lam[1]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.01, 0.1, 0.5]), st.booleans())
def test_the_noise_level_is_found(seed, sd, uneven):
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0, 12, 600)) if uneven else np.linspace(0, 12, 600)
    y = 3 * np.cos(t) + sd * rng.normal(size=600)
    assert abs(whittaker(y, t).noise / sd - 1) < 0.2


def test_large_offsets_and_large_lam_keep_their_digits():
    y = noisy(300, 4)
    np.testing.assert_allclose(whittaker(y + 1e6, lam=1e9).values - 1e6, whittaker(y, lam=1e9).values, atol=1e-8)
    t = np.arange(300.0)
    np.testing.assert_allclose(whittaker(t**2, lam=1e10).values, t**2, rtol=1e-9, atol=1e-6)


def test_uneven_steps_trace_is_exact():
    rng = np.random.default_rng(5)
    t = np.cumsum(rng.uniform(0.3, 2.0, size=50))
    lam = 7.0
    splines = CubicSplines.at(t)
    basis = sum(splines.weights[:, k, None] * np.eye(splines.size)[splines.start + k] for k in range(4))
    np.testing.assert_allclose(basis.sum(axis=1), 1.0)
    difference = np.diff(np.eye(splines.size), 3, axis=0)
    hat = basis @ np.linalg.solve(basis.T @ basis + lam * difference.T @ difference, basis.T)
    y = rng.normal(size=50)
    found = whittaker(y, t, lam=lam)
    np.testing.assert_allclose(found.trace, np.trace(hat), rtol=1e-9)
    np.testing.assert_allclose(found.values, hat @ y, atol=1e-9)
    np.testing.assert_allclose(splines.moments(y[:, None])[:, 0], basis.T @ y)


def test_uneven_steps_follow_the_curve_not_the_index():
    rng = np.random.default_rng(6)
    t = np.sort(np.concatenate((rng.uniform(0, 1, 300), rng.uniform(1, 10, 100))))
    y = np.sin(2 * t) + 0.05 * rng.normal(size=400)
    assert np.sqrt(((whittaker(y, t).values - np.sin(2 * t)) ** 2).mean()) < 0.02


def test_noise_level_pools_trajectories():
    parts = [np.stack((noisy(n, s, 0.1), noisy(n, s + 10, 0.02)), axis=1) for n, s in ((150, 0), (400, 1), (90, 2))]
    data = Trajectories.from_arrays(parts, time=[np.linspace(0, 12, len(part)) for part in parts])
    np.testing.assert_allclose(noise_level(data), [0.1, 0.02], rtol=0.12)


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (np.ones(5), {}, "whittaker: 5 samples are too few; it needs at least 8."),
        (
            np.array([*range(9), np.nan]),
            {},
            "whittaker: y holds missing or infinite values; split the data at the gaps first.",
        ),
        (
            np.arange(9.0),
            {"lam": 0.0},
            "whittaker(lam=0.0): expected a positive number, or None to choose it by GCV.",
        ),
    ],
)
def test_errors(y, options, message):
    with pytest.raises(DataError, match=re.escape(message)):
        whittaker(y, **options)

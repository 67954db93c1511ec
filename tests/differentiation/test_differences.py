from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import savgol_filter

from exactsindy.differentiation import (
    FiniteDifference,
    PyNumDiff,
    SmoothedFiniteDifference,
    Spectral,
    fornberg_weights,
)
from exactsindy.errors import DataError, MissingDependency


def uneven(n):
    """Steps that alternate between 0.7 and 1.3 of the mean: no smooth change of variable makes them equal."""
    steps = np.where(np.arange(n - 1) % 2, 0.7, 1.3)
    return np.concatenate(([0.0], np.cumsum(steps))) / steps.sum()


def observed_order(method, grid, derivative, coarse):
    errors = []
    for n in (coarse, 2 * coarse):
        t = grid(n)
        errors.append(np.abs(method(np.sin(3 * t), t) - derivative(t)).max())
    return np.log2(errors[0] / errors[1])


DERIVATIVES = {
    1: lambda t: 3 * np.cos(3 * t),
    2: lambda t: -9 * np.sin(3 * t),
    3: lambda t: -27 * np.cos(3 * t),
    4: lambda t: 81 * np.sin(3 * t),
}


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("grid", [lambda n: np.linspace(0, 1, n), uneven], ids=["equal", "uneven"])
def test_the_error_falls_with_the_stated_order(d, order, grid):
    coarse = 40 if d < 4 else 20
    found = observed_order(FiniteDifference(order, d), grid, DERIVATIVES[d], coarse)
    assert order - 0.35 < found < order + 1.2


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 3), st.sampled_from([2, 4]), st.integers(0, 2**32 - 1))
def test_polynomials_are_differentiated_exactly_on_any_grid(d, order, seed):
    rng = np.random.default_rng(seed)
    t = np.cumsum(rng.uniform(0.2, 1.0, size=12))
    polynomial = np.polynomial.Polynomial(rng.normal(size=order + d), domain=[t[0], t[-1]])
    np.testing.assert_allclose(
        FiniteDifference(order, d)(polynomial(t), t), polynomial.deriv(d)(t), rtol=1e-6, atol=1e-6
    )


def test_second_order_is_what_the_paper_used():
    rng = np.random.default_rng(0)
    t = 0.002 * np.arange(500)
    x = rng.normal(size=(500, 3))
    smooth = savgol_filter(x, 9, 3, axis=0)
    method = SmoothedFiniteDifference(window=9)
    np.testing.assert_allclose(method.states(x, t), smooth, atol=1e-13)
    np.testing.assert_allclose(method(x, t), np.gradient(smooth, 0.002, axis=0, edge_order=2), atol=1e-9)
    np.testing.assert_allclose(FiniteDifference()(x, 0.002), np.gradient(x, 0.002, axis=0, edge_order=2), atol=1e-9)


def test_smoothing_runs_along_the_stated_axis():
    x = np.random.default_rng(1).normal(size=(30, 40))
    method = SmoothedFiniteDifference(window=7)
    np.testing.assert_allclose(method(x, 0.1, axis=1), method(x.T, 0.1).T)
    np.testing.assert_allclose(method.states(x, 0.1, axis=-1), savgol_filter(x, 7, 3, axis=1))
    np.testing.assert_allclose(FiniteDifference(4)(x, 0.1, axis=1), FiniteDifference(4)(x.T, 0.1).T)
    assert FiniteDifference().states(x, 0.1) is x


def test_smoothing_on_unequal_steps_uses_the_true_times():
    t = uneven(60)
    cubic = np.stack((t**3 - t, 2 * t**2), axis=1)
    method = SmoothedFiniteDifference(window=9, polynomial=3)
    np.testing.assert_allclose(method.states(cubic, t), cubic, atol=1e-12)
    # Equal steps and steps that are almost equal give almost the same answer, by two different computations.
    x = np.random.default_rng(2).normal(size=(60, 2))
    equal = np.arange(60.0)
    jittered = equal + 0.01 * np.sin(7 * equal)
    np.testing.assert_allclose(method.states(x, jittered), method.states(x, equal), atol=0.05)
    assert np.abs(method.states(x, jittered) - method.states(x, equal)).max() > 0


def test_second_derivatives_of_smoothed_states():
    t = np.linspace(0, 2, 200)
    found = SmoothedFiniteDifference(window=9, d=2)(np.sin(t), t)
    np.testing.assert_allclose(found, -np.sin(t), atol=2e-3)


@pytest.mark.parametrize("n", [32, 33])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_spectral_is_exact_for_waves(n, d):
    x = 2 * np.pi * np.arange(n) / n
    wave = lambda shift: np.sin(3 * x + 1 + shift) * 3**d  # noqa: E731
    np.testing.assert_allclose(Spectral(d)(np.sin(3 * x + 1), x), wave(d * np.pi / 2), atol=1e-10)
    both = np.stack((np.sin(x), np.cos(2 * x)))
    np.testing.assert_allclose(Spectral()(both, x, axis=1), np.stack((np.cos(x), -2 * np.sin(2 * x))), atol=1e-12)
    assert Spectral().states(both, x) is both


def test_odd_derivatives_of_the_highest_wave_vanish():
    zigzag = (-1.0) ** np.arange(16)
    assert not Spectral(1)(zigzag, 1.0).any()
    np.testing.assert_allclose(Spectral(2)(zigzag, 1.0), -(np.pi**2) * zigzag)


def test_fornberg_weights_of_textbook_stencils():
    np.testing.assert_allclose(fornberg_weights([0, 1, 2], 0, 1), [-1.5, 2, -0.5])
    np.testing.assert_allclose(fornberg_weights([-2, -1, 0, 1, 2], 0, 4), [1, -4, 6, -4, 1])
    np.testing.assert_allclose(fornberg_weights([0, 1], 0.25, 0), [0.75, 0.25])


def test_pynumdiff_methods():
    t = np.linspace(0, 2, 100)
    x = np.stack((np.sin(t), np.cos(t)), axis=1)
    expected = np.stack((np.cos(t), -np.sin(t)), axis=1)
    method = PyNumDiff("splinediff", {"degree": 5, "s": 1e-6})
    np.testing.assert_allclose(method(x, t), expected, atol=1e-2)
    np.testing.assert_allclose(method.states(x, t), x, atol=1e-3)
    np.testing.assert_allclose(method(x.T, t, axis=1), method(x, t).T)
    grid = uneven(100)
    np.testing.assert_allclose(method(np.sin(grid), grid), np.cos(grid), atol=1e-2)


def test_a_function_in_the_manner_of_pynumdiff():
    def twice(x, dt):
        return 2 * x, np.gradient(x, dt)

    t = np.linspace(0, 1, 11)
    np.testing.assert_allclose(PyNumDiff(twice)(t, t), 1.0)
    np.testing.assert_allclose(PyNumDiff(twice).states(t, t), 2 * t)


def test_a_missing_pynumdiff_names_the_pip_line(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pynumdiff", None)
    text = "A method of PyNumDiff needs the package pynumdiff: pip install exactsindy[differentiation]"
    with pytest.raises(MissingDependency, match=re.escape(text)):
        PyNumDiff("splinediff")(np.arange(9.0), 1.0)


T = np.arange(20.0)
UNEVEN = T**1.5


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: FiniteDifference(order=3), "FiniteDifference(order=3): expected an even integer >= 2."),
        (lambda: FiniteDifference(d=0), "FiniteDifference(d=0): expected an integer >= 1, e.g. 1 for x'."),
        (
            lambda: FiniteDifference()(T[:5], T),
            "FiniteDifference(order=2, d=1): x has 5 samples along axis 0 but t has shape (20,); expected "
            "one time per "
            "sample, or a step.",
        ),
        (
            lambda: FiniteDifference()(T[:3], T[:3]),
            "FiniteDifference(order=2, d=1): 3 samples are too few; it needs at least 4.",
        ),
        (
            lambda: FiniteDifference()(T, -T),
            "t must increase from sample to sample; sort the data and remove repeated",
        ),
        (
            lambda: SmoothedFiniteDifference(window=8),
            "SmoothedFiniteDifference(window=8): expected an odd integer >= 3.",
        ),
        (
            lambda: SmoothedFiniteDifference(window=5, polynomial=5),
            "SmoothedFiniteDifference(polynomial=5): expected an integer from 0 to window - 1 = 4.",
        ),
        (
            lambda: SmoothedFiniteDifference(window=21)(T, T),
            "SmoothedFiniteDifference(window=21): 20 samples are too few; it needs at least 21.",
        ),
        (lambda: Spectral(d=0), "Spectral(d=0): expected an integer >= 1, e.g. 1 for u_x."),
        (
            lambda: Spectral()(T, UNEVEN),
            "Spectral: the samples are not equally spaced; use FiniteDifference, or interpolate to equal steps.",
        ),
        (
            lambda: PyNumDiff("magic")(T, T),
            "PyNumDiff('magic'): pynumdiff has no such method. Known are butterdiff, ",
        ),
        (
            lambda: PyNumDiff("savgoldiff", {"degree": 2, "window_size": 5, "smoothing_win": 3})(T, UNEVEN),
            "this method needs equally spaced samples; choose one for unequal steps, e.g. 'splinediff'",
        ),
    ],
)
def test_errors(build, message):
    with pytest.raises(DataError, match=re.escape(message)):
        build()

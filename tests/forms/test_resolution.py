"""The estimate of errors that are no measurement noise, against what integrals between samples really err by."""

import numpy as np
import pytest

from exactsindy.data import Trajectories, Trajectory
from exactsindy.forms import integrate_intervals, interval_weights, smooth
from exactsindy.forms.increment.resolution import unresolved_errors


def _pieces(times, states):
    return (Trajectory(times, states, names=tuple(f"x{j}" for j in range(states.shape[1]))),)


@pytest.mark.parametrize("per_period", [25, 50, 100])
def test_errors_between_samples_are_estimated_within_the_safety_factor(per_period):
    t = np.arange(0.0, 40 * np.pi, 2 * np.pi / per_period)
    x, rate = np.sin(t), np.cos(t)
    summed = np.concatenate(
        [[0.0], np.cumsum(np.diff(x) - integrate_intervals(interval_weights(t), rate[:, None])[:, 0])]
    )
    true = np.sqrt(np.mean((summed - summed.mean()) ** 2))
    tolerance = 1e-5 * np.sqrt(np.mean(x**2))
    estimated = np.sqrt(unresolved_errors(_pieces(t, x[:, None]))[0] ** 2 - tolerance**2)
    assert 2.0 * true < estimated < 4.0 * true


def test_simulated_data_keep_the_tolerance_of_their_simulation():
    t = np.linspace(0.0, 10.0, 5001)
    x = np.column_stack([np.sin(t), 1e3 + 100 * np.cos(t)])
    errors = unresolved_errors(_pieces(t, x))
    assert errors == pytest.approx(1e-5 * np.sqrt(np.mean(x**2, axis=0)), rel=1e-3)


@pytest.mark.parametrize("jitter", [0.0, 0.35])
def test_white_noise_adds_a_known_share_on_equal_and_unequal_steps(jitter):
    rng = np.random.default_rng(3)
    t = np.arange(4000.0) + jitter * rng.uniform(-1, 1, 4000)
    errors = unresolved_errors(_pieces(t, rng.normal(0.0, 0.5, (4000, 2))))
    assert errors == pytest.approx(3 * 11 / 720 * np.sqrt(70) * 0.5, rel=0.05)


def test_fourth_differences_of_cubics_vanish_on_unequal_steps():
    t = np.sort(np.random.default_rng(0).uniform(0, 3, 60))
    x = 2 - t + 3 * t**2 - t**3
    assert unresolved_errors(_pieces(t, x[:, None]))[0] == pytest.approx(1e-5 * np.sqrt(np.mean(x**2)), rel=1e-6)


def test_noise_of_rows_is_the_larger_of_measurement_noise_and_unresolved_errors():
    t = np.linspace(0.0, 20.0, 801)
    clean = np.column_stack([np.sin(t), np.cos(t)])
    noisy = clean + 0.01 * np.random.default_rng(1).normal(size=clean.shape)
    for states, dominated in ((clean, True), (noisy, False)):
        smoothed = smooth(Trajectories.from_arrays(states, time=t, states=("x", "v")))
        assert (smoothed.noise == np.maximum(smoothed.measured_noise, smoothed.floor)).all()
        assert (smoothed.floor > smoothed.measured_noise).all() == dominated
        unresolved = np.array(smoothed.unresolved(("v", "x")))
        assert (unresolved == 800).all() if dominated else (unresolved < 0.2 * 800).all()

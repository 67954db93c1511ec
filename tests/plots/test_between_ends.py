"""Fields with ends are simulated between what was measured there."""

from __future__ import annotations

import numpy as np
import pytest

import exactsindy as es
from exactsindy.library import Variables
from exactsindy.plots import replay_field

X, T = np.linspace(0.0, 1.0, 81), np.linspace(0.0, 0.5, 26)
# Heat between ends at 1 and 0, both moved slowly, is known exactly: one wave that decays, on a straight line.
HEAT = 1 - X[:, None] + 0.2 * T + 0.8 * np.exp(-0.1 * (2 * np.pi) ** 2 * T) * np.sin(2 * np.pi * X)[:, None]


def field(values, **more):
    return es.Field.from_arrays(values, dims=("x", "t"), coords={"x": X, "t": T}, **more)


def model(data, **terms):
    return es.Model.from_coefficients({"u_t": terms}, variables=Variables.of(data))


def test_between_moving_ends_the_heat_equation_is_what_is_known():
    data = field(HEAT)
    run, said = replay_field(model(data, **{"u_xx": 0.1, "1": 0.2}), data)
    assert said == "Simulated from the first time on, while the points at the ends of the axis follow the measurement."
    assert np.abs(run["u"] - HEAT).max() < 1e-3
    assert run.field().periods == (None,)


def test_noise_of_the_measurement_does_not_stop_it():
    noisy = HEAT + 0.02 * np.random.default_rng(0).normal(size=HEAT.shape)
    data = field(noisy)
    run, _ = replay_field(model(data, **{"u_xx": 0.1, "1": 0.2}), data)
    assert run.success
    assert np.sqrt(np.mean((run["u"][:, 3:] - HEAT[:, 3:]) ** 2)) < 0.02


def test_a_wrong_law_is_told_to_leave_the_measurement():
    data = field(HEAT)
    run, said = replay_field(model(data, **{"u_xx": 0.1, "1": 5.0}), data)
    assert run.success
    assert "u stays within 40 % of its spread until t = 0." in said


def test_a_law_that_runs_away_ends_in_a_sentence():
    data = field(1.0 + HEAT)
    run, said = replay_field(model(data, **{"u^3": 5.0}), data)
    assert not run.success
    assert len(run.t) < len(T)
    assert said.startswith(("The states ran away", "The largest number of steps"))


@pytest.mark.parametrize("terms", [{"u_xx": 0.1}])
def test_two_axes_with_ends_say_what_is_simulated(terms):
    values = np.broadcast_to(HEAT[:10, None, :], (10, 8, len(T)))
    axes = {"x": X[:10], "y": np.arange(8.0), "t": T}
    data = es.Field.from_arrays(values, dims=("x", "y", "t"), coords=axes)
    run, said = replay_field(model(data, **terms), data)
    assert run is None
    assert said.startswith("Of fields that are not periodic only those on one axis")

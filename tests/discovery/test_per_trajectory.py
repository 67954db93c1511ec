"""The same terms in all trajectories, with coefficients of their own."""

from __future__ import annotations

import numpy as np
import pytest

import exactsindy as es
from exactsindy.discovery.trajectory_coefficients import _function_of
from exactsindy.errors import DataError, ProblemError

T = np.linspace(0.0, 6.0, 121)
RATES = [0.6, 1.0, 1.5]


def logistic(rate, seed):
    """Return x' = rate x (1 - x / 2) from 0.1, with a little noise."""
    x = 2.0 / (1 + 19.0 * np.exp(-rate * T))
    return x[:, None] + 0.002 * np.random.default_rng(seed).normal(size=(len(T), 1))


@pytest.fixture(scope="module")
def found():
    runs = [logistic(rate, seed) for seed, rate in enumerate(RATES)]
    return es.discover_per_trajectory(runs, T, states=("x",), parameters={"r": RATES}, degree=3)


def test_one_support_and_coefficients_of_each_trajectory(found):
    assert found.terms == {"x'": ("x", "x^2")}
    assert found.solutions["x'"].optimal
    for model, rate in zip(found.models, RATES, strict=True):
        np.testing.assert_allclose(model.rows[0].coefficients, [rate, -rate / 2], rtol=0.05)
    assert len(found.coefficients) == 6
    assert all(0 < c.error < 0.1 for c in found.coefficients)
    frame = found.to_frame()
    assert list(frame.columns) == ["trajectory", "r", "equation", "term", "value", "error"]
    text = str(found)
    assert "x': x, x^2 in all 3 trajectories" in text
    assert "Proved: no other 2 of the 4 candidates fit all trajectories better" in text
    assert es.verify(found.solutions["x'"].problem, found.solutions["x'"]).ok


def test_coefficients_as_functions_of_the_parameter(found):
    model = found.against_parameters(2)
    assert [term.name for term in model.rows[0].terms] == ["r x", "r x^2"]
    np.testing.assert_allclose(model.rows[0].coefficients, [1.0, -0.5], rtol=0.03)
    assert model.simulate([0.1], T, parameters={"r": 1.2}).success
    with pytest.raises(DataError, match=r"3 trajectories do not tell the functions 1, r, r\^2, r\^3 apart"):
        found.against_parameters(3)


def test_the_function_of_a_coefficient_needs_a_reason_for_each_term():
    mu = np.linspace(-1, 1, 9)
    columns = np.column_stack([np.ones(9), mu, mu**2])
    noise = 0.01 * np.random.default_rng(0).normal(size=9)
    assert list(_function_of(columns, 2 * mu + noise, np.full(9, 0.01))) == [1]
    assert list(_function_of(columns, 1 + mu**2 + noise, np.full(9, 0.01))) == [0, 2]
    assert list(_function_of(columns, 2 * mu + noise, np.full(9, np.nan))) == [1]
    value, error = _function_of(columns, 2 * mu + noise, np.full(9, 0.01))[1]
    assert abs(value - 2) < 4 * error


def test_errors_say_what_is_missing():
    with pytest.raises(DataError, match="expected at least two trajectories; for one use discover"):
        es.discover_per_trajectory(logistic(1.0, 0), T)
    runs = [logistic(1.0, 0), logistic(2.0, 1)]
    with pytest.raises(ProblemError, match="give one of them"):
        es.discover_per_trajectory(runs, T, degree=2, library=es.Polynomials(2))
    with pytest.raises(DataError, match="the trajectories have no parameters; pass parameters="):
        es.discover_per_trajectory(runs, T, degree=1).against_parameters()

"""Simulation of trajectories: accuracy, early stops, controls, equations of second order."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from exactsindy.errors import DataError, ProblemError
from exactsindy.library import Terms, Variables
from exactsindy.library.parser import parse_term
from exactsindy.library.term import Variable
from exactsindy.model import Equation, Model, SimulationStatus
from exactsindy.model.codegen import scalar_function, vector_function

LORENZ = Model.from_coefficients(
    {
        "x'": {"x": -10.0, "y": 10.0},
        "y'": {"x": 28.0, "x z": -1.0, "y": -1.0},
        "z'": {"x y": 1.0, "z": -8 / 3},
    }
)
DECAY = Model.from_coefficients({"x'": {"x": -1.0}})
METHODS = ("LSODA", "RK45", "RK23", "DOP853", "Radau", "BDF")


def test_lorenz_agrees_with_a_direct_integration() -> None:
    t = np.linspace(0, 2, 501)

    def rhs(_: float, s: np.ndarray) -> list[float]:
        x, y, z = s
        return [10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z]

    direct = solve_ivp(rhs, (0, 2), [-8.0, 7.0, 27.0], method="DOP853", t_eval=t, rtol=1e-13, atol=1e-13)
    run = LORENZ.simulate([-8.0, 7.0, 27.0], t, rtol=1e-12, atol=1e-12)
    assert run.success
    assert run.status is SimulationStatus.COMPLETE
    assert np.abs(run.x - direct.y.T).max() < 1e-8
    assert np.abs(LORENZ.simulate([-8.0, 7.0, 27.0], t).x - direct.y.T).max() < 1e-6


@pytest.mark.parametrize("method", METHODS)
def test_every_method_reaches_every_time(method: str) -> None:
    t = np.array([0.0, 0.1, 0.5, 0.500001, 3.0])
    run = DECAY.simulate([2.0], t, method=method, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(run["x"], 2 * np.exp(-t), rtol=1e-3)
    np.testing.assert_array_equal(run.t, t)
    assert run.evaluations > 0
    assert repr(run) == "Simulation(5 times of x; COMPLETE)"


@pytest.mark.parametrize("method", METHODS)
def test_a_singularity_stops_early_and_keeps_the_states(method: str) -> None:
    model = Model.from_coefficients({"x'": {"x^2": 1.0}})  # x = 1 / (1 - t)
    t = np.linspace(0, 2, 41)
    run = model.simulate([1.0], t, method=method, rtol=1e-6, atol=1e-9, max_abs=1e6)
    assert not run.success
    assert run.status is SimulationStatus.BLOW_UP
    assert "ran away" in run.status.value
    assert len(run.t) == len(run.x)
    assert 0.9 < run.t[-1] < 1.01
    np.testing.assert_allclose(run["x"][:20], 1 / (1 - run.t[:20]), rtol=1e-2)


def test_blow_up_by_overflow_and_by_growth() -> None:
    steep = Model.from_coefficients({"x'": {"exp(x)": 1.0}})
    assert steep.simulate([1.0], [0, 0.1, 1.0]).status is SimulationStatus.BLOW_UP
    growth = Model.from_coefficients({"x'": {"x": 1.0}})
    run = growth.simulate([1.0], np.arange(0.0, 100.0), max_abs=1000.0)
    assert run.status is SimulationStatus.BLOW_UP
    assert run.t[-1] == 6.0  # e^7 > 1000


def test_undefined_terms_have_a_status_of_their_own() -> None:
    root = Model.from_coefficients({"x'": {"1": -1.0, "sqrt(x)": 0.1}})
    run = root.simulate([1.0], np.linspace(0, 5, 51))
    assert run.status is SimulationStatus.UNDEFINED
    assert run.t[-1] == 1.0  # x reaches 0 at 1.07
    assert root.simulate([1.0], [0.0, 1.0, 1.069]).success  # what can be reached is reached
    pole = Model.from_coefficients({"x'": {"1/x": 1.0}})
    assert pole.simulate([0.0], [0.0, 1.0]).status is SimulationStatus.UNDEFINED


@pytest.mark.parametrize("method", ["LSODA", "RK45"])
def test_too_many_steps_is_a_status(method: str) -> None:
    fast = Model.from_coefficients({"x'": {"y": 1e4}, "y'": {"x": -1e4}})
    run = fast.simulate([1.0, 0.0], [0.0, 1e-4, 10.0], method=method, max_steps=200)
    assert run.status is SimulationStatus.TOO_MANY_STEPS
    assert len(run.t) == 2


def test_stiff_equations_are_fast_with_the_default_method() -> None:
    robertson = Model.from_coefficients(
        {
            "x'": {"x": -0.04, "y z": 1e4},
            "y'": {"x": 0.04, "y z": -1e4, "y^2": -3e7},
            "z'": {"y^2": 3e7},
        }
    )
    run = robertson.simulate([1.0, 0.0, 0.0], [0.0, 40.0, 4000.0], rtol=1e-8, atol=1e-12)
    assert run.success
    assert run.evaluations < 5000
    np.testing.assert_allclose(run.x[1], [0.7158, 9.185e-6, 0.2842], rtol=1e-3)
    np.testing.assert_allclose(run.x[2].sum(), 1.0, rtol=1e-6)


def test_second_order_is_simulated_as_a_first_order_system() -> None:
    model = Model.from_coefficients({"x''": {"x": -4.0}, "y'": {"x": 1.0}})
    assert model.phase_names == ("x", "y", "x'")
    t = np.linspace(0, 3, 31)
    run = model.simulate([1.0, 0.0, 0.0], t)
    np.testing.assert_allclose(run["x"], np.cos(2 * t), atol=1e-8)
    np.testing.assert_allclose(run["x'"], -2 * np.sin(2 * t), atol=1e-8)
    np.testing.assert_allclose(run["y"], np.sin(2 * t) / 2, atol=1e-8)
    third = Model.from_coefficients({"x'''": {"1": 6.0}})
    assert third.phase_names == ("x", "x'", "x''")
    np.testing.assert_allclose(third.simulate([0.0, 0.0, 0.0], t)["x"], t**3, atol=1e-8)


def test_measured_velocities_are_the_rates_of_second_order_equations() -> None:
    variables = Variables(("x", "x'"))
    damped = Model.from_coefficients({"x''": {"x": -1.0, "x'": -2.0}}, variables=variables)
    t = np.linspace(0, 5, 51)
    np.testing.assert_allclose(damped.simulate([1.0, 0.0], t)["x"], (1 + t) * np.exp(-t), atol=1e-8)
    np.testing.assert_allclose(damped.predict([[1.0, 0.5]]), [[-2.0]])


def test_simulated_states_can_be_fitted_again() -> None:
    data = LORENZ.simulate([1.0, 2.0, 3.0], np.linspace(0, 1, 1001)).trajectories()
    assert data.state_names == ("x", "y", "z")
    assert LORENZ.score(data) == pytest.approx(1.0, abs=1e-6)


def test_time_dependent_equations() -> None:
    model = Model.from_coefficients({"x'": {"cos(t)": 1.0}})
    t = np.linspace(2, 5, 31)
    np.testing.assert_allclose(model.simulate([np.sin(2.0)], t)["x"], np.sin(t), atol=1e-8)


FORCED = Model.from_coefficients({"x'": {"x": -1.0, "p": 1.0, "q": 1.0}}, controls=("p", "q"))
DRIVEN = Model.from_coefficients({"x'": {"p": 1.0}}, controls=("p",))


def test_controls_as_function_samples_and_pairs() -> None:
    t = np.linspace(0, 6, 601)
    exact = (np.sin(t) - np.cos(t) + np.exp(-t)) / 2 + 2 * (1 - np.exp(-t))
    called = FORCED.simulate([0.0], t, u=lambda s: (np.sin(s), 2.0))
    np.testing.assert_allclose(called["x"], exact, atol=1e-8)
    samples = np.column_stack([np.sin(t), np.full_like(t, 2.0)])
    cubic = FORCED.simulate([0.0], t, u=samples, interpolation="cubic")
    np.testing.assert_allclose(cubic["x"], exact, atol=1e-7)
    linear = FORCED.simulate([0.0], t, u=samples)
    assert linear.success
    assert 1e-8 < np.abs(linear["x"] - exact).max() < 2e-5
    finer = np.linspace(-1, 7, 3001)
    pair = (finer, np.column_stack([np.sin(finer), np.full_like(finer, 2.0)]))
    np.testing.assert_allclose(FORCED.simulate([0.0], t, u=pair, interpolation="cubic")["x"], exact, atol=1e-8)


def test_linear_interpolation_is_exact_for_ramps_and_keeps_the_last_time() -> None:
    t = np.array([0.0, 1.0, 3.0])
    run = DRIVEN.simulate([0.0], t, u=np.array([0.0, 2.0, 2.0]))
    np.testing.assert_allclose(run["x"], [0.0, 1.0, 5.0], atol=1e-8)


def test_switched_controls_hold_the_previous_sample() -> None:
    t = np.array([0.0, 1.0, 2.0, 3.0])
    run = DRIVEN.simulate([0.0], t, u=np.array([1.0, -1.0, 5.0, 0.0]), interpolation="previous", rtol=1e-8)
    np.testing.assert_allclose(run["x"], [0.0, 1.0, 0.0, 5.0], atol=1e-5)


def test_functions_are_not_asked_beyond_the_times() -> None:
    def control(s: float) -> float:
        assert 0.0 <= s <= 1.0
        return s

    np.testing.assert_allclose(DRIVEN.simulate([0.0], [0.0, 0.5, 1.0], u=control)["x"][-1], 0.5, atol=1e-8)


@pytest.mark.parametrize(
    ("u", "message"),
    [
        (None, r"This model has the controls p: pass them as u=\.\.\."),
        (np.ones((3, 2)), r"u has shape \(3, 2\) for 3 times and the controls p; expected \(3, 1\), a pair"),
        (np.ones(10), r"u has shape \(10, 1\) for 3 times"),
        (np.array([0.0, np.nan, 1.0]), "u holds missing or infinite values"),
        (([0.0, 0.5], [1.0, 1.0]), r"covers 0 to 0.5 but the simulation runs from 0 to 2: give the controls for all"),
        (([1.0, 0.0], [1.0, 1.0]), r"u=\(times, samples\): expected at least two increasing times"),
        (lambda s: (1.0, 2.0), r"u\(0\) returned 2 values; expected 1, one for each of p"),
        (lambda s: 1.0 / (s < 0.5), r"u\(.*\) failed: float division by zero"),
        (lambda s: float("nan"), r"u\(0\) returned \[nan\]: expected finite numbers"),
    ],
)
def test_refused_controls(u: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        DRIVEN.simulate([0.0], [0.0, 1.0, 2.0], u=u)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x0": [1.0, 2.0]}, r"x0 has shape \(2,\); expected 1 numbers, one for each of x"),
        ({"x0": [np.nan]}, r"x0 is \[nan\]: expected finite numbers"),
        ({"t": [0.0]}, "t: expected at least two increasing finite times"),
        ({"t": [0.0, 1.0, 1.0]}, "t: expected at least two increasing finite times"),
        ({"method": "Euler"}, "method='Euler': expected one of LSODA, RK45, RK23, DOP853, Radau, BDF"),
        ({"rtol": 0.0}, "rtol=0.0, atol=1e-12: expected 0 < rtol < 1 and atol >= 0"),
        ({"max_abs": 0.5}, "max_abs=0.5: the simulation starts at 1; expected a larger number"),
        ({"u": [1.0, 2.0]}, "u was given, but this model has no controls: leave it out"),
        ({"interpolation": "spline"}, "interpolation='spline': expected one of linear, cubic, previous"),
    ],
)
def test_refused_arguments(arguments: dict, message: str) -> None:
    given = {"x0": [1.0], "t": [0.0, 1.0], **arguments}
    with pytest.raises(DataError, match=message):
        DECAY.simulate(given.pop("x0"), given.pop("t"), **given)


def test_a_state_without_equation_cannot_be_simulated() -> None:
    model = Model.from_coefficients({"x'": {"y": 1.0}}, variables=("x", "y"))
    with pytest.raises(ProblemError, match=r"The states y have no equation.*controls=\('y',\)"):
        model.simulate([1.0, 2.0], [0, 1])
    with pytest.raises(DataError, match=r"simulation\['q'\]: there is no such state; there are x"):
        DECAY.simulate([1.0], [0, 1])["q"]


def test_functions_of_the_user_are_called_and_their_errors_shown() -> None:
    def cube(x: np.ndarray) -> np.ndarray:
        if (x < 0.6).any():
            raise ValueError("too small")
        return x**3

    term = Terms([cube]).bind(("x",)).terms[0]
    good = Model(Variables(("x",)), (Equation(DECAY.rows[0].target, (term,), (-1.0,)),))
    t = np.array([0.0, 0.5])
    np.testing.assert_allclose(good.simulate([1.0], t)["x"], 1 / np.sqrt(1 + 2 * t), rtol=1e-8)
    with pytest.raises(ProblemError, match=r"The function of a term failed at .*: too small"):
        good.simulate([1.0], [0.0, 5.0])


def test_generated_functions_agree_on_numbers_and_arrays() -> None:
    names = (
        "1",
        "x^7 y",
        "x/(1 + y^2)^3",
        "sign(x - y)",
        "cosh(x) sinh(y)",
        "tan(x)^2",
        "1/(x^2 y)",
        "log(x)",
        "cos(t x)",
    )
    variables = Variables(("x", "y"))
    parts = [(0.5 - i, parse_term(name, variables)) for i, name in enumerate(names)]
    inputs = (Variable("x"), Variable("y"), Variable("t"))
    vector = vector_function([parts], inputs)
    scalar = scalar_function([parts, parts], inputs[:2], (), inputs[2])
    x, y, t = np.random.default_rng(0).uniform(0.5, 1.5, size=(3, 40))
    expected = vector(x, y, t)[0]
    direct = [scalar(c, np.array([a, b]), None, 1e9, ValueError)[1] for a, b, c in zip(x, y, t, strict=True)]
    np.testing.assert_allclose(direct, expected, rtol=1e-12)


def test_generated_source_holds_no_text_of_the_user() -> None:
    name = "x); import os; ("
    model = Model.from_coefficients({f"{name}'": {"1": 2.0}})
    np.testing.assert_allclose(model.simulate([0.0], [0.0, 1.0]).x[:, 0], [0.0, 2.0])


def test_names_that_generated_code_does_not_know_are_refused() -> None:
    with pytest.raises(
        ProblemError, match="The equations use 'y', which is not an input of this function; known are x"
    ):
        vector_function([[(1.0, parse_term("y", Variables(("y",))))]], [Variable("x")])

"""Models of maps: written, iterated, scored, exported, saved."""

from __future__ import annotations

import numpy as np
import pytest
from tests.map_cases import henon, logistic

import exactsindy as es
from exactsindy.errors import DataError, ProblemError
from exactsindy.model.simulation import SimulationStatus

HENON = {"x[k+1]": {"1": 1.0, "x^2": -1.4, "y": 1.0}, "y[k+1]": {"x": 0.3}}


@pytest.fixture
def driven():
    terms = {"1": 1.0, "x[k]": -1.0, "x[k]^2": -1.4, "x[k-1]": 0.3, "u": 0.01, "u[k-1]": 0.02}
    return es.Model.from_coefficients({"x[k+1] - x[k]": terms}, controls=("u",))


def test_equations_are_written_with_their_steps_and_read_back(driven, tmp_path):
    text = "x[k+1] - x[k] = 1 - x[k] - 1.4 x[k]^2 + 0.3 x[k-1] + 0.01 u[k] + 0.02 u[k-1]"
    assert driven.equations() == [text]
    driven.save(tmp_path / "map.json")
    again = es.Model.load(tmp_path / "map.json")
    assert again == driven
    assert (again.is_map, again.state_names, again.control_names) == (True, ("x",), ("u",))


def test_latex_mathml_and_sympy_have_indices():
    model = es.Model.from_coefficients({"x1[k+1]": {"x1[k-1]": 2.0, "sin(x1)": 1.0}})
    assert r"x_{1,k+1} &= 2 \, x_{1,k-1} + \sin\left(x_{1,k}\right)" in model.to_latex()
    assert "<mi>k+1</mi>" in model.to_mathml()
    sympy = pytest.importorskip("sympy")
    k, x = sympy.Symbol("k"), sympy.Function("x1")
    (equation,) = model.to_sympy()
    assert equation.lhs == x(k + 1)
    assert equation.rhs == 2.0 * x(k - 1) + 1.0 * sympy.sin(x(k))


def test_iterate_gives_the_samples_of_the_map():
    model = es.Model.from_coefficients(HENON)
    run = model.iterate([0.1, 0.1], 20)
    assert run.success
    assert run.names == ("x", "y")
    np.testing.assert_array_equal(run.t, np.arange(21.0))
    np.testing.assert_allclose(run.x, henon(21), rtol=1e-9)
    np.testing.assert_array_equal(model.iterate({"y": 0.1, "x": 0.1}, 20).x, run.x)


def test_lags_and_controls(driven):
    u = np.cos(np.arange(40.0))
    x = np.zeros(40)
    x[1] = 0.2
    for k in range(1, 39):
        x[k + 1] = 1 - 1.4 * x[k] ** 2 + 0.3 * x[k - 1] + 0.01 * u[k] + 0.02 * u[k - 1]
    for controls in (u, u[:-1], {"u": u}, lambda k: np.cos(k + 1.0)):
        np.testing.assert_allclose(driven.iterate(x[:2], 38, u=controls)["x"], x[1:], rtol=1e-9)


def test_python_code_iterates(driven):
    scope = {}
    exec(driven.to_python("step"), scope)
    u = np.cos(np.arange(40.0))
    run = driven.iterate([0.0, 0.2], 30, u=u[:31])
    rows = scope["iterate"]([0.2, 0.0], 30, np.column_stack([u[1:], u[:-1]]))
    np.testing.assert_allclose(rows[:, 0], run["x"], rtol=1e-12)


def test_what_runs_away_keeps_what_was_reached():
    run = es.Model.from_coefficients({"x[k+1]": {"x^2": 1.0}}).iterate([2.0], 100)
    assert run.status is SimulationStatus.BLOW_UP
    assert run["x"].tolist() == [2.0, 4.0, 16.0, 256.0, 65536.0, 65536.0**2]
    run = es.Model.from_coefficients({"x[k+1]": {"log(x)": 1.0}}).iterate([1.0], 5)
    assert run.status is SimulationStatus.UNDEFINED
    assert len(run.x) == 2


def test_predict_gives_the_next_sample_and_nan_without_history(driven):
    model = es.Model.from_coefficients(HENON)
    x = henon(10)
    np.testing.assert_allclose(model.predict(x)[:-1], x[1:], atol=1e-12)
    assert model.jacobian(x[0]).tolist() == [[-2.8 * x[0, 0], 1.0], [0.3, 0.0]]
    values = driven.predict(x[:, :1], np.zeros(10))
    assert np.isnan(values[0, 0])
    assert np.isfinite(values[1:]).all()
    with pytest.raises(DataError, match="pass the samples in order"):
        driven.predict([0.1], [0.0])


def test_scores_are_of_predictions_some_steps_ahead(driven):
    model = es.Model.from_coefficients({"x[k+1]": {"x": 3.8, "x^2": -3.8}})
    x = logistic(300)
    assert model.score(x) == pytest.approx(1.0)
    noisy = x + 0.01 * np.random.default_rng(0).normal(size=300)
    scores = [model.score(noisy, horizon=h) for h in (1, 3, 8)]
    assert scores[0] > 0.97 > scores[1] > 0.5 > scores[2]
    u = np.cos(np.arange(60.0))
    run = driven.iterate([0.0, 0.2], 58, u=u)
    assert driven.scores(run.x, u=u[1:], horizon=4) == pytest.approx({"x[k+1] - x[k]": 1.0})
    assert model.shares(x) == {"x[k+1]": pytest.approx({"x": 3.8, "x^2": 3.07}, rel=0.02)}


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda m: m.simulate([0.1, 0.1], [0.0, 1.0]), ProblemError, r"this is a map .*; use iterate"),
        (lambda m: m.iterate([0.1, 0.1], 0), DataError, r"iterate\(n=0\): expected a number of steps"),
        (lambda m: m.iterate([0.1], 3), DataError, r"x0 has shape \(1,\); expected 2 numbers"),
        (lambda m: m.iterate([0.1, 0.1], 3, u=[1.0]), DataError, "this model has no controls"),
        (lambda m: m.score(henon(20), horizon=0), DataError, r"score\(horizon=0\)"),
        (lambda m: m.score(henon(20), horizon=30), DataError, "no trajectory has more than 30 samples"),
    ],
)
def test_wrong_calls_say_what_to_do(call, error, text):
    with pytest.raises(error, match=text):
        call(es.Model.from_coefficients(HENON))


def test_flows_are_not_iterated(driven):
    flow = es.Model.from_coefficients({"x'": {"x": -1.0}})
    with pytest.raises(ProblemError, match="use simulate"):
        flow.iterate([1.0], 3)
    with pytest.raises(DataError, match="only maps"):
        flow.score(np.exp(-np.arange(20.0)), 1.0, horizon=2)
    with pytest.raises(ProblemError, match=r"mix derivatives \(x'\) and next samples"):
        es.Model.from_coefficients({"x'": {"x": 1.0}, "y[k+1]": {"y": 1.0}})
    with pytest.raises(DataError, match=r"this map uses 1 earlier samples: expected finite numbers, \(2, 1\)"):
        driven.iterate([0.1], 3, u=np.zeros(4))
    with pytest.raises(DataError, match="one row per step"):
        driven.iterate([0.0, 0.1], 3, u=(np.arange(4.0), np.zeros(4)))


def test_inputs_under_another_name_are_answered_with_the_right_one(driven):
    with pytest.raises(TypeError, match=r"iterate\(\) has no argument 'controls'. Did you mean u=?"):
        driven.iterate([0.1, 0.2], 5, controls=np.zeros(5))
    flow = es.Model.from_coefficients({"x'": {"x": -1.0, "u": 1.0}}, controls=("u",))
    with pytest.raises(TypeError, match=r"simulate\(\) has no argument 'controls'. Did you mean u=?"):
        flow.simulate([1.0], [0.0, 1.0], controls=[0.0, 0.0])

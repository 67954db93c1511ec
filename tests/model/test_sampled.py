"""predict, jacobian and score."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.data import Field, Trajectories, Trajectory
from exactsindy.differentiation import SmoothedFiniteDifference
from exactsindy.errors import DataError, ProblemError
from exactsindy.model import Model

RICH = {
    "x'": {"x": -1.5, "x^2 y": 0.25, "sin(2 x)": 2.0, "x/(1 + y^2)": -3.0, "1": 0.5, "x^5": 1e-3},
    "y'": {"exp(-x)": 1.0, "sqrt(abs(y))": -2.0, "arctan(x + y)": 1.0, "tanh(y)^2": 4.0, "1/(x y)": 0.1},
}


def rich(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    first = -1.5 * x + 0.25 * x**2 * y + 2 * np.sin(2 * x) - 3 * x / (1 + y**2) + 0.5 + 1e-3 * x**5
    second = np.exp(-x) - 2 * np.sqrt(np.abs(y)) + np.arctan(x + y) + 4 * np.tanh(y) ** 2 + 0.1 / (x * y)
    return np.column_stack([first, second])


def test_predict_equals_the_formula() -> None:
    x = np.random.default_rng(0).uniform(0.5, 2.0, size=(50, 2))
    model = Model.from_coefficients(RICH)
    np.testing.assert_allclose(model.predict(x), rich(*x.T), rtol=1e-13)
    np.testing.assert_allclose(model.predict(x[3]), rich(*x.T)[3], rtol=1e-13)
    assert model.predict(x[3]).shape == (2,)


def test_jacobian_equals_differences() -> None:
    x = np.random.default_rng(1).uniform(0.5, 2.0, size=(20, 2))
    model = Model.from_coefficients(RICH)
    h = 1e-6
    steps = [(rich(*(x + h * e).T) - rich(*(x - h * e).T)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(model.jacobian(x), np.stack(steps, axis=2), rtol=1e-6, atol=1e-8)
    assert model.jacobian(x[0]).shape == (2, 2)


def test_controls_and_time_are_inputs() -> None:
    model = Model.from_coefficients({"x'": {"x p": 1.0, "cos(t)": 2.0}}, controls=("p",))
    t = np.array([0.0, 1.0])
    expected = np.array([[3.0 + 2.0], [8.0 + 2 * np.cos(1.0)]])
    np.testing.assert_allclose(model.predict([[1.0], [2.0]], [3.0, 4.0], t=t), expected)
    np.testing.assert_allclose(model.predict([[1.0], [2.0]], [[3.0], [4.0]], t=t), expected)
    np.testing.assert_allclose(model.predict([1.0], [3.0], t=0.0), expected[0])
    np.testing.assert_allclose(model.jacobian([[1.0]], [3.0], t=0.0), [[[3.0]]])
    with pytest.raises(DataError, match=r"This model has the controls p: pass them as u=\.\.\."):
        model.predict([[1.0]], t=0.0)
    with pytest.raises(DataError, match=r"The equations use the time 't': pass it as t=\.\.\."):
        model.predict([[1.0]], [3.0])
    with pytest.raises(DataError, match=r"t has shape \(3,\) for 1 samples; expected one time for each"):
        model.predict([[1.0]], [3.0], t=[0.0, 1.0, 2.0])
    with pytest.raises(DataError, match=r"u has shape \(2, 2\) for 2 samples and 1 controls; expected \(2, 1\)"):
        model.predict([[1.0], [2.0]], np.ones((2, 2)), t=t)


def test_transposed_samples_are_refused() -> None:
    model = Model.from_coefficients(RICH)
    with pytest.raises(DataError, match=r"x has shape \(2, 50\); expected \(samples, 2\), a column for each of x, y"):
        model.predict(np.ones((2, 50)))


def test_undefined_values_are_nan_without_warning() -> None:
    assert np.isnan(Model.from_coefficients({"x'": {"log(x)": 1.0}}).predict([[-1.0]]))


def test_score_of_the_true_model_is_one() -> None:
    model = Model.from_coefficients({"x'": {"y": 1.0}, "y'": {"x": -1.0}})
    t = np.linspace(0, 10, 2001)
    x = np.column_stack([np.sin(t), np.cos(t)])
    assert model.score(x, t) == pytest.approx(1.0, abs=1e-9)
    assert model.score(x, t[1]) == pytest.approx(1.0, abs=1e-9)
    assert model.score(Trajectories([Trajectory(t, x, ("x", "y"))] * 2)) == pytest.approx(1.0, abs=1e-9)
    wrong = Model.from_coefficients({"x'": {"y": 1.0}, "y'": {"x": 1.0}})
    scores = wrong.scores(x, t)
    assert scores["x'"] == pytest.approx(1.0, abs=1e-9)
    assert scores["y'"] < -2.0


def test_score_uses_measured_derivatives_and_smoothing() -> None:
    model = Model.from_coefficients({"x'": {"x": -1.0}})
    t = np.linspace(0, 3, 301)
    x = np.exp(-t)[:, None]
    assert model.score(Trajectory(t, x, ("x",), derivatives=-x)) == 1.0
    noisy = x + 0.01 * np.random.default_rng(0).normal(size=x.shape)
    smooth = SmoothedFiniteDifference(window=41)
    assert model.score(noisy, t) < 0.5 < 0.9 < model.score(noisy, t, differentiation=smooth)


def test_score_of_accelerations() -> None:
    model = Model.from_coefficients({"x''": {"x": -4.0}})
    t = np.linspace(0, 5, 1001)
    assert model.score(np.sin(2 * t)[:, None], t) == pytest.approx(1.0, abs=1e-8)


def test_constant_rates_score_one_or_minus_infinity() -> None:
    t = np.arange(20.0)
    x = Trajectory(t, 2 * t[:, None], ("x",), derivatives=np.full((20, 1), 2.0))
    assert Model.from_coefficients({"x'": {"1": 2.0}}).score(x) == 1.0
    assert Model.from_coefficients({"x'": {"1": 3.0}}).score(x) == -np.inf


def test_score_refuses_other_data() -> None:
    model = Model.from_coefficients({"x'": {"x": -1.0}})
    data = Field.from_arrays(np.ones((8, 9)) + np.arange(9), dims=("x", "t"), coords={"x": 0.1, "t": 0.1})
    with pytest.raises(DataError, match="this model is one of trajectories; a Field was given"):
        model.score(data)
    with pytest.raises(DataError, match=r"score\(x, t\): t is missing"):
        model.score(np.ones((5, 1)))
    with pytest.raises(DataError, match=r"The data have states \('y',\) and controls \(\); this model has \('x',\)"):
        model.score(Trajectory(0.1, np.ones((5, 1)) + np.arange(5)[:, None], ("y",)))
    with pytest.raises(DataError, match="this model is one of fields; pass a Field, not ndarray"):
        Model.from_coefficients({"u_t": {"u": -1.0}}).score(np.ones((5, 1)), 0.1)


def test_methods_for_trajectories_refuse_fields_and_the_other_way_round() -> None:
    pde = Model.from_coefficients({"u_t": {"u_xx": 1.0}})
    ode = Model.from_coefficients({"x'": {"x": 1.0}})
    with pytest.raises(ProblemError, match=r"predict: this is a model of fields \(u_t\); use rhs instead"):
        pde.predict([[1.0]])
    with pytest.raises(ProblemError, match=r"jacobian: this is a model of fields \(u_t\); use rhs instead"):
        pde.jacobian([[1.0]])
    with pytest.raises(ProblemError, match=r"simulate: this is a model of fields \(u_t\); use simulate_field instead"):
        pde.simulate([1.0], [0, 1])
    for call in (ode.rhs, ode.residual, ode.simulate_field):
        with pytest.raises(ProblemError, match=r"this is a model of trajectories \(x'\); use .* instead"):
            call(np.ones(5))

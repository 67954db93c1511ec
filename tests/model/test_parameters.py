"""Models with parameters: predict, simulate, score, export, save."""

from __future__ import annotations

import re

import numpy as np
import pytest

import exactsindy as es
from exactsindy.errors import DataError

HOPF = {"x'": {"mu x": 1.0, "y": -1.0}, "y'": {"x": 1.0, "mu y": 1.0}}
T = np.linspace(0.0, 2.0, 201)


@pytest.fixture(scope="module")
def model():
    return es.Model.from_coefficients(HOPF, parameters=("mu",))


def spiral(mu):
    return np.exp(mu * T)[:, None] * np.column_stack([np.cos(T), np.sin(T)])


def test_predict_takes_parameters_by_name(model):
    assert model.parameter_names == ("mu",)
    np.testing.assert_allclose(model.predict([2.0, 3.0], parameters={"mu": 0.5}), [-2.0, 3.5])
    np.testing.assert_allclose(
        model.predict([[2.0, 3.0], [2.0, 3.0]], parameters={"mu": [0.5, 0]}), [[-2, 3.5], [-3, 2]]
    )
    np.testing.assert_allclose(model.predict({"x": [2.0], "y": [3.0], "mu": [0.5]}), [[-2.0, 3.5]])
    np.testing.assert_allclose(model.jacobian([2.0, 3.0], parameters={"mu": 0.5}), [[0.5, -1], [1, 0.5]])


def test_simulate_beside_controls_and_without(model):
    run = model.simulate([1.0, 0.0], T, parameters={"mu": 0.3})
    np.testing.assert_allclose(run.x, spiral(0.3), atol=1e-8)
    driven = es.Model.from_coefficients({"x'": {"mu u": 1.0}}, controls=("u",), parameters=("mu",))
    np.testing.assert_allclose(driven.simulate([0.0], T, u=lambda t: 2 * t, parameters={"mu": 3.0}).x[-1], 12.0)


def test_scores_and_shares_take_the_parameters_of_each_trajectory(model):
    data = es.Trajectories.from_arrays(
        [spiral(0.3), spiral(-0.5)], time=T, states=("x", "y"), parameters={"mu": [0.3, -0.5], "other": [1, 2]}
    )
    assert model.score(data) > 1 - 1e-9
    assert model.score(spiral(0.3), T, parameters={"mu": 0.3}) > 1 - 1e-9
    assert model.score(spiral(0.3), T, parameters={"mu": 1.3}) < 0.9
    assert set(model.shares(data)["x'"]) == {"mu x", "y"}
    with pytest.raises(DataError, match="Trajectory 0 has no parameter 'mu', which this model has"):
        model.score(data.with_parameters(["other"]))


def test_saved_and_exported(model, tmp_path):
    model.save(tmp_path / "model.json")
    again = es.Model.load(tmp_path / "model.json")
    assert again.parameter_names == ("mu",)
    assert again.equations() == model.equations() == ["x' = mu x - y", "y' = x + mu y"]
    space: dict[str, object] = {}
    exec(model.to_python(), space)  # the text of our own function
    np.testing.assert_allclose(space["rhs"](0.0, np.array([2.0, 3.0]), 0.5), [-2.0, 3.5])
    assert r"\mu \, x" in model.to_latex()
    assert str(model.to_sympy()[0].rhs.subs({"mu": 2, "x": 3, "y": 1})) in ("5", "5.00000000000000")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.predict([1.0, 2.0]), "This model has the parameters mu; 'mu' is missing: parameters={'mu': ...}."),
        (lambda m: m.simulate([1, 2], T, parameters={"mu": [1, 2]}), "'mu' is [1, 2]; expected one finite number."),
        (lambda m: m.simulate([1, 2], T, parameters=3), "parameters=3: expected numbers by name"),
        (lambda m: m.predict([1, 2], parameters={"mu": 1, "nu": 1}), "this model has no parameter 'nu'."),
        (lambda m: m.predict([1, 2], parameters={"mu": [1, 2, 3]}), "'mu' has shape (3,); expected one number"),
    ],
)
def test_errors_name_the_cure(model, call, message):
    with pytest.raises(DataError, match=re.escape(message)):
        call(model)

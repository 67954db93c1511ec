"""Exports give the same numbers as predict."""

from __future__ import annotations

import re

import numpy as np
import pytest

from exactsindy.errors import ProblemError
from exactsindy.library import Terms, Variables
from exactsindy.model import Equation, Model

COEFFICIENTS = {
    "x'": {"x": -1.5, "x^2 y": 0.25, "sin(2 x)": 2.0, "x/(1 + y^2)": -1.0, "1": 1.5e-7},
    "y'": {"exp(-x)": 1.0, "sqrt(abs(y))": -2.0, "arctan(x + y)": 1.0, "1/(x y)": 0.1, "x^5": 1 / 3},
}
MODEL = Model.from_coefficients(COEFFICIENTS)


def points() -> np.ndarray:
    return np.random.default_rng(0).uniform(0.5, 2.0, size=(30, 2))


def run(text: str, name: str = "rhs"):
    scope: dict = {}
    exec(compile(text, "<export>", "exec"), scope)
    return scope[name]


def test_sympy_equations_evaluate_to_predict() -> None:
    sympy = pytest.importorskip("sympy")
    equations = MODEL.to_sympy()
    assert [str(equation.lhs) for equation in equations] == ["x'", "y'"]
    x, y = sympy.symbols("x y")
    assert equations[0].rhs.free_symbols == {x, y}
    values = np.column_stack([sympy.lambdify((x, y), e.rhs, "numpy")(*points().T) for e in equations])
    np.testing.assert_allclose(values, MODEL.predict(points()), rtol=1e-13)
    assert Model.from_coefficients({"x'": {}}).to_sympy()[0].rhs == 0


def test_python_text_evaluates_to_predict_on_arrays_and_numbers() -> None:
    rhs = run(MODEL.to_python("lotka"), "lotka")
    np.testing.assert_allclose(rhs(0.0, points().T).T, MODEL.predict(points()), rtol=1e-14)
    np.testing.assert_allclose(rhs(0.0, points()[4]), MODEL.predict(points()[4]), rtol=1e-14)
    assert "# x' = -1.5 x + 0.25 x^2 y" in MODEL.to_python()


def test_python_text_of_constants_controls_time_and_second_order() -> None:
    model = Model.from_coefficients(
        {"x''": {"x": -4.0, "p": 1.0}, "y'": {"1": 2.0}, "z'": {"cos(t)": 1.0}, "w'": {}}, controls=("p",)
    )
    rhs = run(model.to_python())
    state = np.arange(10.0).reshape(5, 2)
    expected = np.array([state[4], [2.0, 2.0], [np.cos(3.0)] * 2, [0.0, 0.0], -4 * state[0] + 7.0])
    np.testing.assert_allclose(rhs(3.0, state, [7.0]), expected)


def test_python_text_of_fields_is_a_function_of_the_derivatives() -> None:
    rhs = run(Model.from_coefficients({"u_t": {"u u_x": -1.0, "u_xx": 0.1}}).to_python())
    u, u_x, u_xx = np.random.default_rng(1).normal(size=(3, 6))
    np.testing.assert_allclose(rhs(u=u, u_x=u_x, u_xx=u_xx)[0], -u * u_x + 0.1 * u_xx)


@pytest.mark.parametrize("name", ["wind speed (m/s)", "lambda", "np", "r0", "state", "ü", "a\nimport os\nb", "input_0"])
def test_python_text_copes_with_any_name(name: str) -> None:
    model = Model.from_coefficients({f"{name}'": {"y^2": 3.0}, "y'": {"1": 1.0, name: 2.0}})
    text = model.to_python()
    np.testing.assert_allclose(run(text)(0.0, np.array([5.0, 2.0])), [12.0, 11.0])
    assert "\nimport os" not in text


def test_python_text_refuses_what_it_cannot_write() -> None:
    with pytest.raises(ProblemError, match=r"to_python\(name='2x'\): expected a name Python allows"):
        MODEL.to_python("2x")
    term = Terms([("cube", lambda x: x**3)]).bind(("x",)).terms[0]
    model = Model(Variables(("x",)), (Equation(Model.from_coefficients({"x'": {}}).rows[0].target, (term,), (1.0,)),))
    with pytest.raises(ProblemError, match="to_python: the term 'cube' is a Python function of the user"):
        model.to_python()


def latex_value(text: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Evaluate the few LaTeX constructs that terms use."""
    text = text.replace(r"\left|", "abs(").replace(r"\right|", ")").replace(r"\times", "*").replace(r"\,", "*")
    text = text.replace(r"\left(", "(").replace(r"\right)", ")").replace("^", "**")
    while r"\frac" in text:
        text = re.sub(r"\\frac\{((?:[^{}]|\{[^{}]*\})*)\}\{((?:[^{}]|\{[^{}]*\})*)\}", r"((\1)/(\2))", text)
    text = text.replace("{", "(").replace("}", ")").replace("\\", "")
    names = {k: getattr(np, k) for k in ("sin", "exp", "arctan", "sqrt")}
    return eval(text, {**names, "abs": np.abs, "x": x, "y": y})


def test_latex_evaluates_to_predict() -> None:
    text = MODEL.to_latex(digits=None)
    lines = text.removeprefix("\\begin{aligned}\n").removesuffix("\n\\end{aligned}").split(" \\\\\n")
    assert [line.split(" &= ")[0] for line in lines] == [r"\dot{x}", r"\dot{y}"]
    values = np.column_stack([latex_value(line.split(" &= ")[1], *points().T) for line in lines])
    np.testing.assert_allclose(values, MODEL.predict(points()), rtol=1e-14)


def test_latex_left_hand_sides_and_rounding() -> None:
    assert (
        Model.from_coefficients({"x1''": {"x1": -2 / 3}}).to_latex(3).splitlines()[1]
        == r"\ddot{x_{1}} &= -0.667 \, x_{1}"
    )
    assert Model.from_coefficients({"u_t": {"u_xx": 1.0}}).to_latex().splitlines()[1] == "u_{t} &= u_{xx}"
    assert (
        Model.from_coefficients({"x''''": {"1": -2e-9}}).to_latex().splitlines()[1] == r"x^{(4)} &= -2 \times 10^{-9}"
    )

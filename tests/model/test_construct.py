"""Models from coefficients and from solutions: names, text, table, standard errors."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from exactsindy.data import Target
from exactsindy.errors import ProblemError
from exactsindy.library import Polynomials, Term, Terms, Variables
from exactsindy.model import Equation, Model
from exactsindy.problem import Problem

LORENZ = {
    "x'": {"x": -10.0, "y": 10.0},
    "y'": {"x": 28.0, "x z": -1.0, "y": -1.0},
    "z'": {"x y": 1.0, "z": -8 / 3},
}


def solution(problem: Problem, support: list[list[int]], ridge: float = 0.0) -> SimpleNamespace:
    """Least squares on given supports, through NumPy only: what a Solution offers a model."""
    coef = np.zeros((len(support), len(problem.terms)))
    for i, chosen in enumerate(support):
        block, j = problem.locate(i)
        columns = list(problem.columns(block))
        own = [columns.index(c) for c in chosen]
        factor = np.vstack([block.theta_factor[:, own], np.sqrt(ridge) * np.eye(len(own))])
        z = np.concatenate([block.target(j)[0], np.zeros(len(own))])
        coef[i, chosen] = np.linalg.lstsq(factor, z, rcond=None)[0]
    return offered(problem, coef, [tuple(s) for s in support], np.full(coef.shape, ridge))


def offered(problem: Problem, coef: object, support: object, ridge: np.ndarray) -> SimpleNamespace:
    k = tuple(map(len, support))
    return SimpleNamespace(
        problem=problem, coef=coef, support=support, ridge=ridge, k=k, constraints=(), certificates=()
    )


def regression(n: int = 400, noise: float = 0.1, seed: int = 0) -> tuple[np.ndarray, np.ndarray, Problem]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    features = Polynomials(2).bind(("x", "y"))
    theta = features.evaluate(x)
    targets = np.column_stack([-2 * x[:, 0] + 3 * x[:, 0] * x[:, 1], x[:, 1] ** 2])
    targets += noise * rng.normal(size=targets.shape)
    return theta, targets, Problem.from_arrays(theta, targets, names=features.terms, target_names=["x'", "y'"])


def test_reads_well() -> None:
    model = Model.from_coefficients(LORENZ)
    assert str(model) == "x' = -10 x + 10 y\ny' = 28 x - x z - y\nz' = x y - 2.66667 z"
    assert model.equations(digits=None)[2] == "z' = x y - 2.6666666666666665 z"
    assert repr(model).startswith("Model(x' = -10 x + 10 y; ")
    assert (model.state_names, model.target_names) == (("x", "y", "z"), ("x'", "y'", "z'"))


def test_small_coefficients_are_not_rounded_to_zero() -> None:
    model = Model.from_coefficients({"x": {"1": 1.23456789e-9, "x": 1.0000000001, "1/x": 2.0, "sin(2 x)": -1.0}})
    assert str(model) == "x' = 1.23457e-09 + x + 2/x - sin(2 x)"


def test_an_equation_without_terms_is_zero() -> None:
    model = Model.from_coefficients({"x'": {}, "y'": {"x": 1.0}})
    assert model.equations() == ["x' = 0", "y' = x"]
    np.testing.assert_array_equal(model.predict([[2.0, 3.0]]), [[0.0, 2.0]])


def test_table_is_labelled() -> None:
    table = Model.from_coefficients(LORENZ).coefficients
    assert table.values.shape == (3, 5)
    assert table["y", "x z"] == -1.0
    assert table["y'", "x y"] == 0.0
    assert table.to_dict() == {target: dict(row) for target, row in LORENZ.items()}
    np.testing.assert_array_equal(np.asarray(table), table.values)
    assert repr(table) == "CoefficientTable(3 equations; 5 terms)"
    with pytest.raises(ValueError, match="read-only"):
        table.values[0, 0] = 1.0
    with pytest.raises(
        ProblemError, match=r"coefficients\[..., 'x\^9'\]: no equation has this term; there are x, y, x z"
    ):
        table["x", "x^9"]


def test_from_solution_takes_library_terms_and_their_coefficients() -> None:
    _, _, problem = regression()
    model = Model.from_solution(solution(problem, [[1, 4], [5]]))
    assert [[term.name for term in row.terms] for row in model.rows] == [["x", "x y"], ["y^2"]]
    assert model.coefficients["x", "x y"] == pytest.approx(3.0, abs=0.05)
    assert model.fingerprint == problem.fingerprint
    assert (model.state_names, model.control_names) == (("x", "y"), ())


def test_standard_errors_are_those_of_least_squares() -> None:
    theta, targets, problem = regression()
    model = Model.from_solution(solution(problem, [[1, 4], [5]]))
    columns = theta[:, [1, 4]]
    residual = targets[:, 0] - columns @ np.linalg.lstsq(columns, targets[:, 0], rcond=None)[0]
    expected = np.sqrt(np.diag(np.linalg.inv(columns.T @ columns)) * (residual @ residual) / (len(theta) - 2))
    np.testing.assert_allclose(model.rows[0].standard_errors, expected, rtol=1e-10)
    assert "standard error" in str(model.coefficients)
    assert Model.from_solution(solution(problem, [[1], [5]]), standard_errors=False).rows[0].standard_errors is None


def test_standard_errors_cover_the_truth() -> None:
    inside = 0
    for seed in range(200):
        _, _, problem = regression(n=60, noise=0.5, seed=seed)
        row = Model.from_solution(solution(problem, [[1, 4], [5]])).rows[0]
        inside += abs(row.coefficients[0] + 2) < row.standard_errors[0]
    assert 0.55 < inside / 200 < 0.80  # 68 % in the long run


def test_standard_errors_with_ridge_are_those_of_the_estimator() -> None:
    theta, targets, problem = regression()
    model = Model.from_solution(solution(problem, [[1, 4], [5]], ridge=50.0))
    columns = theta[:, [1, 4]]
    inverse = np.linalg.inv(columns.T @ columns + 50.0 * np.eye(2))
    xi = inverse @ columns.T @ targets[:, 0]
    sigma2 = np.sum((targets[:, 0] - columns @ xi) ** 2) / (len(theta) - 2)
    expected = np.sqrt(np.diag(sigma2 * inverse @ columns.T @ columns @ inverse))
    np.testing.assert_allclose(model.rows[0].standard_errors, expected, rtol=1e-9)


def test_no_standard_errors_where_none_exist() -> None:
    theta = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    dependent = Problem.from_arrays(theta, [1.0, 2.0, 4.0], names=["x", "y"], target_names=["x'"])
    short = Problem.from_arrays(theta[:1], [1.0], names=["x", "y"], target_names=["x'"])
    variables = Variables(("x",), controls=("y",))
    for problem in (dependent, short):
        model = Model.from_solution(offered(problem, [[1.0, 0.0]], [(0, 1)], np.zeros((1, 2))), variables=variables)
        assert model.rows[0].standard_errors is None


def test_equations_with_libraries_of_their_own() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(50, 2))
    first = Problem.from_arrays(x[:, [1]], x[:, 1], names=[Term.variable("y")], target_names=["x'"])
    second = Problem.from_arrays(
        x, x[:, 0] + 0.1 * rng.normal(size=50), names=[Term.variable("x"), Term.variable("y")], target_names=["y'"]
    )
    problem = Problem.from_blocks([first, second])
    model = Model.from_solution(solution(problem, [[0], [1]]))
    assert [row.terms[0].name for row in model.rows] == ["y", "x"]
    assert model.rows[1].standard_errors[0] == pytest.approx(0.1 / np.linalg.norm(x[:, 0]), rel=0.3)


def test_plain_names_are_parsed() -> None:
    problem = Problem.from_arrays(np.eye(3), [1.0, 2.0, 3.0], names=["x", "x^2", "sin(x)"], target_names=["x''"])
    model = Model.from_solution(solution(problem, [[0, 2]]))
    assert str(model) == "x'' = x + 3 sin(x)"
    unnamed = Problem.from_arrays(np.eye(2), [1.0, 2.0])
    with pytest.raises(ProblemError, match=r"unknown name 'theta0'\. Known are y0, t\. Inputs that have no equation"):
        Model.from_solution(solution(unnamed, [[0]]))


def test_what_has_no_equation_is_a_control_unless_said_otherwise() -> None:
    terms = Polynomials(1).bind(Variables(("x",), ("p", "q"))).terms
    problem = Problem.from_arrays(np.eye(4), np.arange(4.0), names=terms, target_names=["x'"])
    assert Model.from_solution(solution(problem, [[1, 2]])).control_names == ("p", "q")
    said = Model.from_solution(solution(problem, [[1, 2]]), variables=Variables(("x", "q"), ("p",)))
    assert (said.state_names, said.control_names) == (("x", "q"), ("p",))


def test_certificates_come_along() -> None:
    _, _, problem = regression()
    solver = pytest.importorskip("exactsindy.solver")
    try:
        solved = solver.solve(problem, 2)
    except ImportError:
        pytest.skip("the compiled search is not built")
    model = Model.from_solution(solved)
    assert model.rows[0].terms[1].name == "x y"
    assert [certificate.target for certificate in model.certificates] == ["x'", "y'"]


def test_functions_of_the_user_work() -> None:
    features = Terms([("cube", lambda x: x**3), "x y"]).bind(("x", "y"))
    problem = Problem.from_arrays(np.eye(2), [2.0, 1.0], names=features.terms, target_names=["x'"])
    model = Model.from_solution(solution(problem, [[0, 1]]), variables=("x", "y"))
    np.testing.assert_allclose(model.predict([[2.0, 3.0]]), [[2 * 8 + 6.0]])
    np.testing.assert_allclose(model.jacobian([[2.0, 3.0]]), [[[2 * 12 + 3.0, 2.0]]], rtol=1e-8)


@pytest.mark.parametrize(
    ("coefficients", "message"),
    [
        ({}, r"from_coefficients: got \{\}; expected equations such as"),
        ({"x'": 3.0}, r"the equation \"x'\" is 3.0; expected terms with their coefficients"),
        ({"x'": {"x": 1.0}, "u_t": {"u": 1.0}}, r"mix trajectories \(x'\) and fields \(u_t\): make one model of each"),
        ({"x'": {"x": 1.0}, "x''": {"x": 1.0}}, "Two equations are for the state 'x': expected one equation per state"),
        ({"x'": {"q": 1.0}}, r"unknown name 'q'.* named by controls=\(\.\.\.\), parameters=\(\.\.\.\) or"),
        ({"x'": {"x": float("nan")}}, r"The coefficient of 'x' in \"x'\" is nan: expected a finite number"),
        ({"x'": {"x": 1.0, "x ": 2.0}}, r"The term 'x' stands twice in the equation \"x'\": add up its coefficients"),
        ({"x'": {"2 x": 1.0}}, "a term carries no number in front"),
        ({"x'": {"__import__('os')": 1.0}}, "unknown function '__import__'|unknown name"),
    ],
)
def test_refused_coefficients(coefficients: dict, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        Model.from_coefficients(coefficients)


def test_an_equation_needs_one_coefficient_per_term() -> None:
    with pytest.raises(ProblemError, match=r"has 1 terms but 2 coefficients and 1 standard errors"):
        Equation(Target("x"), (Term.variable("x"),), (1.0, 2.0))


def test_axes_of_fields_are_read_off_the_terms() -> None:
    model = Model.from_coefficients({"u_t": {"u_xx": 1.0, "v": 2.0}, "v_t": {"v_yy": 1.0}})
    assert model.variables.axes == ("x", "y")
    assert model.is_field
    named = Model.from_coefficients({"u_t": {"u_ss": 1.0}}, variables=Variables(("u",), axes=("s",)))
    assert str(named) == "u_t = u_ss"

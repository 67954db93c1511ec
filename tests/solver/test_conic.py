"""Quadratic and semidefinite constraints: against enumeration with the same cones, and what is refused."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import exactsindy as es
from exactsindy.constraints import Stacked, compile_rules
from exactsindy.constraints.convex import triangle
from exactsindy.solver.backends.clarabel_node import Conic, matrix_of, solve_node

pytest.importorskip("clarabel")
minimize = pytest.importorskip("scipy.optimize").minimize


def two_states(seed=0, n=40, noise=0.5):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    dx = x @ np.array([[-0.1, 1.0], [-1.0, 0.02]]).T + noise * rng.normal(size=(n, 2))
    features = es.Polynomials(1).bind(("x", "y"))
    return es.Problem.from_arrays(features.evaluate(x), dx, names=features.terms, target_names=["x'", "y'"])


def test_a_stable_linear_part():
    problem = two_states()
    free = es.solve(problem, 2)
    assert linear_part(free).max() > 0  # it puts energy in
    solution = es.solve(problem, 2, constraints=[es.constraints.Dissipative(0.05)])
    assert solution.optimal
    assert linear_part(solution).max() <= -0.05 + 1e-9
    checked = es.verify(problem, solution)
    assert checked.ok
    assert checked.checks[0].stationary is True
    assert checked.unchecked == ("optimality",)
    assert "other supports under Quadratic and semidefinite constraints are not looked at" in str(checked)
    bent = solution.coef.copy()
    bent[1, 2] += 0.2
    failures = es.verify(problem, replace(solution, coef=bent)).failures
    assert any("Dissipative" in text for text in failures)


def linear_part(solution):
    a = solution.coef[:, 1:3]
    return np.linalg.eigvalsh((a + a.T) / 2)


@pytest.mark.parametrize("seed", range(3))
def test_quadratic_against_every_support_by_another_solver(seed):
    problem = two_states(seed)
    a, b = ("x'", "y"), ("y'", "x")
    q = {(a, a): 1.0, (b, b): 2.0, (a, b): 1.0}
    constraints = [es.constraints.Quadratic(q, 0.8, linear={a: 0.3}), es.constraints.Linear({a: 1, b: 1}, ">=", -0.2)]
    solution = es.solve(problem, 2, constraints=constraints)
    assert solution.optimal
    best = np.inf
    choices = [c for k in range(3) for c in itertools.combinations(range(3), k)]
    for first, second in itertools.product(choices, choices):
        used = [*first, *(3 + j for j in second)]

        def full(x, used=used):
            coef = np.zeros(6)
            coef[used] = x
            return coef

        def objective(x, full=full):
            return float(problem.rss(full(x).reshape(2, 3)).sum())

        def inside(x, full=full):
            c = full(x)
            return [0.8 - c[2] ** 2 - 2 * c[4] ** 2 - c[2] * c[4] - 0.3 * c[2], c[2] + c[4] + 0.2]

        if used:
            found = minimize(objective, np.zeros(len(used)), constraints={"type": "ineq", "fun": inside}, tol=1e-12)
            best = min(best, found.fun)
    assert np.isclose(solution.objective[0], best, rtol=1e-5)
    assert solution.lower_bound[0] <= best * (1 + 1e-7)


def test_the_bound_is_below_every_feasible_point():
    """Points that satisfy the cone have values above the bound, whatever Clarabel reported."""
    problem = two_states(5)
    rules = compile_rules(problem, [es.constraints.Dissipative(0.1)])
    stacked = Stacked.of(rules, [0, 1], np.zeros((2, 3)), [1.0, 1.0], [])
    conic = Conic.of(stacked, rules.convex)
    result = solve_node(conic, np.arange(6), 1e3)
    assert result.bound <= result.value
    assert result.bound >= result.value * (1 - 1e-8)
    rng = np.random.default_rng(0)
    for _ in range(200):
        a = rng.normal(size=(2, 2))
        a -= (np.linalg.eigvalsh((a + a.T) / 2).max() + 0.1) * np.eye(2)
        x = np.column_stack([rng.normal(size=2), a]).ravel()
        assert np.sum((stacked.target - stacked.matrix @ x) ** 2) >= result.bound


def test_triangles():
    matrix = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 5.0], [3.0, 5.0, 6.0]])
    assert np.allclose(matrix_of(triangle(matrix), 3), matrix)
    assert np.isclose(triangle(matrix) @ triangle(matrix), np.sum(matrix**2))


def test_infeasible_is_proved_and_named():
    problem = two_states()
    a = ("x'", "x")
    solution = es.solve(
        problem, 1, constraints=[es.constraints.Quadratic({(a, a): 1}, -1), es.constraints.Forbid("y'", "1")]
    )
    assert es.Status.INFEASIBLE in solution.status
    (clash,) = solution.conflict  # alone it cannot hold: neither Forbid nor the number of terms is to blame
    assert clash.startswith("Quadratic")
    checked = es.verify(problem, solution)
    assert checked.ok
    assert "infeasibility" in checked.unchecked
    found = checked.checks[solution.status.index(es.Status.INFEASIBLE)]
    assert (found.feasible, found.objective, found.stationary, found.bound, found.optimal) == (None,) * 5
    assert "infeasible not checked" in str(found)


@pytest.mark.parametrize(
    "constraint, text",
    [
        (
            es.constraints.Quadratic({(("x'", "x"), ("y'", "y")): 1}, 1),
            "the quadratic form is not convex (it has the eigenvalue -0.5)",
        ),
        (
            es.constraints.PositiveSemidefinite(np.eye(2), {("x'", "x"): np.eye(3)}),
            "a matrix has shape (3, 3): expected (2, 2).",
        ),
        (es.constraints.PositiveSemidefinite([[0, 1], [0, 0]], {}), "a matrix is not symmetric."),
    ],
)
def test_errors(constraint, text):
    with pytest.raises(es.errors.ConstraintError) as caught:
        compile_rules(two_states(), [constraint])
    assert text in str(caught.value)


def test_what_cones_do_not_go_with():
    problem = two_states()
    constraints = [es.constraints.Dissipative()]
    for call in (
        lambda: es.solve_path(problem, 1, constraints=constraints),
        lambda: es.solve_pool(problem, 1, count=1, constraints=constraints),
        lambda: es.refit(problem, [["x"], ["y"]], constraints=constraints),
    ):
        with pytest.raises(es.errors.ConstraintError, match="semidefinite constraints: use solve"):
            call()
    with pytest.raises(es.errors.SolverError, match="cannot be combined with SemiContinuous"):
        es.solve(problem, 1, constraints=[*constraints, es.constraints.SemiContinuous("x'", "x", 0.5)])

"""`verify` says what its findings are about: a true claim about few supports must not pass for one about all."""

from __future__ import annotations

import numpy as np

import exactsindy as es


def lines(problem, solution):
    result = es.verify(problem, solution)
    assert result.ok
    return str(result).splitlines()[1:]


def test_a_limit_on_coefficients_that_hides_the_best_support_is_named():
    rng = np.random.default_rng(0)
    first = rng.normal(size=60)
    columns = [first, first + 0.3 * rng.normal(size=60), *rng.normal(size=(4, 60))]
    target = 10 * columns[0] - 10 * columns[1]
    problem = es.Problem.from_arrays(np.column_stack(columns), target, target_names=["y'"])
    best = es.solve(problem, 2)
    assert lines(problem, best)[0].startswith("y': feasible")
    hidden = es.solve(problem, 2, settings=es.Settings(coefficient_limit=2.0))
    assert hidden.optimal
    assert hidden.objective[0] > 1e4 * best.objective[0]
    assert lines(problem, hidden)[0].startswith("y' (only coefficients up to 2.0 |y| / |a_j|): feasible")


def test_constraints_ridge_and_weights_are_named():
    rng = np.random.default_rng(1)
    theta = rng.normal(size=(40, 5))
    problem = es.Problem.from_arrays(theta, theta[:, :2] + 0.1 * rng.normal(size=(40, 2)), target_names=["x'", "y'"])
    first, second = lines(problem, es.solve(problem, 2, constraints=[es.constraints.Forbid("x'", "theta0")], ridge=0.1))
    assert first.startswith("x' (under Forbid(equation=\"x'\", term='theta0'); ridge weights 0.1): ")
    assert second.startswith("y' (ridge weights 0.1): ")
    (line,) = lines(problem, es.solve(problem, es.Total(3, weights=[1, 2.5])))
    assert line.startswith("x', y' (equations weighted by 1.0, 2.5): ")
    (line,) = lines(problem, es.solve(problem, es.Total(3, caps=[1, 3])))
    assert line.startswith("x', y' (at most 1, 3 terms each): ")


def test_many_or_long_constraints_are_cut_short():
    rng = np.random.default_rng(2)
    theta = rng.normal(size=(40, 8))
    problem = es.Problem.from_arrays(theta, theta[:, 0], target_names=["x'"])
    many = [f"x': theta{j} <= {5 + j}" for j in range(7)]
    (line,) = lines(problem, es.solve(problem, 2, constraints=many))
    assert line.startswith("x' (under x': theta0 <= 5, ")
    assert "theta4 <= 9, and 2 more): " in line
    whole = " + ".join(f"{j + 1}.25 theta{j}" for j in range(8))
    (line,) = lines(problem, es.solve(problem, 2, constraints=[f"x': {whole} <= 50"]))
    assert "...): " in line

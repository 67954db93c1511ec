"""Significance and outliers against brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import exactsindy as es


def rss(theta, y):
    return (
        float(np.sum((y - theta @ np.linalg.lstsq(theta, y, rcond=None)[0]) ** 2)) if theta.shape[1] else float(y @ y)
    )


def best_significant(theta, y, k, t):
    found = (rss(theta[:, []], y), ())
    for size in range(1, k + 1):
        for support in itertools.combinations(range(theta.shape[1]), size):
            value = rss(theta[:, support], y)
            drops = [rss(np.delete(theta[:, support], i, axis=1), y) - value for i in range(size)]
            if min(drops) * (len(y) - size) / value >= t**2:
                found = min(found, (value, support))
    return found


@pytest.mark.parametrize("seed", range(10))
def test_significant_is_the_best_of_the_significant(seed):
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=(25, 6)) + 0.5 * rng.normal(size=(25, 1))
    y = theta[:, :2] @ [1.0, 0.3] + 0.7 * rng.normal(size=25)
    problem = es.Problem.from_arrays(theta, y)
    for t in (1.0, 2.5, 4.0):
        value, support = best_significant(theta, y, 3, t)
        solution = es.solve(problem, 3, constraints=[es.constraints.Significant(t)])
        assert solution.optimal
        assert solution.support == (support,)
        assert np.isclose(solution.objective[0], value)


def test_significance_of_constrained_fits():
    rng = np.random.default_rng(1)
    theta = rng.normal(size=(40, 4))
    problem = es.Problem.from_arrays(
        theta, theta[:, 0] + 0.3 * rng.normal(size=40), names=list("abcd"), target_names=["x'"]
    )
    solution = es.solve(problem, 3, constraints=[es.constraints.Significant(3), es.constraints.Fixed("x'", "b", 0.001)])
    assert supports(solution, problem) == ["a", "b"]  # a coefficient the constraints need counts as significant
    checked = es.verify(problem, solution)
    assert checked.ok
    assert checked.unchecked == ()
    path = es.solve_path(problem, 2, constraints=[es.constraints.Significant(3)])
    assert [supports(s, problem) for s in path] == [[], ["a"], ["a"]]


def supports(solution, problem):
    return [problem.names[j] for j in solution.support[0]]


def test_what_significance_does_not_take():
    rng = np.random.default_rng(2)
    problem = es.Problem.from_arrays(rng.normal(size=(20, 3)), rng.normal(size=(20, 2)), target_names=["x'", "y'"])
    with pytest.raises(es.errors.ConstraintError, match="Significant is for equations that are solved apart"):
        es.solve(problem, es.Total(2), constraints=[es.constraints.Significant(2)])
    with pytest.raises(es.errors.ConstraintError, match="solve_pool takes no Significant, Quadratic"):
        es.solve_pool(problem, 2, count=2, constraints=[es.constraints.Significant(2)])
    with pytest.raises(es.errors.SolverError, match="backend='enumerate' takes no Significant"):
        es.solve(problem, 2, constraints=[es.constraints.Significant(2)], backend="enumerate")
    with pytest.raises(es.errors.ConstraintError, match="t=0: expected a number > 0"):
        es.solve(problem, 2, constraints=[es.constraints.Significant(0)])


@pytest.mark.parametrize("seed", range(4))
def test_outliers_against_all_sets_of_rows(seed):
    rng = np.random.default_rng(seed)
    n, terms, rows = 12, 2, 2
    theta = rng.normal(size=(n, 4))
    y = theta[:, [0, 2]] @ [1.0, -1.0] + 0.2 * rng.normal(size=n)
    y[rng.choice(n, 2, replace=False)] += rng.normal(size=2) * 3
    expected = min(
        rss(np.delete(theta[:, support], out, axis=0), np.delete(y, out))
        for size in range(terms + 1)
        for support in itertools.combinations(range(4), size)
        for count in range(rows + 1)
        for out in map(list, itertools.combinations(range(n), count))
    )
    problem = es.constraints.with_row_terms(theta, y)
    solution = es.solve(problem, terms + rows, constraints=[es.constraints.Outliers(rows, terms)])
    assert solution.optimal
    assert np.isclose(solution.objective[0], expected)


def test_errors_about_rows():
    problem = es.Problem.from_arrays(np.eye(3), np.ones(3))
    with pytest.raises(
        es.errors.ConstraintError, match="the problem has no terms of rows: build it with with_row_terms"
    ):
        es.solve(problem, 2, constraints=[es.constraints.Outliers(1, 1)])
    with pytest.raises(es.errors.ConstraintError, match="theta has 1 dimensions: expected 2"):
        es.constraints.with_row_terms([1.0, 2.0], [1.0, 2.0])

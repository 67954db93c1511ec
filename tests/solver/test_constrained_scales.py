"""Constraints whose rows are written in very different units: the answer must not depend on the units."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import exactsindy as es
from exactsindy.constraints import Equal, Linear, Sign


def problem_of(rng):
    """One or two equations with some true terms, as a problem and the names of its coefficients."""
    width, count = int(rng.integers(4, 7)), int(rng.integers(1, 3))
    rows = int(rng.integers(width + 2, 20))
    names, equations = [f"t{j}" for j in range(width)], ["x'", "y'"][:count]
    parts = []
    for equation in equations:
        theta = rng.normal(size=(rows, width))
        y = theta @ (rng.normal(size=width) * (rng.random(width) < 0.5)) + 0.5 * rng.normal(size=rows)
        parts.append(es.Problem.from_arrays(theta, y, names=names, target_names=[equation]))
    return es.Problem.from_blocks(parts), list(itertools.product(equations, names))


@pytest.mark.parametrize("batch", range(10))
def test_units_of_a_row_do_not_matter(batch):
    """Rows times 1e-12 to 1e12 (powers of two: nothing is rounded) have the same answer, to the bit."""
    rng = np.random.default_rng([31, batch])
    for _ in range(20):
        problem, names = problem_of(rng)
        plain, scaled = [], []
        for _ in range(int(rng.integers(1, 4))):
            chosen = [names[i] for i in rng.choice(len(names), size=int(rng.integers(2, 4)), replace=False)]
            coefs = {name: float(rng.choice([1.0, -1.0, 2.0, 0.5])) for name in chosen}
            relation, rhs = str(rng.choice(["==", "<=", ">="])), float(rng.choice([0.0, rng.normal()]))
            factor = 2.0 ** int(rng.integers(-40, 41))
            plain.append(Linear(coefs, relation, rhs))
            scaled.append(Linear({name: factor * c for name, c in coefs.items()}, relation, factor * rhs))
        size, ridge = int(rng.integers(1, 4)), float(rng.choice([0.0, 0.3]))
        want, got = (es.solve(problem, size, ridge=ridge, constraints=rows) for rows in (plain, scaled))
        assert set(want.status) <= {es.Status.OPTIMAL, es.Status.INFEASIBLE}
        assert got.status == want.status
        assert got.support == want.support
        np.testing.assert_array_equal(got.objective, want.objective)
        np.testing.assert_array_equal(got.coef, want.coef)


@pytest.mark.parametrize("batch", range(10))
def test_coefficients_of_very_different_size_are_tied(batch):
    """Equal(ratio up to 1e11): proved, and not worse than any support that leaves the tied terms out."""
    rng = np.random.default_rng([32, batch])
    for _ in range(60):
        problem, names = problem_of(rng)
        first, second, signed = (names[i] for i in rng.choice(len(names), size=3, replace=False))
        ratio = float(rng.choice([1.0, -1.0]) * 10.0 ** rng.uniform(-11, 11))
        constraints = [Equal(first, second, ratio), Sign(*signed, str(rng.choice(["+", "-"])))]
        size, ridge = int(rng.integers(1, 4)), float(rng.choice([0.0, 0.3]))
        got = es.solve(problem, size, ridge=ridge, constraints=constraints)
        assert got.optimal, (first, second, ratio)
        free = es.solve(problem, size, ridge=ridge)
        left_out = [es.constraints.Forbid(*name) for name in {first, second, signed}]
        least = es.solve(problem, size, ridge=ridge, constraints=left_out)
        assert free.objective.sum() * (1 - 1e-12) <= got.objective.sum() <= least.objective.sum() * (1 + 1e-12)
        tied = [got.coef[problem.target_names.index(e), problem.names.index(t)] for e, t in (first, second)]
        assert tied[0] == pytest.approx(ratio * tied[1], rel=1e-12, abs=0)


def chain(distance):
    """Return a regression whose columns each lean on the small remainder of the one before (k = 4 shows it)."""
    matrix = np.zeros((6, 6))
    matrix[:5, :5] = np.triu(np.ones((5, 5)), 1) + np.diag([1, distance, distance, distance, 1])
    matrix[:4, 4] = [0.2, 0.1, 0.4, 0.3]
    matrix[:5, 5] = [0.3, -0.7, 1.9, 0.4, 1.3]
    return es.Problem.from_arrays(matrix[:, :5], matrix[:, 5], names=list("abcde"), target_names=["t'"])


@pytest.mark.parametrize("distance", [1e-12, 1e-10, 1e-6, 1e-4])
@pytest.mark.parametrize("idle", ["t': a <= 1e9", "t': a >= -1e9", "t': a + b <= 1e9", "t': b >= -1e5"])
def test_idle_bounds_do_not_change_what_counts(distance, idle):
    problem = chain(distance)
    free, bound = es.solve(problem, 4), es.solve(problem, 4, constraints=[idle])
    assert bound.optimal
    assert np.isclose(bound.objective[0], free.objective[0], rtol=1e-9)
    assert es.verify(problem, bound).ok


@pytest.mark.parametrize("constraint", ["y': a + b + c + d == 1", "y': a >= 1", "y': a + b <= -3"])
def test_a_condition_that_asks_for_more_raises_the_limit(constraint):
    """The target is zero, and so is what coefficients may be; but the condition asks for some."""
    theta = np.random.default_rng(0).normal(size=(20, 4))
    problem = es.Problem.from_arrays(theta, np.zeros(20), names=list("abcd"), target_names=["y'"])
    solution = es.solve(problem, 2, constraints=[constraint])
    assert solution.optimal
    assert solution.objective[0] > 0
    assert es.verify(problem, solution).ok


def test_equations_that_rows_bind_share_a_limit():
    """Coefficients of 1e12 times the second target count, because the first one asks for them."""
    theta = np.random.default_rng(0).normal(size=(20, 4))
    targets = np.column_stack([theta @ [1, 0, 2, 0], 1e-12 * theta @ [1, 2, 0, 0]])
    problem = es.Problem.from_arrays(theta, targets, names=list("abcd"), target_names=["x'", "y'"])
    solution = es.solve(problem, 2, constraints=[Equal(("x'", "a"), ("y'", "a"))])
    assert solution.optimal
    assert solution.support[1] == (0, 3)
    assert es.verify(problem, solution).ok


def test_a_coefficient_that_the_data_do_not_show_is_kept_where_a_row_needs_it():
    """a = 2.5 b with columns of norms 1e17 and 1e-9: b adds 1e-26 of what a adds, but without b there is no a."""
    rng = np.random.default_rng(5)
    scales = np.array([1e17, 1e-30, 1e-40, 1e-9])
    plain = rng.normal(size=(12, 4))
    y = plain[:, 0] - 0.5 * plain[:, 1] + 0.1 * rng.normal(size=12)
    problem = es.Problem.from_arrays(plain * scales, y, names=list("acdb"), target_names=["t'"])
    constraints = [Equal(("t'", "a"), ("t'", "b"), 2.5), es.constraints.Bounds("t'", "a", -1e-15, 1e-15)]
    solution = es.solve(problem, 3, constraints=constraints)
    assert solution.optimal
    assert solution.support == ((0, 1, 3),)
    a, c, _, b = solution.coef[0]
    assert a == pytest.approx(2.5 * b, rel=1e-12, abs=0)
    assert es.verify(problem, solution).ok
    # Without room for both of them neither is present; verify sees that one alone breaks the constraint.
    alone = es.solve(problem, 1, constraints=constraints)
    assert alone.optimal
    assert alone.support in (((1,),), ((2,),))
    coef = np.zeros_like(solution.coef)
    coef[0, :2] = a, c
    forged = replace(solution, support=((0, 1),), coef=coef)
    assert es.verify(problem, forged).feasible is False


def test_a_constraint_that_asks_for_nothing_does_not_change_the_answer():
    """Powers under a large ridge: a term that gains less than 1e-16 of the objective is part of the best support."""
    for seed in range(20):
        rng = np.random.default_rng([33, seed])
        points = rng.uniform(0.99, 1.01, size=33)
        theta = np.column_stack([(1000.0 * points) ** j for j in range(8)] + [rng.normal(size=33) for _ in range(3)])
        y = 2.0**57 * rng.normal(size=33)
        problem = es.Problem.from_arrays(theta, y, names=[f"t{j}" for j in range(11)], target_names=["y'"])
        ridge = 1e37 * rng.uniform(0.1, 3, size=(1, 11))
        free = es.solve(problem, 4, ridge=ridge)
        solution = es.solve(problem, 4, ridge=ridge, constraints=[es.constraints.Implies(("y'", "t8"), ("y'", "t2"))])
        assert solution.optimal
        if 8 not in free.support[0] or 2 in free.support[0]:
            assert solution.support == free.support

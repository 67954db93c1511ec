"""Which supports count, in exact arithmetic: chains of near-dependent columns, large coefficients, thresholds."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import exactsindy as es
from exactsindy.certificate.enumeration import Tree
from exactsindy.certificate.exact import CheckedEquation
from exactsindy.certificate.judging import DEPENDENT, LARGE, NEARLY, Normal, above
from exactsindy.certificate.ranking import rank
from exactsindy.problem import Block, Problem
from oracle import FAMILIES, exact_supports


def chain(e=1e-12):
    """Each column leans on the tiny remainder of the one before."""
    factor = np.zeros((6, 6))
    factor[:5, :5] = np.triu(np.ones((5, 5)), 1) + np.diag([1, e, e, e, 1])
    factor[:4, 4], factor[:5, 5] = [0.2, 0.1, 0.4, 0.3], [0.3, -0.7, 1.9, 0.4, 1.3]
    return Problem((Block(factor, 6, tuple("abcde"), ("t'",)),))


def normal_of(problem, ridge=0.0, weight=1.0, limit=2.0**27):
    weights = np.broadcast_to(np.asarray(ridge, dtype=float), (len(problem.names),))
    return Normal(CheckedEquation.of(problem, 0, weights, weight), limit)


def test_value_of_a_chain_is_exact():
    problem = chain()
    judged = normal_of(problem).judge((0, 1, 2, 3))
    assert judged.value == Fraction(1.3) ** 2
    assert judged.admissible is False
    assert judged.fault == NEARLY
    solution = es.solve(problem, 4)
    assert es.verify(problem, solution).ok
    assert solution.support != ((0, 1, 2, 3),)


def test_a_chain_called_an_exact_fit_is_refused():
    problem = chain()
    solution = es.solve(problem, 4)
    coef = es.refit(problem, [[0, 1, 2, 3]]).coef
    zero = np.zeros(1)
    forged = replace(solution, support=((0, 1, 2, 3),), coef=coef, objective=zero, lower_bound=zero)
    result = es.verify(problem, forged)
    assert not result.ok
    assert not result.feasible
    assert not result.objective
    assert result.checks[0].optimal is False
    assert "are too close to dependent: the product of their distances is below 2^-80." in result.failures[0]


@pytest.mark.parametrize("size, counts", [(2.0**27 * 0.9999, True), (2.0**27 * 1.0001, False), (2.0**27, None)])
def test_coefficient_limit_is_a_threshold_with_a_band(size, counts):
    # The coefficient of b is `size` times |y| / |b|; |y| is 1 up to 1e-17.
    step = 1.0 / size
    factor = np.array([[1.0, 1.0, 0.0], [0.0, step, 1.0], [0.0, 0.0, 0.0]])
    problem = Problem((Block(factor, 3, ("a", "b"), ("y'",)),))
    judged = normal_of(problem).judge((0, 1))
    assert judged.admissible is counts
    assert judged.fault == (LARGE if counts is False else "")
    assert judged.coef == (-Fraction(1) / Fraction(step), Fraction(1) / Fraction(step))


def test_band_around_a_threshold():
    third = Fraction(1, 3)
    assert above(1, 3, third) is None
    assert above(1_000_001, 3_000_000, third) is None
    assert above(1_000_003, 3_000_000, third) is True
    assert above(999_997, 3_000_000, third) is False


def test_zero_and_dependent_columns_do_not_count():
    problem = Problem.from_arrays([[1.0, 2.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.0]], [1.0, 2.0, 3.0])
    for support in ((0, 1), (2,), (0, 2)):
        judged = normal_of(problem).judge(support)
        assert (judged.admissible, judged.fault) == (False, DEPENDENT)
        # The stored factor of equal columns may differ from an exactly dependent one by rounding: it has a value then.
        assert judged.value is None or 2 not in support


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("ridge", [0.0, 1e-6])
def test_enumeration_finds_the_exact_values(family, ridge):
    problem = Problem.from_arrays(*FAMILIES[family](np.random.default_rng(5)))
    weights = ridge * problem.column_norms**2
    block, _ = problem.locate(0)
    z, rest = block.target(0)
    constant = Fraction(0)
    for value in rest:
        constant += Fraction(float(value)) ** 2
    normal = normal_of(problem, weights)
    exact = exact_supports(block.theta_factor, z, 3, weights)
    ranking = rank(normal.equation, 3)
    assert ranking.decided
    for size, intervals in enumerate(ranking.sizes):
        judged = {s: normal.judge(s) for s in itertools.combinations(range(len(problem.names)), size)}
        counting = sorted(j.value for j in judged.values() if j.admissible)
        assert [i.high for i in intervals] == [float(value) for value in counting[:2]]
        for support, found in judged.items():
            if found.admissible:
                assert found.value == exact[support] + constant


def test_tree_leaves_out_only_what_is_surely_dependent():
    problem = Problem.from_arrays(*FAMILIES["near_duplicates"](np.random.default_rng(2)))
    normal, seen = normal_of(problem), set()
    Tree(normal).walk(3, lambda support, columns, _: seen.update((*support, *c) for c in columns.tolist()))
    for size in (1, 2, 3):
        for support in itertools.combinations(range(8), size):
            fault = normal.judge(support).fault
            assert (support in seen) == (fault not in (DEPENDENT, NEARLY))


@pytest.mark.parametrize("scale", [1e-140, 1e-80, 1e100, 1e140])
def test_no_size_of_the_target_breaks_it(scale):
    rng = np.random.default_rng(3)
    theta = rng.normal(size=(20, 5))
    problem = Problem.from_arrays(theta, scale * (theta[:, 1] + 0.2 * rng.normal(size=20)))
    assert es.verify(problem, es.solve(problem, 2)).ok


def test_a_coefficient_changed_along_a_flat_direction_is_found():
    """Where columns are nearly dependent, a small gradient does not make coefficients right."""
    rng = np.random.default_rng(4)
    theta = rng.normal(size=(30, 4))
    theta[:, 3] = theta[:, 0] + 1e-6 * rng.normal(size=30)
    problem = Problem.from_arrays(theta, theta[:, 0] + 1e-7 * rng.normal(size=30))
    solution = es.refit(problem, [[0, 3]])
    coef = solution.coef.copy()
    coef[0, [0, 3]] += [3e-7, -3e-7]
    assert es.verify(problem, solution).ok
    result = es.verify(problem, replace(solution, coef=coef))
    assert result.stationary is False
    assert "the least-squares fit on the support has" in result.failures[-1]


def test_limit_of_a_solution_is_read():
    problem = Problem.from_arrays(np.eye(3), [3.0, 2.0, 1.0])
    solution = es.solve(problem, 1)
    with pytest.raises(es.errors.ProblemError, match=r"coefficient_limit is 0\.5: expected a number from 1 to 2\*\*40"):
        es.verify(problem, replace(solution, coefficient_limit=0.5))


def test_negative_margin_is_false_however_many_supports_there_are():
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(100, 70))
    problem = Problem.from_arrays(theta, theta[:, :6].sum(axis=1))
    solution = es.refit(problem, [list(range(6))])
    result = es.verify(problem, replace(solution, margin=np.array([-0.5])))
    assert "the margin is claimed to be" in result.failures[0]
    assert math.isnan(solution.margin[0])


def test_limit_under_constraints():
    """A better fit above the limit does not refute an answer, and one that is claimed is refused."""
    rng = np.random.default_rng(2)
    theta = rng.normal(size=(30, 4))
    theta[:, 1] = theta[:, 0] + 0.05 * rng.normal(size=30)
    problem = Problem.from_arrays(theta, 20 * (theta[:, 1] - theta[:, 0]) + theta[:, 2], names=list("abcd"))
    constraints = [es.constraints.Sign(problem.target_names[0], "a", "-")]
    low = es.solve(problem, 2, constraints=constraints, settings=es.Settings(coefficient_limit=4.0))
    high = es.solve(problem, 2, constraints=constraints)
    assert low.support != high.support == ((0, 1),)
    assert es.verify(problem, low).ok
    refused = es.verify(problem, replace(high, coefficient_limit=4.0))
    assert "above the coefficient limit" in refused.failures[0]
    beaten = es.verify(problem, replace(low, coefficient_limit=high.coefficient_limit))
    assert "but a support has the objective" in " ".join(beaten.failures)

"""verify under constraints: true answers pass in any units, false ones do not, and what was not checked is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import exactsindy as es

C = es.constraints
NAMES = list("abcde")


def problem_of(seed=0, count=1):
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=(20, 5))
    targets = theta @ rng.normal(size=(5, count)) + 0.5 * rng.normal(size=(20, count))
    return es.Problem.from_arrays(theta, targets, names=NAMES, target_names=["x'", "y'"][:count])


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1.0, 1e6, 1e12])
@pytest.mark.parametrize("relation", ["==", "<=", ">="])
def test_units_of_a_row_do_not_matter(scale, relation):
    problem = problem_of(1)
    row = C.Linear({("x'", "a"): scale, ("x'", "b"): -2 * scale}, relation, 0.7 * scale)
    solution = es.solve(problem, 3, constraints=[row])
    result = es.verify(problem, solution)
    assert result.ok, str(result)
    assert result.unchecked == ()
    off = replace(solution, coef=1.001 * solution.coef)
    assert not es.verify(problem, off).ok


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_true_infeasible_is_confirmed_and_false_one_refuted(scale):
    problem = problem_of(2)
    rows = [C.Linear({("x'", "a"): scale, ("x'", "b"): scale}, r, v * scale) for r, v in ((">=", 10.0), ("<=", 9.0))]
    solution = es.solve(problem, 2, constraints=rows)
    assert solution.status == (es.Status.INFEASIBLE,)
    result = es.verify(problem, solution)
    assert result.ok
    assert str(result).splitlines()[-1].startswith("x' (under Linear(")
    assert str(result).endswith("): infeasible yes (enumerated)")
    result = es.verify(problem, replace(solution, constraints=tuple(rows[:1])))
    assert "x': infeasible is claimed, but a support has the objective" in result.failures[0]


def test_infeasible_comes_without_an_answer():
    problem = problem_of(2)
    solution = es.solve(problem, 1, constraints=[C.Require("x'", "a"), C.Bounds("x'", "b", 0.5)])
    answers = {"objective": np.array([1.0]), "margin": np.array([0.5]), "coef": np.ones((1, 5)), "support": ((0,),)}
    for name, value in answers.items():
        result = es.verify(problem, replace(solution, **{name: value}))
        assert not result.ok, name


def test_conflict_that_is_named_is_checked():
    problem = problem_of(2)
    rows = [C.Require("x'", "a"), C.Sign("x'", "c", "+"), C.Bounds("x'", "b", 0.5)]
    solution = es.solve(problem, 1, constraints=rows)
    assert len(solution.conflict) == 3  # two of the constraints and k = 1
    assert es.verify(problem, solution).ok
    for conflict in (solution.conflict[:-1], ("k = 1",), ("k = 2", *solution.conflict[:-1]), ("Nonsense()",)):
        result = es.verify(problem, replace(solution, conflict=conflict))
        assert result.failures == (f"x': these can hold together: {'; '.join(conflict)}.",)
    feasible = es.solve(problem, 2, constraints=rows)
    result = es.verify(problem, replace(feasible, conflict=solution.conflict))
    assert "a conflict of constraints is named, but no equation is called infeasible." in result.failures[0]


def test_worse_support_called_optimal_is_refuted():
    problem = problem_of(3, count=2)
    equal = C.Equal(("x'", "a"), ("y'", "b"))
    best = es.solve(problem, es.Total(4), constraints=[equal])
    names = [("x'", NAMES[j]) for j in best.support[0]]
    worse = es.solve(problem, es.Total(4), constraints=[equal, C.Forbid(*names[0])])
    forged = replace(worse, constraints=(equal,), margin=np.array([np.nan]))
    assert es.verify(problem, best).ok
    assert any("the status says optimal" in text for text in es.verify(problem, forged).failures)


def test_margin_under_constraints_is_checked():
    problem = problem_of(4)
    solution = es.solve(problem, 2, constraints=[C.Sign("x'", "a", "+")])
    assert es.verify(problem, solution).checks[0].margin is True
    result = es.verify(problem, replace(solution, margin=1.01 * solution.margin))
    assert result.checks[0].margin is False


def test_claims_apart_where_constraints_bind_are_refused():
    problem = problem_of(5, count=2)
    apart = es.solve(problem, 2)
    forged = replace(apart, constraints=(C.Equal(("x'", "a"), ("y'", "b")),))
    text = "constraints bind this equation to others, but claims are made for each of them apart."
    assert any(text in failure for failure in es.verify(problem, forged).failures)


def test_significance_is_computed_again():
    problem = problem_of(6)
    solution = es.solve(problem, 4, constraints=[C.Significant(2.0)])
    result = es.verify(problem, solution)
    assert result.ok
    assert result.unchecked == ()
    plain = es.solve(problem, 5)
    strict = C.Significant(50.0)
    result = es.verify(problem, replace(plain, constraints=(strict,)))
    assert "not every term has a t-statistic of at least 50." in result.failures[0]
    lazy = es.solve(problem, 1, constraints=[C.Significant(2.0)])
    result = es.verify(problem, replace(lazy, k=(4,), margin=np.array([np.nan])))
    assert result.checks[0].optimal is (lazy.support == solution.support)


@pytest.mark.parametrize(
    "record",
    [
        C.Quadratic({(("x'", "a"), ("x'", "a")): 1.0, (("x'", "b"), ("x'", "b")): 1.0}, 0.05),
        C.PositiveSemidefinite(
            np.diag([0.1, 0.1]), {("x'", "a"): np.diag([1.0, 0.0]), ("x'", "b"): np.array([[0.0, 1.0], [1.0, 0.0]])}
        ),
    ],
    ids=["quadratic", "semidefinite"],
)
def test_convex_constraints_are_checked_by_multipliers(record):
    pytest.importorskip("clarabel")
    problem = problem_of(7)
    solution = es.solve(problem, 5, constraints=[record])
    result = es.verify(problem, solution)
    assert result.ok, str(result)
    assert result.stationary is True
    assert result.unchecked == ("optimality",)
    assert "other supports under Quadratic and semidefinite constraints are not looked at" in str(result)
    coef = solution.coef.copy()
    coef[0, solution.support[0][-1]] *= 1.001
    assert not es.verify(problem, replace(solution, coef=coef)).stationary


def test_multipliers_that_are_not_looked_for_are_named():
    pytest.importorskip("clarabel")
    problem = problem_of(7)
    record = C.PositiveSemidefinite(np.diag([0.1, 0.1]), {("x'", "a"): np.eye(2), ("x'", "b"): np.eye(2)})
    result = es.verify(problem, es.solve(problem, 5, constraints=[record]))
    assert result.ok
    assert "stationarity" in result.unchecked
    assert "a semidefinite constraint is singular in several directions" in str(result)


def test_broken_forms_are_found():
    problem = problem_of(8)
    record = C.Quadratic({(("x'", "a"), ("x'", "a")): 1.0}, 1e-6)
    free = es.refit(problem, [[0, 1]])
    result = es.verify(problem, replace(free, constraints=(record,)))
    assert "does not hold: off by" in result.failures[0]


def test_no_answer_is_no_false_claim():
    problem = problem_of(9)
    solution = es.solve(problem, 1, constraints=[C.Bounds("x'", "a", 1.0)])
    empty = replace(
        solution,
        coef=np.zeros_like(solution.coef),
        support=((),),
        objective=np.array([np.inf]),
        lower_bound=np.array([0.0]),
        margin=np.array([np.nan]),
        status=(es.Status.TIME_LIMIT,),
    )
    result = es.verify(problem, empty)
    assert result.ok
    assert "no support was found; bound yes" in str(result)
    high = replace(empty, lower_bound=solution.objective * 2)
    assert "the lower bound is" in es.verify(problem, high).failures[0]


@pytest.mark.parametrize("text", ["x': a == 0", C.Linear({("x'", "a"): 3.0}, "==", 0.0), C.Fixed("x'", "a", 0.0)])
def test_equal_to_zero_means_absent(text):
    """A row about one coefficient that says 0 removes the term: it cannot count as present."""
    problem = problem_of(10)
    group = [("x'", "a"), ("x'", "b")]
    solution = es.solve(problem, 3, constraints=[text, C.AtLeast(1, group)])
    assert 0 not in solution.support[0]
    assert 1 in solution.support[0]
    assert es.verify(problem, solution).ok
    both = es.solve(problem, 3, constraints=[text, C.WholeGroup(group)])
    assert not {0, 1} & set(both.support[0])
    assert es.verify(problem, both).ok
    present = es.refit(problem, [[0, 1]])
    coef = present.coef.copy()
    coef[0, 0] = 0.0
    forged = replace(present, coef=coef, constraints=(text,))
    assert any("does not hold for these supports" in failure for failure in es.verify(problem, forged).failures)


def test_two_rows_that_leave_only_zero_keep_the_term_present():
    """Only a row about one coefficient alone says absent: a present term may otherwise have the coefficient 0."""
    problem = problem_of(11)
    rows = [C.Require("x'", "a"), C.Sign("x'", "a", "+"), C.Bounds("x'", "a", upper=0.0)]
    solution = es.solve(problem, 2, constraints=rows)
    assert 0 in solution.support[0]
    assert solution.coef[0, 0] == 0.0
    assert es.verify(problem, solution).ok

"""Every near-optimal support, and whether any is missing."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest

from exactsindy.certificate import check_rivals, ranking
from exactsindy.errors import ProblemError, SolverError
from exactsindy.problem import Block, Problem
from exactsindy.solver import Settings, Total, pool_record, read_pool, refit, solve, solve_pool
from oracle import FAMILIES, best_supports, exact_supports

# Families whose values doubles can rank; ties and rounding-level differences are compared exactly below.
SEPARATED = ["gaussian", "pure_noise", "badly_scaled", "polynomial_library", "zero_columns"]
EXACT = [
    "many_ties",
    "orthogonal_ties",
    "duplicates",
    "exact_integers",
    "few_rows",
    "constant_columns",
    "near_duplicates",
]


def ranked(theta, y, k, ridge=0.0):
    """Admissible supports of exactly k terms with their values, best first."""
    table = best_supports(theta, y, k, ridge)
    rows = [
        (float(v), tuple(map(int, s)))
        for s, v, good in zip(table.supports, table.values, table.admissible, strict=True)
        if good
    ]
    return sorted(rows)


@pytest.mark.parametrize("family", SEPARATED)
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_count_keeps_the_best(family, k, ridge):
    theta, y = FAMILIES[family](np.random.default_rng(11))
    expected = ranked(theta, y, k, ridge)
    for count in (1, 4, 17):
        pool = solve_pool(Problem.from_arrays(theta, y), k, count=count, ridge=ridge)
        members = pool[0]
        assert pool.complete["y0'"] is True
        assert len(members) == min(count, len(expected))
        assert [m.support for m in members] == [s for _, s in expected[: len(members)]]
        assert [m.objective for m in members] == pytest.approx([v for v, _ in expected[: len(members)]], rel=1e-8)


@pytest.mark.parametrize("family", SEPARATED)
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_within_keeps_all_that_are_close(family, k, ridge):
    theta, y = FAMILIES[family](np.random.default_rng(12))
    expected = ranked(theta, y, k, ridge)
    best = expected[0][0]
    for within in (0.0, 0.02, 0.3, 5.0):
        pool = solve_pool(Problem.from_arrays(theta, y), k, within=within, ridge=ridge)
        got = [m.support for m in pool[0]]
        surely = [s for v, s in expected if v <= best * (1 + within) * (1 - 1e-9)]
        perhaps = {s for v, s in expected if v <= best * (1 + within) * (1 + 1e-9)}
        assert pool.complete["y0'"] is True
        assert len(set(got)) == len(got)
        assert set(surely) <= set(got) <= perhaps
        values = [m.objective for m in pool[0]]
        assert values == sorted(values)


@pytest.mark.parametrize("family", EXACT)
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_ties_and_duplicates_against_exact_values(family, k, seed):
    theta, y = FAMILIES[family](np.random.default_rng(seed))
    problem = Problem.from_arrays(theta, y)
    block, _ = problem.locate(0)
    z, rest = block.target(0)
    # Exactly what is stored: the factor, not the raw data.
    exact = {
        s: v for s, v in exact_supports(block.theta_factor, z, k, 0.0).items() if len(s) == k
    }  # the constant is left out
    constant = float(rest @ rest)
    order = sorted(exact.values())
    floor = 1e-26 * float(z @ z + constant)
    for count in (1, 3, 10, 10_000):
        pool = solve_pool(problem, k, count=count)
        members = pool[0]
        assert pool.complete["y0'"] is True
        assert len(members) == min(count, len(exact))
        assert len({m.support for m in members}) == len(members)
        for member, value in zip(members, order, strict=False):
            assert member.support in exact
            assert float(exact[member.support]) == pytest.approx(float(value), rel=1e-12, abs=floor)
            assert member.objective == pytest.approx(float(value) + constant, rel=1e-9, abs=floor)
    every = solve_pool(problem, k, within=1e6)
    if order and float(order[0]) + constant > 1e3 * floor:
        assert {m.support for m in every[0]} == set(exact)
        assert every.complete["y0'"] is True


@pytest.mark.parametrize("seed", [1, 3, 4])
def test_pool_misses_no_pair_of_nearly_equal_columns(seed):
    """The target lies along differences of nearly equal columns: the best supports hold both of a pair."""
    rng = np.random.default_rng(seed)
    distance = 10.0 ** rng.uniform(-12, -9)
    base, differences = rng.standard_normal((25, 3)), rng.standard_normal((25, 3))
    y = differences @ [1.0, 0.5, 0.0] + 0.1 * rng.standard_normal(25)
    problem = Problem.from_arrays(np.hstack([base, base + distance * differences]), y)
    block, _ = problem.locate(0)
    z, rest = block.target(0)
    for k in (2, 3, 4):
        exact = sorted(float(v) for s, v in exact_supports(block.theta_factor, z, k, 0.0).items() if len(s) == k)
        expected = [v + float(rest @ rest) for v in exact]
        for count in (2, 100):
            pool = solve_pool(problem, k, count=count)
            assert pool.complete["y0'"] is True
            assert [m.objective for m in pool[0]] == pytest.approx(expected[:count], rel=1e-6)


def test_best_member_is_the_solution():
    rng = np.random.default_rng(0)
    theta = rng.standard_normal((60, 12))
    problem = Problem.from_arrays(theta, theta[:, [1, 5]] @ [1.0, 2.0] + rng.standard_normal(60))
    solution, pool = solve(problem, 3, ridge=0.2), solve_pool(problem, 3, count=2, ridge=0.2)
    best, second = pool[0]
    assert best.support == solution.support[0]
    assert best.objective == solution.objective[0]
    assert list(best.terms.values()) == [solution.coef[0, j] for j in best.support]
    assert best.excess == 0.0
    assert second.excess == pytest.approx(solution.margin[0], rel=1e-12)
    fitted = refit(problem, [second.support], ridge=0.2)
    assert fitted.objective[0] == second.objective
    assert list(second.terms.values()) == [fitted.coef[0, j] for j in second.support]


def test_each_equation_has_its_own_pool():
    rng = np.random.default_rng(5)
    p = Problem.from_arrays(
        rng.standard_normal((30, 4)), rng.standard_normal(30), names=list("abcd"), target_names=["x'"]
    )
    q = Problem.from_arrays(
        rng.standard_normal((25, 3)), rng.standard_normal((25, 2)), names=list("cde"), target_names=["y'", "z''"]
    )
    problem = Problem.from_blocks([p, q])
    pool = solve_pool(problem, {"x": 2, "y": 1, "z": 3}, count=50)
    assert [len(pool[t]) for t in ("x", "y'", 2)] == [math.comb(4, 2), 3, 1]
    assert len(pool) == 10
    assert {m.support for m in pool["x"]} == set(itertools.combinations(range(4), 2))
    assert {m.support for m in pool["y"]} == {(2,), (3,), (4,)}
    assert pool["z"][0].support == (2, 3, 4)
    assert set(pool["z"][0].terms) == {"c", "d", "e"}
    assert dict(pool.complete) == {"x'": True, "y'": True, "z''": True}


def test_every_support_of_a_size():
    rng = np.random.default_rng(6)
    problem = Problem.from_arrays(rng.standard_normal((50, 14)), rng.standard_normal(50))
    pool = solve_pool(problem, 4, within=1e9)
    assert {m.support for m in pool[0]} == set(itertools.combinations(range(14), 4))
    counted = solve_pool(problem, 4, count=1001)
    assert [m.support for m in counted[0]] == [m.support for m in pool[0]]


def test_tied_supports_are_all_kept():
    problem = Problem.from_arrays(np.eye(6), np.ones(6))
    pool = solve_pool(problem, 2, within=0.0)
    assert [m.support for m in pool[0]] == list(itertools.combinations(range(6), 2))
    assert {m.excess for m in pool[0]} == {0.0}


def test_equal_columns_never_stand_together():
    factor = np.array([[1.0, 1.0, 0.5, 1.0], [0.0, 0.0, 1.0, 2.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 3.0]])
    problem = Problem((Block(factor, 9, ("a", "b", "c"), ("x'",)),))
    pool = solve_pool(problem, 2, count=10)
    assert [m.support for m in pool["x"]] == [(0, 2), (1, 2)]
    assert pool.complete["x'"] is True
    none = solve_pool(problem, 3, count=10)  # no three independent columns
    assert none["x"] == ()
    assert none.complete["x'"] is True
    assert len(none) == 0


def test_no_term_is_one_support():
    problem = Problem.from_arrays(np.eye(3), [3.0, 2.0, 1.0])
    pool = solve_pool(problem, 0, count=5)
    assert [m.support for m in pool[0]] == [()]
    assert pool[0][0].objective == 14.0
    assert pool.complete["y0'"] is True


def test_more_terms_than_the_library_has():
    problem = Problem.from_arrays(np.eye(3), [3.0, 2.0, 1.0])
    assert [m.support for m in solve_pool(problem, 7, count=5)[0]] == [(0, 1, 2)]


def test_start_and_threads_change_nothing():
    rng = np.random.default_rng(9)
    problem = Problem.from_arrays(rng.standard_normal((80, 40)), rng.standard_normal(80))
    plain = solve_pool(problem, 5, count=50, settings=Settings(threads=1))
    for other in (
        solve_pool(problem, 5, count=50, settings=Settings(threads=2)),
        solve_pool(problem, 5, count=50, settings=Settings(threads=4)),
        solve_pool(problem, 5, count=50, start=[[0, 1, 2, 3, 4]]),
    ):
        assert other[0] == plain[0]
        assert other.complete == plain.complete


def test_limit_makes_a_pool_incomplete():
    rng = np.random.default_rng(0)
    problem = Problem.from_arrays(rng.standard_normal((90, 80)), rng.standard_normal(90))
    pool = solve_pool(problem, 9, count=5, settings=Settings(nodes=1))
    assert pool.complete["y0'"] is False
    values = [m.objective for m in pool[0]]
    assert values == sorted(values)
    assert all(len(m.support) == 9 for m in pool[0])


# Refused


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    return Problem.from_arrays(rng.standard_normal((20, 4)), rng.standard_normal((20, 2)), target_names=["x'", "y'"])


ONE_OF = r"solve_pool needs one of within= \(a share, e\.g\. 0\.02\) and count= \(how many supports\)\."
COUNT = r"expected a number of supports from 1 to 1000000\."
WITHIN = r"expected a share >= 0, e\.g\. 0\.02 for 2 %\."


@pytest.mark.parametrize(
    "options, text",
    [
        ({}, ONE_OF),
        ({"within": 0.1, "count": 3}, ONE_OF),
        ({"count": 0}, f"count=0: {COUNT}"),
        ({"count": -3}, f"count=-3: {COUNT}"),
        ({"count": 1_000_001}, f"count=1000001: {COUNT}"),
        ({"count": 2.5}, f"count=2.5: {COUNT}"),
        ({"count": "many"}, f"count='many': {COUNT}"),
        ({"count": True}, f"count=True: {COUNT}"),
        ({"within": -0.1}, f"within=-0.1: {WITHIN}"),
        ({"within": math.nan}, f"within=nan: {WITHIN}"),
        ({"within": math.inf}, f"within=inf: {WITHIN}"),
        ({"within": "close"}, f"within='close': {WITHIN}"),
    ],
)
def test_what_to_keep_must_be_said_once(problem, options, text):
    with pytest.raises(SolverError, match=text):
        solve_pool(problem, 2, **options)


def test_pool_takes_no_shared_budget(problem):
    with pytest.raises(SolverError, match="takes a number of terms per equation, not Total: ask for each"):
        solve_pool(problem, Total(3), count=2)


def test_unknown_equation_is_refused(problem):
    pool = solve_pool(problem, 1, count=1)
    with pytest.raises(ProblemError, match="there is no target 'w'"):
        pool["w"]
    with pytest.raises(ProblemError, match="target 2 is out of range"):
        pool[2]


@pytest.mark.parametrize("asked", [{"count": 3}, {"within": 0.5}])
def test_a_pool_says_what_was_asked_for_and_keeps_it_when_stored(asked):
    rng = np.random.default_rng(0)
    problem = Problem.from_arrays(rng.normal(size=(40, 6)), rng.normal(size=40))
    pool = solve_pool(problem, 2, **asked)
    again = read_pool(json.loads(json.dumps(pool_record(pool))), problem)
    assert {"count": again.count, "within": again.within} == {"count": None, "within": None, **asked}
    assert again.members == pool.members


def test_completeness_is_checked_against_what_was_asked_for():
    rng = np.random.default_rng(1)
    problem = Problem.from_arrays(rng.normal(size=(40, 6)), rng.normal(size=40))
    members = solve_pool(problem, 2, within=0.2)[0]
    assert len(members) > 2
    options = {"size": 2, "complete": True}
    assert check_rivals(problem, 0, members, np.zeros(6), **options, within=0.2) == ([], "")
    failures, _ = check_rivals(problem, 0, members[:-1], np.zeros(6), **options, within=0.2)
    assert "is missing" in failures[0]
    assert check_rivals(problem, 0, members[:-1], np.zeros(6), **options, count=len(members) - 1) == ([], "")
    failures, _ = check_rivals(problem, 0, members[:-1], np.zeros(6), **options, count=len(members))
    assert "were asked for" in failures[0]


@pytest.mark.parametrize("asked", [{"count": 30}, {"within": 20.0}])
def test_a_support_left_out_of_a_long_pool_is_found(monkeypatch, asked):
    """Only some thousand supports are judged: those that are listed already must not use them up."""
    monkeypatch.setattr(ranking, "_MOST_LISTED", 20)
    rng = np.random.default_rng(1)
    problem = Problem.from_arrays(rng.normal(size=(40, 8)), rng.normal(size=40))
    members = list(solve_pool(problem, 3, **asked)[0])
    assert len(members) >= 30
    options = {"size": 3, "complete": True, **asked}
    assert check_rivals(problem, 0, members, np.zeros(8), **options) == ([], "")
    for i in range(1, len(members) - 1):  # the last one is put twice, so that the number stays
        forged = [*members[:i], *members[i + 1 :]]
        failures, reason = check_rivals(problem, 0, forged, np.zeros(8), **options)
        assert failures, members[i].support
        assert not reason


def test_a_pool_whose_rivals_are_too_many_to_judge_is_not_checked(monkeypatch):
    monkeypatch.setattr(ranking, "_MOST_LISTED", 0)
    rng = np.random.default_rng(1)
    problem = Problem.from_arrays(rng.normal(size=(40, 6)), rng.normal(size=40))
    members = solve_pool(problem, 2, within=0.2)[0]
    failures, reason = check_rivals(problem, 0, members, np.zeros(6), size=2, complete=True, within=0.2)
    assert failures == []
    assert "too many supports would have to be judged" in reason

"""Many problems in one call: the same answers, to the bit, as one call each."""

from __future__ import annotations

import time

import numpy as np
import pytest

from exactsindy.errors import SolverError
from exactsindy.problem import Problem
from exactsindy.selection import CrossValidation, Stability, select
from exactsindy.selection.resampling import inclusion
from exactsindy.solver import Settings, Status, Total, solve, solve_many, solve_path, solve_paths


def problems(count, columns=12, targets=2, seed=0):
    rng = np.random.default_rng(seed)
    theta = rng.standard_normal((80, columns))
    clean = theta[:, :2] @ rng.standard_normal((2, targets))
    names = [f"x{i}'" for i in range(targets)]
    return [
        Problem.from_arrays(theta, clean + rng.standard_normal(clean.shape), target_names=names) for _ in range(count)
    ]


def bits(solution):
    arrays = (solution.coef, solution.objective, solution.lower_bound, solution.margin, solution.ridge)
    return (solution.support, solution.status, solution.k, *(array.tobytes() for array in arrays))


@pytest.mark.parametrize("threads", [1, 3])
def test_each_answer_is_that_of_its_own_call(threads):
    given = problems(6)
    ridges = [0.0, 0.5, np.linspace(0, 1, 12), np.ones((2, 12)), 1, 0.0]
    sizes = [1, 2, {"x0'": 1, "x1'": 3}, (0, 4), 3, 5]
    starts = [None, [[0], [1]], None, {"x0'": ["theta3"]}, None, None]
    settings = Settings(threads=threads)
    found = solve_many(given, sizes, ridge=ridges, start=starts, settings=settings)
    alone = [
        solve(p, k, ridge=r, start=s, settings=settings)
        for p, k, r, s in zip(given, sizes, ridges, starts, strict=True)
    ]
    assert [bits(s) for s in found] == [bits(s) for s in alone]
    assert all(s.problem is p for s, p in zip(found, given, strict=True))


def test_one_value_serves_all_problems():
    given = problems(3)
    weights = np.linspace(0, 1, 12)
    assert [bits(s) for s in solve_many(given, 2, ridge=weights)] == [bits(solve(p, 2, ridge=weights)) for p in given]
    assert solve_many([], 2) == []


def test_paths_are_those_of_their_own_calls():
    given = problems(4)
    start = solve(given[0], 4)
    for path, problem in zip(solve_paths(given, 4, ridge=0.1, start=start, settings=Settings()), given, strict=True):
        assert [bits(s) for s in path] == [bits(s) for s in solve_path(problem, 4, ridge=0.1, start=start)]


def test_problems_of_different_libraries():
    given = [problems(1, columns=n, targets=m, seed=n)[0] for n, m in ((5, 1), (30, 3), (9, 2))]
    assert [bits(s) for s in solve_many(given, 3)] == [bits(solve(p, 3)) for p in given]


def test_limits_are_for_the_whole_call():
    rng = np.random.default_rng(0)
    hard = [Problem.from_arrays(rng.standard_normal((90, 80)), rng.standard_normal(90)) for _ in range(6)]
    begin = time.perf_counter()
    found = solve_many(hard, 9, settings=Settings(seconds=0.3))
    assert time.perf_counter() - begin < 1.0
    assert {s.status for s in found} == {(Status.TIME_LIMIT,)}
    assert all(0 <= s.lower_bound[0] < s.objective[0] and len(s.support[0]) == 9 for s in found)


def test_progress_names_the_problem():
    seen = []
    rng = np.random.default_rng(0)
    hard = [Problem.from_arrays(rng.standard_normal((90, 80)), rng.standard_normal(90)) for _ in range(2)]
    solve_many(hard, 9, settings=Settings(seconds=0.5, progress=lambda now: seen.append(set(now.incumbent))))
    assert seen
    assert seen[-1] == {"0: y0'", "1: y0'"}


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        ((None, 2), {}, "problems is of type NoneType: expected a list of Problems"),
        ((problems(1)[0], 2), {}, "problems is of type Problem: expected a list of Problems"),
        (([np.eye(3)], 2), {}, "problem is of type ndarray: expected a Problem"),
        ((problems(3), (1, 2)), {}, "k has 2 entries, but there are 3 problems: give one entry per problem"),
        ((problems(2), 2), {"ridge": [1.0]}, "ridge has 1 entries, but there are 2 problems"),
        ((problems(2), 2), {"ridge": [0.0, -1.0]}, "ridge"),
        ((problems(2), Total(3)), {}, "solve_many takes a number of terms per equation, not Total"),
        ((problems(2), [1, "many"]), {}, "k='many': expected a number of terms"),
        ((problems(2), 2), {"start": [None]}, "start has 1 entries, but there are 2 problems"),
    ],
)
def test_wrong_arguments(arguments, options, words):
    with pytest.raises(SolverError, match="(?s)" + words.replace("(", r"\(")):
        solve_many(*arguments, **options)


def test_resampling_rules_answer_as_with_single_calls():
    """A limit that is not reached makes every rule call the solver once per part of the data."""
    rng = np.random.default_rng(1)
    theta = rng.standard_normal((200, 8))
    y = theta[:, 2] - theta[:, 5] + 0.3 * rng.standard_normal(200)
    folds = [Problem.from_arrays(theta[i::5], y[i::5]) for i in range(5)]
    alone = Settings(seconds=1000.0)
    for rule in (CrossValidation(), Stability(count=8)):
        together, single = (select(folds, k_max=4, rule=rule, settings=s) for s in (Settings(), alone))
        assert together.solution.support == single.solution.support
        assert repr(together.choices) == repr(single.choices)
    best = solve(sum(folds), 2)
    assert inclusion(folds, best, count=6) == inclusion(folds, best, count=6, settings=alone)

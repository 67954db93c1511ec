"""What results say when printed."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from exactsindy.certificate import verify
from exactsindy.problem import Problem
from exactsindy.solver import Settings, Total, display, refit, solve, solve_path, solve_pool


@pytest.fixture(scope="module")
def problem():
    """Two equations over 1, x, y, x y: x' = 3 - 10 x + ..., y' = 0.5 x y + ..."""
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-2, 2, (2, 200))
    theta = np.column_stack([np.ones(200), x, y, x * y])
    targets = np.column_stack([3 - 10 * x, 0.5 * x * y]) + 0.1 * rng.standard_normal((200, 2))
    return Problem.from_arrays(theta, targets, names=["1", "x", "y", "x y"], target_names=["x'", "y'"])


@pytest.fixture(scope="module")
def unproved():
    rng = np.random.default_rng(0)
    hard = Problem.from_arrays(rng.standard_normal((90, 80)), rng.standard_normal(90))
    return solve(hard, 9, settings=Settings(nodes=1))


def test_solution_shows_every_fact(problem):
    solution = solve(problem, {"x": 2, "y": 1})
    first, facts, second, more = str(solution).splitlines()
    assert re.fullmatch(r"x' = 3\.0\d* - (10\.0\d*|9\.9\d*) x|x' = 2\.9\d* - (10\.0\d*|9\.9\d*) x", first)
    assert re.fullmatch(r"y' = 0\.\d+ x y", second)
    pattern = (
        r"    k <= {} \| proved optimal \| objective [\d.e+-]+ \| bound [\d.e+-]+ \| gap [\d.]+e[+-]\d+ \| "
        r"next best [\d.e+]+ % worse \| \d+ nodes \| [\d.]+ (us|ms|s)"
    )
    assert re.fullmatch(pattern.format(2), facts)
    assert re.fullmatch(pattern.format(1), more)
    assert f"objective {solution.objective[0]:.8g}" in facts
    assert f"{100 * solution.margin[0]:.3g} % worse" in facts


def test_repr_is_one_short_line(problem, unproved):
    solution = solve(problem, {"x": 2, "y": 1})
    assert repr(solution) == "<Solution x': 2 terms, y': 1 terms; proved optimal>"
    assert repr(unproved) == "<Solution y0': 9 terms; not proved>"
    assert repr(solve_path(problem, 3)) == "<Path of 4 sizes, 4 proved>"
    assert repr(solve_pool(problem, 1, count=2)) == "<Pool of 4 supports, complete>"


def test_numbers_and_signs():
    assert display.equation("x'", []) == "x' = 0"
    assert display.equation("x'", [("1", -2.0), ("x", 1.0)]) == "x' = -2 + 1 x"
    assert display.equation("x'", [("x", -1.5), ("x y", -0.25)]) == "x' = -1.5 x - 0.25 x y"
    assert display.equation("x'", [("x", 1e-9), ("1", 3e12)]) == "x' = 1e-09 x + 3e+12"


def test_empty_equation_reads_as_zero(problem):
    assert str(solve(problem, 0)).startswith("x' = 0\n    k <= 0 | proved optimal")


def test_tie_and_missing_rival_are_said():
    tie = str(solve(Problem.from_arrays(np.eye(3), np.ones(3)), 1))
    assert "next best tie |" in tie
    alone = str(solve(Problem.from_arrays(np.eye(3), [1.0, 2.0, 3.0]), 0))
    assert "next best no rival |" in alone
    assert "no rival worse" not in alone


def test_unproved_answer_does_not_claim(unproved):
    text = str(unproved)
    assert "node limit, not proved" in text
    assert "next best not proved" in text
    assert re.search(r"bound [\d.]+ \| gap \d\.\de[+-]\d+", text)
    assert "optimal" not in text


def test_refit_claims_nothing(problem):
    text = str(refit(problem, [["x"], []]))
    assert "refitted, nothing proved" in text
    assert "bound" not in text
    assert "inf" not in text
    assert "nan" not in text


def test_exact_fit_is_said():
    problem = Problem.from_arrays(np.eye(3), [1.0, 2.0, 0.0])
    assert str(solve(problem, 2)).endswith("exact fit")
    assert "exact fit" not in str(solve(problem, 1))


def test_shared_budget_has_one_line_of_facts(problem):
    lines = str(solve(problem, Total(3))).splitlines()
    assert [line.split(" = ")[0] for line in lines[:2]] == ["x'", "y'"]
    assert lines[2].startswith("    all together k <= 3 | proved optimal | objective")
    assert len(lines) == 3


def test_path_lists_sizes_and_terms(problem):
    lines = str(solve_path(problem, 2)).splitlines()
    assert lines[0] == "x'"
    assert re.fullmatch(r"    0  [\d.]+  proved  \(none\)", lines[1])
    assert re.fullmatch(r"    1  [\d.]+  proved  x", lines[2])
    assert re.fullmatch(r"    2  [\d.]+  proved  1, x", lines[3])
    assert lines[4] == "y'"
    assert len(lines) == 8


def test_path_of_a_shared_budget_names_the_equations(problem):
    lines = str(solve_path(problem, Total(3))).splitlines()
    assert lines[0] == "all equations"
    assert lines[-1].endswith("proved  x': 1, x': x, y': x y")


def test_unproved_path_shows_its_gap():
    rng = np.random.default_rng(0)
    hard = Problem.from_arrays(rng.standard_normal((90, 80)), rng.standard_normal(90))
    path = solve_path(hard, 9, settings=Settings(nodes=100))
    last = str(path).splitlines()[-1]
    assert re.match(r"    9  [\d.]+  gap \d\.\de[+-]\d+  theta\d+", last)
    assert re.fullmatch(r"<Path of 10 sizes, [1-9] proved>", repr(path))


def test_pool_lists_members_best_first(problem):
    lines = str(solve_pool(problem, 1, count=3)).splitlines()
    assert lines[0] == "x': 3 supports, complete"
    assert re.fullmatch(r"     0\.000 %  x' = -\d+\.?\d* x", lines[1])
    assert lines[4] == "y': 3 supports, complete"
    assert len(lines) == 8


def test_incomplete_pool_says_so():
    rng = np.random.default_rng(0)
    hard = Problem.from_arrays(rng.standard_normal((90, 80)), rng.standard_normal(90))
    pool = solve_pool(hard, 9, count=2, settings=Settings(nodes=1))
    assert "supports, NOT complete" in str(pool)
    assert repr(pool).endswith("not complete>")


def test_verification_reads_well(problem):
    solution = solve(problem, 2)
    lines = str(verify(problem, solution)).splitlines()
    assert lines[0] == "Verified: every claim holds, and every support was looked at."
    assert lines[1].startswith("x': feasible yes; objective yes (relative error ")
    assert "optimal yes (enumerated); margin yes" in lines[1]
    wrong = str(verify(problem, replace(solution, objective=solution.objective * 0.5)))
    assert wrong.startswith("NOT verified: a claim does not hold for these data.")
    assert "objective NO" in wrong
    assert "the objective is claimed to be" in wrong


@pytest.mark.parametrize(
    "value, text",
    [(0.0, "0 us"), (3.4e-6, "3 us"), (9.99e-4, "999 us"), (0.0123, "12.3 ms"), (1.0, "1.0 s"), (75.26, "75.3 s")],
)
def test_times_have_human_units(value, text):
    assert display.seconds(value) == text

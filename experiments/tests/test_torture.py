"""The campaign against exact values: its oracle, its checks (each must be able to fail), and a slice of it."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from typer.testing import CliRunner

from exactsindy.cli import app
from exactsindy.problem import Problem
from exactsindy.solver import Settings, refit, solve, solve_pool
from exactsindy_experiments import torture_run
from exactsindy_experiments.exact_values import ExactValues
from exactsindy_experiments.torture_checks import check_pool, check_solution
from exactsindy_experiments.torture_families import FAMILIES
from exactsindy_experiments.torture_instances import LIMIT, Task, draw, examine


@pytest.mark.parametrize("family", FAMILIES)
def test_slice_of_the_campaign(family):
    for index in range(12):
        verdict = examine(Task(family, 0, index))
        assert verdict.kind in ("right", "refused"), (torture_run.command(verdict.task), verdict.text)


@pytest.mark.parametrize("family, index", [("duplicates", 1725), ("zero_columns", 1563)])
def test_bounds_of_shared_budgets_are_rounded_down(family, index):
    """Found by the campaign: the sum of two bounds was rounded up, above the optimum."""
    verdict = examine(Task(family, 1, index))
    assert verdict.kind == "right", verdict.text


def test_the_oracle_knows_the_limit_of_the_solver():
    assert Settings().coefficient_limit == LIMIT


def plain_values(theta, z, ridge, size):
    """Least squares by Gaussian elimination over fractions, one support at a time."""
    columns = [[Fraction(float(v)) for v in column] for column in theta.T]
    target = [Fraction(float(v)) for v in z]

    def dot(a, b):
        return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))

    found = {}
    for count in range(size + 1):
        for support in itertools.combinations(range(len(columns)), count):
            rows = [
                [dot(columns[i], columns[j]) + (Fraction(float(ridge[i])) if i == j else 0) for j in support]
                + [dot(columns[i], target)]
                for i in support
            ]
            value = dot(target, target)
            for p, top in enumerate(rows):
                value -= top[-1] ** 2 / top[p]
                for row in rows[p + 1 :]:
                    ratio = row[p] / top[p]
                    row[:] = [a - ratio * b for a, b in zip(row, top, strict=True)]
            coef = [Fraction(0)] * count
            for i in reversed(range(count)):
                known = sum((rows[i][j] * coef[j] for j in range(i + 1, count)), Fraction(0))
                coef[i] = (rows[i][-1] - known) / rows[i][i]
            found[support] = value, coef
    return found


def test_exact_values_are_those_of_plain_fractions():
    rng = np.random.default_rng(0)
    for ridge in (np.zeros(6), rng.uniform(0, 1, 6), 10.0 ** rng.uniform(-9, 9, 6)):
        theta, z, rest = np.triu(rng.standard_normal((6, 6))), rng.standard_normal(6), rng.standard_normal(1)
        exact = ExactValues(theta * 10.0 ** rng.uniform(-9, 9, 6), z, rest, ridge, 4, LIMIT)
        scaled = ExactValues(theta, z, rest, ridge, 4, LIMIT)
        plain = plain_values(theta, z, ridge, 4)
        listed = [value for size in range(5) for value in scaled.ascending(size)]
        assert {v.support: scaled.exact(v) for v in listed} == {
            s: value + Fraction(float(rest[0])) ** 2 for s, (value, _) in plain.items()
        }
        for value in listed:
            assert scaled.coefficients(value.support) == plain[value.support][1]
        assert len([v for size in range(5) for v in exact.ascending(size)]) == len(listed)
    for size in range(5):
        values = [scaled.exact(v) for v in scaled.ascending(size)]
        assert values == sorted(values)


@pytest.mark.parametrize(
    "apart, want", [(2.0**-43 * 0.9, "no"), (1e-13 * (1 + 1e-8), "either"), (1e-13 * 1.001, "no"), (2.0**-20, "yes")]
)
def test_admissible_pairs(apart, want):
    """Two columns this far apart: dependent, at the threshold, with coefficients beyond the limit, fine."""
    theta = np.array([[1.0, 1.0], [0.0, apart]])
    exact = ExactValues(theta, np.array([1.0, 1.0]), np.zeros(1), np.zeros(2), 2, LIMIT)
    value = exact.find((0, 1))
    if value is not None and want == "either":
        assert value.independent == "either"  # (and its coefficients are beyond the limit)
    else:
        assert (exact.admissible(value) if value else "no") == want


def test_volume_and_coefficients_decide():
    theta = np.triu(np.ones((4, 4)), 1) + np.diag([1.0, 1e-9, 1e-9, 1e-9])
    exact = ExactValues(theta, np.array([1.0, 0, 0, 0]), np.zeros(1), np.zeros(4), 4, LIMIT)
    assert exact.find((0, 1, 2, 3)) is None  # 1e-27 is below 2^-80
    pair = exact.find((0, 1))
    assert pair is not None
    assert exact.admissible(pair) == "yes"  # the coefficient of the second column is 0
    other = ExactValues(theta, np.array([1.0, 1.0, 0, 0]), np.zeros(1), np.zeros(4), 2, LIMIT)
    assert other.admissible(other.find((0, 1))) == "no"
    assert other.admissible(other.find((0,))) == "yes"


@pytest.fixture(name="case")
def fixture_case():
    rng = np.random.default_rng(3)
    theta = rng.standard_normal((30, 7))
    problem = Problem.from_arrays(theta, theta[:, [1, 4]].sum(axis=1) + rng.standard_normal(30))
    block = problem.blocks[0]
    z, rest = block.target(0)
    return problem, ExactValues(block.theta_factor, z, rest, np.zeros(7), 3, LIMIT)


def test_a_right_answer_passes(case):
    problem, exact = case
    assert list(check_solution(exact, solve(problem, 3), 3)) == []


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"objective": 1 + 1e-13}, "objective .* should be"),
        ({"lower_bound": 1 + 4e-16}, "lower_bound .* is above the optimum"),
        ({"margin": 1 + 1e-10}, "margin .* is outside"),
        ({"coef": 1 + 1e-13}, "coefficient .* should be"),
    ],
)
def test_a_forged_number_is_found(case, changes, message):
    problem, exact = case
    solution = solve(problem, 3)
    if "lower_bound" in changes:
        solution = replace(solution, lower_bound=solution.objective)
    forged = replace(solution, **{name: getattr(solution, name) * factor for name, factor in changes.items()})
    texts = list(check_solution(exact, forged, 3))
    assert texts
    assert all(re.match(message, text) for text in texts)


def test_another_support_is_found(case):
    problem, exact = case
    best = solve(problem, 3)
    other = refit(problem, [(0, 2, 3)])
    forged = replace(best, support=other.support, coef=other.coef, objective=other.objective)
    assert any("support (0, 2, 3) has" in text for text in check_solution(exact, forged, 3))


def test_ties_must_go_to_the_first():
    theta = np.eye(3)
    problem = Problem.from_arrays(theta, np.ones(3))
    exact = ExactValues(theta, np.ones(3), np.zeros(1), np.zeros(3), 2, LIMIT)
    best = solve(problem, 2)
    assert list(check_solution(exact, best, 2)) == []
    other = refit(problem, [(1, 2)])
    forged = replace(best, support=other.support, coef=other.coef)
    assert any("comes first" in text for text in check_solution(exact, forged, 2))


def test_pools_that_lack_a_support_are_found(case):
    problem, exact = case
    for asked in ({"count": 5}, {"within": 2.0}):
        members = solve_pool(problem, 2, **asked)[0]
        count, within = asked.get("count"), asked.get("within")
        assert len(members) > 2
        assert list(check_pool(exact, members, 2, True, count, within)) == []
        missing = [*members[:1], *members[2:]]
        assert any("missing" in text for text in check_pool(exact, missing, 2, True, count, within))
        assert list(check_pool(exact, missing, 2, False, count, within)) == []
        swapped = [members[1], members[0], *members[2:]]
        assert any("wrong order" in text for text in check_pool(exact, swapped, 2, True, count, within))
    more = solve_pool(problem, 2, count=21)[0]
    assert any("outside the share" in text for text in check_pool(exact, more, 2, True, None, 0.01))


def test_an_instance_is_the_same_every_time():
    first, second = draw(Task("gauss", 4, 7)), draw(Task("gauss", 4, 7))
    assert first.problem.fingerprint == second.problem.fingerprint
    assert first.problem.fingerprint != draw(Task("gauss", 5, 7)).problem.fingerprint


def test_an_exception_is_wrong(monkeypatch):
    def fail(task):
        raise RuntimeError("broken")

    monkeypatch.setattr(torture_run, "examine", fail)
    campaign = torture_run.run(3, 0, ["gauss"], 0, print)
    assert campaign.total.wrong == 3
    assert not campaign.passed
    text = torture_run.report(campaign)
    assert "exactsindy bench torture --family gauss --seed 0 --only 1\n    raised RuntimeError: broken" in text


def test_the_command(tmp_path):
    run = CliRunner()
    one = run.invoke(app, ["bench", "torture", "--family", "gauss", "--only", "3"])
    assert (one.exit_code, one.stdout) == (0, "right\n")
    some = run.invoke(
        app, ["bench", "torture", "--family", "gauss", "--family", "chain", "--instances", "60", "--out", str(tmp_path)]
    )
    assert some.exit_code == 0
    assert "| all | 60 |" in (tmp_path / "torture.md").read_text()
    assert run.invoke(app, ["bench", "torture", "--only", "3"]).exit_code != 0
    assert run.invoke(app, ["bench", "torture", "--family", "nothing"]).exit_code != 0

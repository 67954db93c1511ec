"""Constraints that require terms leave small sizes without an answer: every rule starts at the first that has one."""

from __future__ import annotations

import math

import numpy as np
import pytest

import exactsindy as es
from exactsindy.errors import SolverError
from exactsindy.selection import PathEvidence, growth_ratio
from exactsindy.selection.growth import first_sizes, log_gains

RULES = [
    es.selection.GrowthRatio(),
    PathEvidence(),
    es.selection.AICc(count="own"),
    es.selection.BIC(),
    es.selection.EBIC(),
    es.selection.BIC(unbias=False),
    es.selection.CrossValidation(),
    es.selection.Stability(count=5),
]
# The truth is y0' = 3 theta0 - 2 theta1 - theta2 and y1' = theta4.
CONSTRAINTS = {
    "fixed": ["y0': theta2 == -1"],
    "required": [es.constraints.Require("y0'", "theta2")],
    "bounded": [es.constraints.Bounds("y0'", "theta0", 0.5, 10.0)],
    "two fixed": ["y0': theta2 == -1", "y0': theta1 == -2"],
    "all fixed": ["y0': theta2 == -1", "y0': theta1 == -2", "y0': theta0 == 3"],
}


@pytest.fixture(scope="module")
def folds():
    rng = np.random.default_rng(3)
    theta = rng.normal(size=(400, 8))
    truth = np.column_stack([3 * theta[:, 0] - 2 * theta[:, 1] - theta[:, 2], theta[:, 4]])
    y = truth + 0.05 * rng.normal(size=truth.shape)
    return [es.Problem.from_arrays(theta[i::8], y[i::8]) for i in range(8)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{type(rule).__name__}")
@pytest.mark.parametrize("name", CONSTRAINTS)
def test_required_terms_do_not_hide_the_others(folds, rule, name):
    chosen = es.select(folds, k_max=5, rule=rule, constraints=CONSTRAINTS[name])
    if rule in (es.selection.GrowthRatio(), PathEvidence(), es.selection.EBIC(), es.selection.CrossValidation()):
        assert chosen.solution.support == ((0, 1, 2), (4,))
    assert {0, 1, 2} <= set(chosen.solution.support[0])
    assert 4 in chosen.solution.support[1]
    assert all(math.isfinite(choice.score) for choice in chosen.choices)
    if "fixed" in name:
        assert chosen.solution.coef[0, 2] == pytest.approx(-1.0, abs=1e-12)
    first = {"two fixed": 2, "all fixed": 3}.get(name, 1)
    assert first_sizes(chosen.path) == [first, 0]
    rows = [row for row in chosen.table if row.equation == "y0'"]
    assert all(math.isnan(row.value) and row.proved for row in rows[:first])
    assert "infeasible" in str(chosen)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{type(rule).__name__}")
@pytest.mark.parametrize("name", ["fixed", "bounded", "all fixed"])
def test_required_terms_in_a_shared_budget(folds, rule, name):
    chosen = es.select(folds, k_max=es.Total(7), rule=rule, constraints=CONSTRAINTS[name])
    assert {0, 1, 2} <= set(chosen.solution.support[0])
    assert 4 in chosen.solution.support[1]
    assert chosen.choices[0].k >= 4
    assert math.isfinite(chosen.choices[0].score)


@pytest.mark.parametrize(
    "rule", [es.selection.GrowthRatio(), PathEvidence(), es.selection.EBIC(), es.selection.CrossValidation()]
)
def test_useless_required_terms_stay_alone_where_nothing_else_helps(rule):
    rng = np.random.default_rng(0)
    theta, y = rng.normal(size=(400, 6)), rng.normal(size=400)
    folds = [es.Problem.from_arrays(theta[i::8], y[i::8]) for i in range(8)]
    required = [es.constraints.Require(0, "theta1"), es.constraints.Require(0, "theta3")]
    assert es.select(folds, k_max=5, rule=rule, constraints=required).solution.support == ((1, 3),)


def test_the_gain_of_the_first_size_is_spread_over_its_terms(folds):
    whole = sum(folds[1:], folds[0])
    path = es.solve_path(whole, 4, constraints=CONSTRAINTS["two fixed"])
    gains = log_gains(path)
    expected = np.log(whole.rss(np.zeros((2, 8)))[0] / path[2].objective[0])
    np.testing.assert_allclose(gains[:2, 0], expected / 2, rtol=1e-9)
    np.testing.assert_allclose(gains[2, 0], np.log(path[2].objective[0] / path[3].objective[0]), rtol=1e-9)
    assert growth_ratio(path) == [3, 1]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{type(rule).__name__}")
def test_no_feasible_size_is_refused_in_words(folds, rule):
    required = [es.constraints.Require("y0'", f"theta{j}") for j in range(4)]
    with pytest.raises(SolverError, match=r"y0': no model with at most 3 terms satisfies the constraints\. Allow more"):
        es.select(folds, k_max=3, rule=rule, constraints=required)
    with pytest.raises(SolverError, match=r"y0', y1': no model with at most 3 terms satisfies the constraints"):
        es.select(folds, k_max=es.Total(3), rule=rule, constraints=required)


def test_the_largest_size_may_be_the_only_one(folds):
    required = [es.constraints.Require("y0'", f"theta{j}") for j in range(3)]
    for rule in RULES:
        chosen = es.select(folds, k_max=3, rule=rule, constraints=required)
        assert chosen.solution.support[0] == (0, 1, 2)

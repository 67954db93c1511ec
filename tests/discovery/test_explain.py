"""Notices carry the equation that they are about, and only what concerns the answer is said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import exactsindy as es
from exactsindy.discovery.explain import ambiguity_notices, residual_notices, selection_notices
from exactsindy.forms import Whiteness
from exactsindy.problem import Problem
from exactsindy.selection import select
from exactsindy.solver import Status, solve_path, solve_pool


def test_residual_notices_name_their_equation():
    whiteness = Whiteness(("x'", "y'"), np.array([1.0, 3.0]), np.array([0.5, 0.0]))
    notices = list(residual_notices(whiteness, (), np.zeros((2, 1))))
    assert [(notice.kind, notice.equation) for notice in notices] == [("coloured", "x'"), ("residual", "y'")]


def test_parts_of_unequal_noise_are_told_per_equation():
    rng = np.random.default_rng(0)
    targets = rng.normal(size=(400, 2)) * np.where(np.arange(400) < 200, 1.0, 5.0)[:, None] ** [1, 0]
    folds = [Problem.from_arrays(np.ones((100, 1)), targets[i : i + 100]) for i in range(0, 400, 100)]
    whiteness = Whiteness(folds[0].target_names, np.ones(2), np.zeros(2))
    (notice,) = residual_notices(whiteness, folds, np.zeros((2, 1)))
    assert (notice.kind, notice.equation) == ("unequal", folds[0].target_names[0])


def test_a_column_that_never_changes_is_told_once():
    t = np.arange(0.0, 8.0, 0.05)
    states = np.column_stack([np.cos(t), -np.sin(t)]) + 0.01 * np.random.default_rng(0).normal(size=(len(t), 2))
    data = np.column_stack([states, np.full(len(t), 3.0)])
    found = es.discover(data, t, states=("x", "v", "room"), degree=1, threads=1)
    assert [notice.kind for notice in found.warnings if "room" in notice.message] == ["constant"]


def test_samples_of_a_map_are_told_once():
    x = [0.3]
    for _ in range(199):
        x.append(3.8 * x[-1] * (1 - x[-1]))
    found = es.discover(np.array(x), np.arange(200.0), states="x", threads=1)
    kinds = {notice.kind for notice in found.warnings}
    assert "map" in kinds
    assert not kinds & {"empty", "coloured"}


def test_sizes_that_are_not_proved_say_why():
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(200, 4))
    problem = Problem.from_arrays(theta, theta[:, 0] + 0.1 * rng.normal(size=200))
    path = solve_path(problem, 3)
    name, chosen = problem.target_names[0], select(problem, k_max=3, rule="bic")
    for status, reason in (
        (Status.TIME_LIMIT, "Their share of the time limit was over."),
        (Status.NODE_LIMIT, Status.NODE_LIMIT.value),
    ):
        later = replace(path[2], status=(status,))
        chosen = replace(chosen, path=replace(path, solutions=(path[0], path[1], later, path[3])))
        chosen = replace(chosen, choices=(replace(chosen.choices[0], k=1),), solution=path[1])
        messages = [notice.message for notice in selection_notices(chosen, 3)]
        assert messages == [f"{name}: sizes from 2 terms on are not proved. {reason}"]


def test_twins_are_indistinguishable():
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(100, 4))
    theta[:, 1] = theta[:, 0] + 1e-6 * rng.normal(size=100)
    problem = Problem.from_arrays(theta, theta[:, 0] + 0.1 * rng.normal(size=100))
    (notice,) = ambiguity_notices(solve_pool(problem, 1, count=4))
    assert notice.equation == problem.target_names[0]
    assert "these 2 supports are indistinguishable (theta" in notice.message

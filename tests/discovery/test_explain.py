"""Notices carry the equation that they are about, and only what concerns the answer is said."""

from __future__ import annotations

import numpy as np

from exactsindy.discovery.explain import ambiguity_notices, residual_notices
from exactsindy.forms import Whiteness
from exactsindy.problem import Problem
from exactsindy.solver import solve_pool


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


def test_twins_are_indistinguishable():
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(100, 4))
    theta[:, 1] = theta[:, 0] + 1e-6 * rng.normal(size=100)
    problem = Problem.from_arrays(theta, theta[:, 0] + 0.1 * rng.normal(size=100))
    (notice,) = ambiguity_notices(solve_pool(problem, 1, count=4))
    assert notice.equation == problem.target_names[0]
    assert "these 2 supports are indistinguishable (theta" in notice.message

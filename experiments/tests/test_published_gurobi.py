"""The paper's Gurobi formulation: its bound, and that it calls wrong supports optimal."""

from dataclasses import replace

import numpy as np
import pytest

from exactsindy import Problem, solve
from exactsindy_experiments.instances import equation
from exactsindy_experiments.published_gurobi import solve_published

pytest.importorskip("gurobipy")


def published(subject):
    ridge = np.full(len(subject.z), subject.ridge)
    return solve_published(
        subject.theta_factor, subject.z, subject.rest_square, ridge, subject.size, seconds=30.0, threads=1
    )


def rows(seed):
    """Return rows with one large term: a gap of 1e-4 of y'y - RSS then exceeds the differences between supports."""
    rng = np.random.default_rng(seed)
    theta = rng.standard_normal((60, 12))
    return theta, 100 * theta[:, 0] + theta[:, 1:] @ rng.uniform(0.2, 0.5, 11) + 0.1 * rng.standard_normal(60)


def test_it_calls_wrong_supports_optimal():
    excess = []
    for seed in (1, 2):
        problem = Problem.from_arrays(*rows(seed))
        subject = equation(problem, 0, 5, 0.0)
        answer = published(subject)
        best = solve(problem, 5)
        assert answer["status"] == "optimal"
        assert len(answer["support"]) <= 5
        assert solve(problem, 5, backend="gurobi").support == best.support
        excess.append(subject.objective(tuple(answer["support"])) / float(best.objective[0]))
    assert max(excess) > 1.01


def test_its_bound_has_the_constant():
    theta, y = rows(1)
    subject = equation(Problem.from_arrays(theta, y), 0, 3, 0.01)
    answer = published(subject)
    exact = float(solve(subject.problem, 3, ridge=0.01).objective[0])
    # Its gap is relative to y'y - RSS, about y'y here.
    assert abs(answer["lower_bound"] - exact) <= 2e-4 * float(y @ y)
    assert answer["seconds"] > 0
    assert published(replace(subject, size=0))["support"] == []


def test_a_small_licence_is_reported():
    answer = solve_published(np.eye(300), np.ones(300), 0.0, np.zeros(300), 3, seconds=1.0)
    if answer["status"] == "licence":  # a full licence does not refuse
        assert answer["support"] == []
        assert answer["note"]

"""The published runtime problems."""

import numpy as np
import pytest

from exactsindy.systems import SYSTEMS
from exactsindy_experiments.instances import DURATIONS, Instance, equation, prepare
from exactsindy_experiments.metrics import coefficient_error


def test_durations():
    assert len(DURATIONS) == 12
    assert (DURATIONS[0], DURATIONS[-1]) == (0.5, 128.0)
    assert DURATIONS[3] == pytest.approx(2**1.1818181818, rel=1e-9)


@pytest.mark.parametrize(
    ("system", "degree", "terms"),
    [("lorenz", 3, 20), ("lorenz", 5, 56), ("hopf", 3, 10), ("hopf", 5, 21), ("mhd", 3, 84), ("mhd", 5, 462)],
)
def test_library_sizes(system, degree, terms):
    prepared = prepare(Instance(system, degree, 0.5))
    assert len(prepared.problem.terms) == terms
    assert prepared.problem.n_samples == 250
    assert prepared.problem.target_names == SYSTEMS[system].targets
    assert prepared.library_seconds > 0
    assert prepared.compress_seconds > 0
    truth = SYSTEMS[system].coefficients(prepared.problem.names)
    assert tuple(np.count_nonzero(truth, axis=1)) == SYSTEMS[system].sizes


def test_the_true_terms_fit():
    problem = prepare(Instance("lorenz", 2, 16.0)).problem
    truth = SYSTEMS["lorenz"].coefficients(problem.names)
    block = problem.blocks[0]
    found = np.zeros_like(truth)
    for row in range(3):
        support = np.flatnonzero(truth[row])
        found[row, support] = np.linalg.lstsq(block.theta_factor[:, support], block.target(row)[0])[0]
    assert coefficient_error(truth, found) < 1e-3
    assert found[1, problem.names.index("x z")] == pytest.approx(-0.9995, abs=1e-3)


@pytest.mark.parametrize(("system", "degree"), [("hopf", 3), ("mhd", 5)])
def test_one_equation_is_the_same_regression(system, degree):
    problem = prepare(Instance(system, degree, 0.5)).problem
    target = problem.target_names[1]
    subject = equation(problem, target, 3, 0.01)
    assert subject.problem.target_names == (target,)
    coef = np.zeros((len(problem.target_names), len(problem.terms)))
    coef[1, [1, 4]] = [0.3, -0.2]
    assert subject.problem.rss(coef[1])[0] == pytest.approx(problem.rss(coef)[1], rel=1e-12)


@pytest.mark.parametrize("ridge", [0.0, 0.01, 3.0])
def test_objective_of_a_support_is_the_least(ridge):
    problem = prepare(Instance("lorenz", 3, 0.5)).problem
    subject = equation(problem, "y'", 3, ridge)
    support = (1, 2, 6)
    columns = subject.theta_factor[:, support]
    coef = np.linalg.solve(columns.T @ columns + ridge * np.eye(3), columns.T @ subject.z)
    full = np.zeros(20)
    full[list(support)] = coef
    expected = subject.problem.rss(full)[0] + ridge * coef @ coef
    assert subject.objective(support) == pytest.approx(expected, rel=1e-9)
    full[1] += 1e-3
    assert subject.problem.rss(full)[0] + ridge * full @ full > subject.objective(support)
    assert subject.objective(()) == pytest.approx(subject.z @ subject.z + subject.rest_square)

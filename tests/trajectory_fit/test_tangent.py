"""The regression that touches the misfit at a trajectory fit."""

import numpy as np
import pytest

import exactsindy as es
from exactsindy.trajectory_fit import TrajectoryModel, tangent_problem
from trajectory_fit.samples import T, columns, measured, oscillator, van_der_pol


def test_standard_errors_of_the_tangent_regression_are_right():
    """Errors divided by the standard error have variance 1 over many draws of the noise."""
    scores = []
    for seed in range(40):
        m = measured(oscillator(T), 0.2, seed=seed, library=es.Polynomials(1))
        supports = columns(m, ("v",), ("x",))
        fit = TrajectoryModel(m, supports).fit([[1.0], [-1.0]])
        for i, value in enumerate((1.0, -1.0)):
            block, _ = tangent_problem(m, supports, fit, i).locate(0)
            column = block.theta_factor[:, list(supports[i])]
            scores.append((fit.coef[i][0] - value) * np.linalg.norm(column))
    assert 0.75 < np.std(scores) < 1.3
    assert abs(np.mean(scores)) < 0.4


def test_the_tangent_regression_touches_the_misfit():
    """At the fitted coefficients it is the misfit; nearby it is the misfit of the fit done again."""
    m = measured(van_der_pol(T), 0.1, seed=3)
    supports = columns(m, ("v",), ("x", "v", "x^2 v"))
    model = TrajectoryModel(m, supports)
    fit = model.fit([[1.0], [-1.0, 1.0, -1.0]])
    problem = tangent_problem(m, supports, fit, 1)
    coef = np.zeros((1, len(problem.terms)))
    coef[0, list(supports[1])] = fit.coef[1]
    assert problem.rss(coef)[0] == pytest.approx(fit.misfit, rel=1e-6)
    # With one more term: the prediction is close to what a real fit finds.
    more = columns(m, ("v",), ("x", "v", "x^2 v", "x v^2"))
    refitted = TrajectoryModel(m, more).fit([fit.coef[0], np.append(fit.coef[1], 0.0)], fit.states)
    block = problem.locate(0)[0]
    z, rest = block.target(0)
    slope = np.linalg.lstsq(block.theta_factor[:, list(more[1])], z, rcond=None)[0]
    predicted = float(np.sum((z - block.theta_factor[:, list(more[1])] @ slope) ** 2) + rest @ rest)
    assert fit.misfit - predicted == pytest.approx(fit.misfit - refitted.misfit, rel=0.05, abs=0.05)


def test_the_best_supports_of_the_tangent_regression_are_those_of_the_model():
    m = measured(van_der_pol(T), 0.1, seed=3)
    supports = columns(m, ("v",), ("x", "v", "x^2 v"))
    fit = TrajectoryModel(m, supports).fit([[1.0], [-1.0, 1.0, -1.0]])
    for i, support in enumerate(supports):
        solution = es.solve(tangent_problem(m, supports, fit, i), len(support))
        assert solution.support[0] == support
        np.testing.assert_allclose(solution.coef[0, list(support)], fit.coef[i], rtol=1e-3)

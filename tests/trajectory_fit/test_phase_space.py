"""Trajectory fits in phase space: x' has no samples, and that it is the rate of x is known."""

from dataclasses import replace

import numpy as np
import pytest

import exactsindy as es
from exactsindy.forms import groups, phase_space, smooth
from exactsindy.trajectory_fit import MeasuredTrajectories, TrajectoryModel, residuals, row_count, tangent_problem
from second_order_samples import damped, positions

LIBRARY = es.Terms(["x", "x'", "x^3"])


def measured(noise, integrated=False):
    t, x = positions(damped, [1.0, 0.0], noise=noise, samples=400)
    data = es.Trajectories.from_arrays(x, time=t, states=("x",), targets="x''")
    space = phase_space(smooth(data), data.rate_names)
    return MeasuredTrajectories(space, groups(data, LIBRARY), integrated, data.rate_names)


@pytest.mark.parametrize("integrated", [False, True])
def test_the_velocity_is_found_without_samples(integrated):
    m = measured(0.02, integrated)
    fit = TrajectoryModel(m, ((0, 1),)).fit([[-3.9, -0.3]])
    np.testing.assert_allclose(fit.coef[0], [-4.0, -0.2], rtol=0.03)
    assert 0.85 < fit.misfit / row_count(m) < 1.15
    times, velocity = m.times[0], fit.states[:, 1] * m.smoothed.noise[1]
    position = fit.states[:, 0] * m.smoothed.noise[0]
    np.testing.assert_allclose(velocity[5:-5], np.gradient(position, times)[5:-5], atol=0.02)
    assert residuals(m, fit.states).shape == (400, 1)


def test_samples_of_the_velocity_do_not_count():
    m = measured(0.02)
    pieces = tuple(replace(piece, states=piece.states + np.array([0.0, 5.0])) for piece in m.smoothed.pieces)
    moved = replace(m, smoothed=replace(m.smoothed, pieces=pieces))
    before, after = (TrajectoryModel(part, ((0, 1),)).fit([[-4.0, -0.2]]) for part in (m, moved))
    np.testing.assert_allclose(after.coef[0], before.coef[0], rtol=1e-9)
    assert after.misfit == pytest.approx(before.misfit)


def test_the_tangent_regression_is_that_of_the_sought_equation():
    m = measured(0.02)
    fit = TrajectoryModel(m, ((0, 1),)).fit([[-4.0, -0.2]])
    problem = tangent_problem(m, ((0, 1),), fit, 0)
    assert problem.target_names == ("x''",)
    assert problem.names == ("x", "x'", "x^3")
    best = es.solve(problem, 2)
    assert best.support == ((0, 1),)
    np.testing.assert_allclose(best.coef[0, :2], fit.coef[0], rtol=1e-3)
    assert best.objective[0] == pytest.approx(fit.misfit, rel=1e-3)


def test_third_order_has_two_known_equations():
    t = np.linspace(0.0, 10.0, 400)
    data = es.Trajectories.from_arrays(np.exp(-0.3 * t) * np.cos(t), time=t, states=("x",), targets="x'''")
    assert data.rate_names == ("x'", "x''")
    space = phase_space(smooth(data), data.rate_names)
    m = MeasuredTrajectories(space, groups(data, es.Polynomials(1)), hidden=data.rate_names)
    assert m.complete.own.tolist() == [2, 0, 1]
    assert m.can_integrate
    assert m.observed.tolist() == [True, False, False]

"""Trajectory fits of maps: the Gauss-Newton step, the likelihood, and its tangent regression."""

from __future__ import annotations

import numpy as np
import pytest
from tests.map_cases import henon, noisy

import exactsindy as es
from exactsindy.forms import groups, lagged
from exactsindy.trajectory_fit import MeasuredMap, TrajectoryModel, row_count, tangent_problem
from exactsindy.trajectory_fit.map_step import profile_map


def measured(states, share, form, degree=2, names=("x", "y")):
    data = form.steps(es.Trajectories.from_arrays(states, time=1.0, states=names[: states.shape[1]]))
    equations = groups(lagged(data, form.lags), es.Polynomials(degree))
    spread = states.std(axis=0)
    return MeasuredMap(data, equations, share * spread, 1e-10 * spread, form.lags)


@pytest.mark.parametrize("lags", [0, 2])
@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_step_is_that_of_a_dense_least_squares_problem(lags, damping):
    rng = np.random.default_rng(0)
    n, s, e, p, precision = 12, 2, 2, 3, 7.0
    starts = np.array([*range(lags, 5), *range(7 + lags, n - 1)])
    m = len(starts)
    residual, defect = rng.normal(size=(n, s)), rng.normal(size=(m, e))
    reach, columns = rng.normal(size=(m, e, lags + 2, s)), rng.normal(size=(m, e, p))
    step = profile_map(residual, defect, reach, starts, columns, precision, damping)
    rows = np.zeros((m * e, n * s + p))
    for i, at in enumerate(starts):
        for j in range(e):
            for b in range(lags + 2):
                sample = at - lags + b
                rows[i * e + j, sample * s : sample * s + s] = reach[i, j, b]
            rows[i * e + j, n * s :] = -columns[i, j]
    whole = np.zeros((n * s + p, n * s + p))
    whole[: n * s, : n * s] = np.eye(n * s)
    whole += precision * rows.T @ rows
    right = np.concatenate([residual.ravel(), np.zeros(p)]) - precision * rows.T @ defect.ravel()
    states = whole[: n * s, : n * s] + damping * np.diag(np.diag(whole[: n * s, : n * s]))
    across = whole[: n * s, n * s :]
    curvature = whole[n * s :, n * s :] - across.T @ np.linalg.solve(states, across)
    slope = right[n * s :] - across.T @ np.linalg.solve(states, right[: n * s])
    np.testing.assert_allclose(step.curvature, curvature, rtol=1e-8)
    np.testing.assert_allclose(step.slope, slope, rtol=1e-8)
    change = np.linalg.solve(curvature + damping * np.diag(np.diag(curvature)), slope)
    np.testing.assert_allclose(step.coef, change, rtol=1e-7)
    np.testing.assert_allclose(
        step.states.ravel(), np.linalg.solve(states, right[: n * s] - across @ change), rtol=1e-7
    )


def test_true_trajectory_leaves_no_defect():
    samples = measured(henon(100), 0.01, es.MapForm())
    flow = samples.flow(((0, 2, 3), (1,)))
    defects = flow.defects(samples.samples, [np.array([1.0, 1.0, -1.4]), np.array([0.3])])
    assert np.abs(defects).max() < 1e-10
    assert row_count(samples) == 2 * 99


@pytest.mark.parametrize("form", [es.MapForm(), es.MapForm(increments=True), es.MapForm(lags=1)])
def test_fit_of_a_chaotic_map_leaves_the_noise(form):
    clean = henon(800)
    clean = clean[:, :1] if form.lags else clean
    samples = measured(noisy(clean, 0.05, 2), 0.05, form)
    names = [group.features.names for group in samples.equations for _ in group.targets]
    wanted = [{"1": 1.0, "x^2": -1.4, ("x[k-1]" if form.lags else "y"): 0.3 if form.lags else 1.0}, {"x": 0.3}]
    if form.increments:
        wanted = [{**wanted[0], "x": -1.0}, {"x": 0.3, "y": -1.0}]
    wanted = wanted[: len(names)]
    supports = tuple(tuple(sorted(own.index(n) for n in row)) for own, row in zip(names, wanted, strict=True))
    truth = [np.array([row[own[j]] for j in s]) for own, row, s in zip(names, wanted, supports, strict=True)]
    fit = TrajectoryModel(samples, supports).fit([0.97 * xi for xi in truth])
    assert 0.9 < fit.misfit / row_count(samples) < 1.1
    for found, true in zip(fit.coef, truth, strict=True):
        np.testing.assert_allclose(found, true, atol=0.01)
    problem = tangent_problem(samples, supports, fit, 0)
    assert problem is not None
    best = es.solve(problem, len(supports[0]))
    assert set(best.terms[problem.target_names[0]]) == set(wanted[0])
    assert best.objective[0] == pytest.approx(fit.misfit, rel=1e-3)


def test_noise_is_taken_from_the_fit():
    samples = measured(noisy(henon(500), 0.02, 5), 0.04, es.MapForm())
    fit = TrajectoryModel(samples, ((0, 2, 3), (1,))).fit([np.array([1.0, 1.0, -1.4]), np.array([0.3])])
    again = samples.with_noise_of(fit.states)
    np.testing.assert_allclose(again.noise, 0.02 * henon(500).std(axis=0), rtol=0.12)


def test_overflow_ends_a_step():
    samples = measured(henon(50), 0.01, es.MapForm())
    flow = samples.flow(((0, 2, 3), (1,)))
    assert flow.step(samples.samples * 1e200, [np.array([1.0, 1.0, 1e300]), np.array([0.3])], 1.0, 0.0) is None

"""The most likely orbit: what it must reproduce, and what it must survive."""

import numpy as np
import pytest

import exactsindy as es
from exactsindy.forms import smooth
from exactsindy.forms.base import groups
from exactsindy.trajectory_fit import MeasuredTrajectories, TrajectoryModel, features_of, row_count, tangent_problem
from exactsindy.trajectory_fit.measured import within

LIBRARY = es.Polynomials(3)
T = np.arange(0.0, 20.0, 0.05)


def oscillator(t, mu=0.0):
    """x'' = -x with amplitude falling as exp(-mu t / 2), up to terms of second order in mu."""
    return np.exp(-mu * t / 2)[:, None] * np.column_stack([np.cos(t), -np.sin(t)])


def measured(clean, noise, seed, *, library=LIBRARY, t=T, **more):
    rng = np.random.default_rng(seed)
    data = es.Trajectories.from_arrays(clean + noise * rng.normal(size=clean.shape), time=t, states=("x", "v"), **more)
    return MeasuredTrajectories(smooth(data), groups(data, library))


def columns(m, *supports):
    names = features_of(m, 0).names
    return tuple(tuple(sorted(names.index(name) for name in terms)) for terms in supports)


def van_der_pol(t):
    model = es.Model.from_coefficients({"x'": {"v": 1.0}, "v'": {"x": -1.0, "v": 1.0, "x^2 v": -1.0}})
    return model.simulate([1.0, 0.5], t).x


def test_the_right_model_leaves_the_noise_and_nothing_else():
    m = measured(van_der_pol(T), 0.1, seed=0)
    supports = columns(m, ("v",), ("x", "v", "x^2 v"))
    orbit = TrajectoryModel(m, supports).fit([[0.9], [-1.2, 0.7, -0.8]])
    # Misfit: chi squared with as many degrees of freedom as rows less coefficients, noise known to a few per cent.
    assert orbit.misfit == pytest.approx(row_count(m), rel=0.12)
    residual = (m.samples - orbit.states) * m.smoothed.noise
    assert residual.std() == pytest.approx(0.1, rel=0.1)
    clean = van_der_pol(T)
    assert np.sqrt(np.mean((orbit.states * m.smoothed.noise - clean) ** 2)) < 0.02


def test_a_wrong_model_fits_worse_by_far():
    m = measured(van_der_pol(T), 0.1, seed=0)
    right = TrajectoryModel(m, columns(m, ("v",), ("x", "v", "x^2 v"))).fit([[1.0], [-1.0, 1.0, -1.0]])
    wrong = TrajectoryModel(m, columns(m, ("v",), ("x", "v"))).fit([[1.0], [-1.0, 0.1]])
    assert wrong.misfit > 2 * right.misfit


def test_coefficients_are_not_attenuated_by_noise():
    """20 % noise: least squares on noisy states would shrink coefficients by a few per cent."""
    errors = []
    for seed in range(8):
        m = measured(van_der_pol(T), 0.3, seed=seed)
        supports = columns(m, ("v",), ("x", "v", "x^2 v"))
        orbit = TrajectoryModel(m, supports).fit([[0.9], [-0.9, 0.8, -0.8]])
        errors.append(np.concatenate(orbit.coef) - [1.0, -1.0, 1.0, -1.0])
    assert np.abs(np.mean(errors, axis=0)).max() < 0.03


def test_standard_errors_of_the_tangent_regression_are_right():
    """Errors divided by the standard error have variance 1 over many draws of the noise."""
    scores = []
    for seed in range(40):
        m = measured(oscillator(T), 0.2, seed=seed, library=es.Polynomials(1))
        supports = columns(m, ("v",), ("x",))
        orbit = TrajectoryModel(m, supports).fit([[1.0], [-1.0]])
        for i, value in enumerate((1.0, -1.0)):
            block, _ = tangent_problem(m, supports, orbit, i).locate(0)
            column = block.theta_factor[:, list(supports[i])]
            scores.append((orbit.coef[i][0] - value) * np.linalg.norm(column))
    assert 0.75 < np.std(scores) < 1.3
    assert abs(np.mean(scores)) < 0.4


def test_the_tangent_regression_touches_the_misfit():
    """At the orbit's coefficients it is the misfit; nearby it is the misfit of the orbit fitted again."""
    m = measured(van_der_pol(T), 0.1, seed=3)
    supports = columns(m, ("v",), ("x", "v", "x^2 v"))
    model = TrajectoryModel(m, supports)
    orbit = model.fit([[1.0], [-1.0, 1.0, -1.0]])
    problem = tangent_problem(m, supports, orbit, 1)
    coef = np.zeros((1, len(problem.terms)))
    coef[0, list(supports[1])] = orbit.coef[1]
    assert problem.rss(coef)[0] == pytest.approx(orbit.misfit, rel=1e-6)
    # With one more term: the prediction is close to what a real fit finds.
    more = columns(m, ("v",), ("x", "v", "x^2 v", "x v^2"))
    refitted = TrajectoryModel(m, more).fit([orbit.coef[0], np.append(orbit.coef[1], 0.0)], orbit.states)
    block = problem.locate(0)[0]
    z, rest = block.target(0)
    fit = np.linalg.lstsq(block.theta_factor[:, list(more[1])], z, rcond=None)[0]
    predicted = float(np.sum((z - block.theta_factor[:, list(more[1])] @ fit) ** 2) + rest @ rest)
    assert orbit.misfit - predicted == pytest.approx(orbit.misfit - refitted.misfit, rel=0.05, abs=0.05)


def test_the_best_supports_of_the_tangent_regression_are_those_of_the_model():
    m = measured(van_der_pol(T), 0.1, seed=3)
    supports = columns(m, ("v",), ("x", "v", "x^2 v"))
    orbit = TrajectoryModel(m, supports).fit([[1.0], [-1.0, 1.0, -1.0]])
    for i, support in enumerate(supports):
        solution = es.solve(tangent_problem(m, supports, orbit, i), len(support))
        assert solution.support[0] == support
        np.testing.assert_allclose(solution.coef[0, list(support)], orbit.coef[i], rtol=1e-3)


def test_several_pieces_are_fitted_with_the_same_coefficients():
    rng = np.random.default_rng(5)
    parts = [a * oscillator(T[:200] + b) + 0.05 * rng.normal(size=(200, 2)) for a, b in ((1, 0), (2, 1), (0.5, 2))]
    data = es.Trajectories.from_arrays(parts, time=[T[:200]] * 3, states=("x", "v"))
    m = MeasuredTrajectories(smooth(data), groups(data, es.Polynomials(1)))
    assert row_count(m) == 3 * 199 * 2
    assert (~within(m)).sum() == 2
    orbit = TrajectoryModel(m, columns(m, ("v",), ("x",))).fit([[0.9], [-0.9]])
    np.testing.assert_allclose(np.concatenate(orbit.coef), [1.0, -1.0], atol=0.02)
    assert orbit.misfit == pytest.approx(row_count(m), rel=0.12)


def test_controls_functions_and_unequal_steps():
    rng = np.random.default_rng(6)
    t = np.sort(rng.uniform(0.0, 15.0, 500))
    u = np.sin(0.7 * t)
    model = es.Model.from_coefficients({"x'": {"v": 1.0}, "v'": {"sin(x)": -1.0, "u": 0.5}}, controls=("u",))
    clean = model.simulate([0.5, 0.0], t, u=u).x
    noisy = clean + 0.02 * rng.normal(size=clean.shape)
    data = es.Trajectories.from_arrays(noisy, time=t, states=("x", "v"), controls={"u": u})
    m = MeasuredTrajectories(smooth(data), groups(data, es.Terms(["v", "x", "sin(x)", "u"])))
    orbit = TrajectoryModel(m, columns(m, ("v",), ("sin(x)", "u"))).fit([[0.9], [-0.9, 0.4]])
    np.testing.assert_allclose(np.concatenate(orbit.coef), [1.0, -1.0, 0.5], atol=0.02)


def test_a_model_that_overflows_is_infinitely_bad_and_does_no_harm():
    m = measured(1e3 * oscillator(T), 1.0, seed=0)
    orbit = TrajectoryModel(m, columns(m, ("x^3",), ("v^3",))).fit([[1e300], [1e300]])
    assert orbit.misfit == np.inf
    tame = TrajectoryModel(m, columns(m, ("v",), ("x",))).fit([[1.0], [-1.0]])
    assert tame.misfit < 2 * row_count(m)


def test_dependent_terms_do_not_stop_the_fit():
    """On a circle 1 and x^2 + v^2 are the same."""
    m = measured(oscillator(T), 0.05, seed=1)
    orbit = TrajectoryModel(m, columns(m, ("1", "v", "x^2", "v^2"), ("x",))).fit([[0.0, 1.0, 0.0, 0.0], [-1.0]])
    assert np.isfinite(orbit.misfit)
    assert orbit.misfit < 1.2 * row_count(m)


def test_no_step_is_begun_after_the_deadline():
    m = measured(van_der_pol(T), 0.1, seed=0)
    model = TrajectoryModel(m, columns(m, ("v",), ("x", "v", "x^2 v")))
    late = model.fit([[0.9], [-1.2, 0.7, -0.8]], deadline=0.0)
    assert np.array_equal(late.states, m.guess)
    assert np.isfinite(late.misfit)
    assert late.misfit > model.fit([[0.9], [-1.2, 0.7, -0.8]]).misfit

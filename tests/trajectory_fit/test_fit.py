"""The most likely trajectory: what it must reproduce, and what it must survive."""

import numpy as np
import pytest

import exactsindy as es
from exactsindy.forms import groups, smooth
from exactsindy.trajectory_fit import MeasuredTrajectories, TrajectoryModel, row_count
from exactsindy.trajectory_fit.protocols import within
from trajectory_fit.samples import T, columns, measured, oscillator, van_der_pol


def test_the_right_model_leaves_the_noise_and_nothing_else():
    m = measured(van_der_pol(T), 0.1, seed=0)
    supports = columns(m, ("v",), ("x", "v", "x^2 v"))
    fit = TrajectoryModel(m, supports).fit([[0.9], [-1.2, 0.7, -0.8]])
    # Misfit: chi squared with as many degrees of freedom as rows less coefficients, noise known to a few per cent.
    assert fit.misfit == pytest.approx(row_count(m), rel=0.12)
    residual = (m.samples - fit.states) * m.smoothed.noise
    assert residual.std() == pytest.approx(0.1, rel=0.1)
    clean = van_der_pol(T)
    assert np.sqrt(np.mean((fit.states * m.smoothed.noise - clean) ** 2)) < 0.02


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
        fit = TrajectoryModel(m, supports).fit([[0.9], [-0.9, 0.8, -0.8]])
        errors.append(np.concatenate(fit.coef) - [1.0, -1.0, 1.0, -1.0])
    assert np.abs(np.mean(errors, axis=0)).max() < 0.03


def test_several_pieces_are_fitted_with_the_same_coefficients():
    rng = np.random.default_rng(5)
    parts = [a * oscillator(T[:200] + b) + 0.05 * rng.normal(size=(200, 2)) for a, b in ((1, 0), (2, 1), (0.5, 2))]
    data = es.Trajectories.from_arrays(parts, time=[T[:200]] * 3, states=("x", "v"))
    m = MeasuredTrajectories(smooth(data), groups(data, es.Polynomials(1)))
    assert row_count(m) == 3 * 199 * 2
    assert (~within(m)).sum() == 2
    fit = TrajectoryModel(m, columns(m, ("v",), ("x",))).fit([[0.9], [-0.9]])
    np.testing.assert_allclose(np.concatenate(fit.coef), [1.0, -1.0], atol=0.02)
    assert fit.misfit == pytest.approx(row_count(m), rel=0.12)


def test_controls_functions_and_unequal_steps():
    rng = np.random.default_rng(6)
    t = np.sort(rng.uniform(0.0, 15.0, 500))
    u = np.sin(0.7 * t)
    model = es.Model.from_coefficients({"x'": {"v": 1.0}, "v'": {"sin(x)": -1.0, "u": 0.5}}, controls=("u",))
    clean = model.simulate([0.5, 0.0], t, u=u).x
    noisy = clean + 0.02 * rng.normal(size=clean.shape)
    data = es.Trajectories.from_arrays(noisy, time=t, states=("x", "v"), controls={"u": u})
    m = MeasuredTrajectories(smooth(data), groups(data, es.Terms(["v", "x", "sin(x)", "u"])))
    fit = TrajectoryModel(m, columns(m, ("v",), ("sin(x)", "u"))).fit([[0.9], [-0.9, 0.4]])
    np.testing.assert_allclose(np.concatenate(fit.coef), [1.0, -1.0, 0.5], atol=0.02)


def test_a_model_that_overflows_is_infinitely_bad_and_does_no_harm():
    m = measured(1e3 * oscillator(T), 1.0, seed=0)
    fit = TrajectoryModel(m, columns(m, ("x^3",), ("v^3",))).fit([[1e300], [1e300]])
    assert fit.misfit == np.inf
    tame = TrajectoryModel(m, columns(m, ("v",), ("x",))).fit([[1.0], [-1.0]])
    assert tame.misfit < 2 * row_count(m)


def test_dependent_terms_do_not_stop_the_fit():
    """On a circle 1 and x^2 + v^2 are the same."""
    m = measured(oscillator(T), 0.05, seed=1)
    fit = TrajectoryModel(m, columns(m, ("1", "v", "x^2", "v^2"), ("x",))).fit([[0.0, 1.0, 0.0, 0.0], [-1.0]])
    assert np.isfinite(fit.misfit)
    assert fit.misfit < 1.2 * row_count(m)


def test_no_step_is_begun_after_the_deadline():
    m = measured(van_der_pol(T), 0.1, seed=0)
    model = TrajectoryModel(m, columns(m, ("v",), ("x", "v", "x^2 v")))
    late = model.fit([[0.9], [-1.2, 0.7, -0.8]], deadline=0.0)
    assert np.array_equal(late.states, m.guess)
    assert np.isfinite(late.misfit)
    assert late.misfit > model.fit([[0.9], [-1.2, 0.7, -0.8]]).misfit


def test_terms_gain_nothing_from_the_tolerance_of_a_long_record():
    """Errors of the equations add up over 20,000 samples: with the tolerance of short records these terms gain 190."""
    times = 0.1 * np.arange(20_000)
    m = measured(oscillator(times), 0.05, seed=0, t=times)
    right = TrajectoryModel(m, columns(m, ("v",), ("x",))).fit([[1.0], [-1.0]])
    cubic = TrajectoryModel(m, columns(m, ("v", "x^2 v", "v^3"), ("x", "x^3", "x v^2")))
    assert 0 < right.misfit - cubic.fit([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]).misfit < 30

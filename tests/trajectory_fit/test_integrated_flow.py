"""Equations integrated between samples: derivatives, accuracy, controls, pieces, and fits of coarse samples."""

from dataclasses import replace

import numpy as np
import pytest

import exactsindy as es
from exactsindy.forms import groups, smooth
from exactsindy.trajectory_fit import MeasuredTrajectories, TrajectoryModel, features_of, row_count, tangent_problem
from exactsindy.trajectory_fit.intervals import Intervals
from exactsindy.trajectory_fit.runge_kutta import advance
from trajectory_fit.samples import T, columns, measured, oscillator, van_der_pol


def integrated(m):
    return replace(m, integrated=True)


def with_noise(m, size):
    noise = np.full(2, size)
    return replace(m, smoothed=replace(m.smoothed, measured_noise=noise, floor=0 * noise))


def forced(t, noise=0.0, seed=0):
    """A pendulum with a control, on unequal steps, in two pieces."""
    model = es.Model.from_coefficients({"x'": {"v": 1.0}, "v'": {"sin(x)": -1.0, "u": 0.5}}, controls=("u",))
    rng = np.random.default_rng(seed)
    pieces = [model.simulate(x0, t, u=lambda s: np.sin(0.7 * s)).x for x0 in ([0.5, 0.0], [-1.0, 0.4])]
    noisy = [x + noise * rng.normal(size=x.shape) for x in pieces]
    controls = [{"u": np.sin(0.7 * t)}] * 2
    data = es.Trajectories.from_arrays(noisy, time=[t, t], states=("x", "v"), controls=controls)
    return integrated(MeasuredTrajectories(smooth(data), groups(data, es.Terms(["v", "x", "sin(x)", "u", "cos(t)"]))))


def test_the_method_is_of_eighth_order():
    """Errors of x' = x over one unit of time fall 256-fold when steps are halved."""
    errors = [abs(advance(lambda x, share: x, np.ones(1), np.ones(1), m)[0] - np.e) for m in (1, 2)]
    assert errors[0] < 1e-6
    assert 200 < errors[0] / errors[1] < 600


def test_time_within_an_interval():
    """x' = 3 t^2 from 2 to 5: what a right-hand side is told is the share of the interval that has passed."""
    end = advance(lambda x, share: 0 * x + 3 * (2 + 3 * share) ** 2, np.zeros(1), np.array([3.0]), 2)
    np.testing.assert_allclose(end, 5**3 - 2**3, rtol=1e-12)


def polynomial_flow():
    """Three states, two libraries, a control, time among the terms, and different numbers of sub-steps."""
    t = np.cumsum(np.random.default_rng(0).uniform(0.05, 0.3, 40))
    x = 0.5 * np.random.default_rng(1).normal(size=(40, 3))
    data = es.Trajectories.from_arrays(x, time=t, states=("x", "y", "z"), controls={"u": np.cos(t)})
    library = es.PerEquation({"y": es.Terms(["t", "u x", "y^3"])}, default=es.Polynomials(3))
    m = integrated(MeasuredTrajectories(smooth(data), groups(data, library)))
    supports = tuple(
        (0, 1, 2) if len(f.names) == 3 else (0, 1, 3, 9, 14) for f in (features_of(m, i) for i in range(3))
    )
    rng = np.random.default_rng(2)
    coef = [0.2 * rng.normal(size=len(support)) for support in supports]
    flow = m.flow(supports)
    return replace(flow, substeps=rng.integers(1, 5, len(flow.substeps))), m.samples, coef


def test_the_native_integration_is_that_of_python():
    flow, states, coef = polynomial_flow()
    assert flow.polynomial is not None
    count = sum(map(len, coef))
    members, ends = next(flow._advance(states, coef, flow.substeps, count))
    assert members.tolist() == list(range(len(flow.substeps)))
    alone = flow._ends(states, coef, flow.substeps, np.array([3, 17]))
    flow.__dict__["polynomial"] = None
    for which, values in flow._advance(states, coef, flow.substeps, count):
        np.testing.assert_allclose(ends[:, :, which], values, rtol=1e-10, atol=1e-12 * np.abs(values).max())
    np.testing.assert_allclose(alone, flow._ends(states, coef, flow.substeps, np.array([3, 17])), rtol=1e-12)


@pytest.mark.parametrize("t", [np.arange(6.0), np.array([0.0, 0.5, 2.0, 2.2, 4.0])])
def test_controls_between_samples_are_local_cubics(t):
    pieces = es.Trajectories.from_arrays(
        np.zeros((len(t), 1)), time=t, states=("x",), controls={"u": t**3, "w": 1 - t**2}
    )
    intervals = Intervals.of(list(pieces))
    at = intervals.begin + 0.3 * intervals.length
    now = sum(c * 0.3**k for k, c in enumerate(intervals.controls))
    np.testing.assert_allclose(now[0, 1:-1], at[1:-1] ** 3, atol=1e-10)
    np.testing.assert_allclose(now[1], 1 - at**2, atol=1e-10)


def test_derivatives_are_those_of_the_integrated_equations():
    m = forced(np.sort(np.random.default_rng(1).uniform(0.0, 8.0, 20)))
    coef = [np.array([1.1, 0.2]), np.array([-0.9, 0.4, 0.1])]
    flow = m.flow(columns(m, ("v", "x"), ("sin(x)", "u", "cos(t)"))).refined(m.samples, coef)
    direction = np.random.default_rng(2).normal(size=m.samples.shape)
    turn = [np.array([0.3, -0.5]), np.array([0.7, 0.2, -0.4])]
    h = 1e-6

    def moved(sign):
        return flow.defects(
            m.samples + sign * h * direction, [c + sign * h * s for c, s in zip(coef, turn, strict=True)]
        )

    table = np.empty((len(flow.substeps), 2, 1 + 2 + 5))
    for which, ends in flow._advance(m.samples, coef, flow.substeps, 5):
        table[which] = ends.transpose(2, 0, 1) / m.smoothed.noise[:, None]
    starts = m.intervals.starts
    exact = direction[starts + 1]
    exact = exact - np.einsum("ijk,ik->ij", table[:, :, 1:3] * m.smoothed.noise, direction[starts])
    exact = exact - table[:, :, 3:] @ np.concatenate(turn)
    scale = np.abs(exact).max()
    np.testing.assert_allclose((moved(1) - moved(-1)) / (2 * h), exact, atol=1e-6 * scale)


def test_substeps_are_chosen_by_the_error_where_it_is_large():
    """Relaxation oscillations: long intervals with a fast jump ask for more than the slow ones."""
    t = np.arange(0.0, 40.0, 0.8)
    model = es.Model.from_coefficients({"x'": {"v": 1.0}, "v'": {"x": -1.0, "v": 3.0, "x^2 v": -3.0}})
    m = integrated(measured(model.simulate([2.0, 0.0], t).x, 1e-4, seed=0, t=t))
    m = with_noise(m, 1e-4)
    coef = [np.array([1.0]), np.array([-1.0, 3.0, -3.0])]
    flow = m.flow(columns(m, ("v",), ("x", "v", "x^2 v"))).refined(m.samples, coef)
    assert flow.substeps.min() < flow.substeps.max()
    assert np.abs(flow.errors(m.samples, coef)).max() <= 3e-3
    assert flow.refined(m.samples, coef) is flow


def test_fine_samples_are_fitted_as_by_local_cubics():
    m = measured(van_der_pol(T), 0.1, seed=3)
    supports = columns(m, ("v",), ("x", "v", "x^2 v"))
    start = [[0.9], [-1.2, 0.7, -0.8]]
    cubic, fine = TrajectoryModel(m, supports).fit(start), TrajectoryModel(integrated(m), supports).fit(start)
    assert fine.misfit == pytest.approx(cubic.misfit, abs=0.1)
    np.testing.assert_allclose(np.concatenate(fine.coef), np.concatenate(cubic.coef), atol=1e-3)
    tangents = [tangent_problem(x, supports, fit, 1) for x, fit in ((m, cubic), (integrated(m), fine))]
    grams = [problem.locate(0)[0].theta_factor for problem in tangents]
    np.testing.assert_allclose(grams[0].T @ grams[0], grams[1].T @ grams[1], rtol=0.05, atol=1.0)


def test_eight_samples_a_period_are_enough():
    """Local cubics err by more than the noise there, and the right law fits badly; integrated it leaves the noise."""
    t = np.arange(0.0, 80.0, 0.8)
    m = measured(van_der_pol(t), 0.01, seed=4, t=t)
    m = with_noise(m, 0.01)
    supports = columns(m, ("v",), ("x", "v", "x^2 v"))
    start = [[1.0], [-1.0, 1.0, -1.0]]
    assert TrajectoryModel(m, supports).fit(start, m.samples).misfit > 5 * row_count(m)
    fit = TrajectoryModel(integrated(m), supports).fit(start, m.samples)
    assert fit.misfit == pytest.approx(row_count(m), rel=0.25)
    np.testing.assert_allclose(np.concatenate(fit.coef), [1.0, -1.0, 1.0, -1.0], atol=0.01)


def test_controls_functions_pieces_and_unequal_steps():
    m = forced(np.sort(np.random.default_rng(6).uniform(0.0, 20.0, 100)), 0.01)
    m = with_noise(m, 0.01)
    fit = TrajectoryModel(m, columns(m, ("v",), ("sin(x)", "u"))).fit([[0.9], [-0.9, 0.4]], m.samples)
    np.testing.assert_allclose(np.concatenate(fit.coef), [1.0, -1.0, 0.5], atol=0.01)
    assert fit.misfit == pytest.approx(row_count(m), rel=0.25)
    assert row_count(m) == 2 * 99 * 2


@pytest.mark.filterwarnings("error")
def test_a_model_that_overflows_is_infinitely_bad_and_does_no_harm():
    m = integrated(measured(1e3 * oscillator(T), 1.0, seed=0))
    fit = TrajectoryModel(m, columns(m, ("x^3",), ("v^3",))).fit([[1e300], [1e300]])
    assert fit.misfit == np.inf
    assert TrajectoryModel(m, columns(m, ("v",), ("x",))).fit([[1.0], [-1.0]]).misfit < 2 * row_count(m)


def test_a_state_without_equation_cannot_be_integrated():
    x = oscillator(T)
    data = es.Trajectories.from_arrays(x, time=T, states=("x", "v"), targets=("x'",))
    assert not MeasuredTrajectories(smooth(data), groups(data, es.Polynomials(1))).can_integrate
    assert measured(x, 0.1, seed=0).can_integrate


def test_noise_estimated_from_a_fit_is_never_larger_than_before():
    """A fit that leaves more than the noise is a bad fit: larger noise would hide that. It has a floor, too."""
    m = measured(oscillator(T), 0.1, seed=0)
    shift = np.array([0.5, 3.0])
    after = m.with_noise_of(m.samples - shift).smoothed.noise
    np.testing.assert_allclose(after, m.smoothed.noise * [0.5, 1.0])
    exact = m.with_noise_of(m.samples).smoothed.noise
    np.testing.assert_allclose(exact, 1e-5 * np.sqrt(np.mean((m.samples * m.smoothed.noise) ** 2, axis=0)))

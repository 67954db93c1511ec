"""Velocities of measured positions in the regressions of x''."""

import numpy as np
import pytest

import exactsindy as es
from exactsindy.differentiation import PenalisedSpline
from exactsindy.errors import DataError
from exactsindy.forms import phase_space, smooth, with_rates
from second_order_samples import damped, positions

TRUE = {"x": -4.0, "x'": -0.2}


def data(noise=0.0):
    t, x = positions(damped, [1.0, 0.0], noise=noise)
    return es.Trajectories.from_arrays(x, time=t, states=("x",), targets="x''")


@pytest.mark.parametrize("form", [es.StrongForm(PenalisedSpline(), smooth_states=True), es.WeakForm(), es.StrongForm()])
def test_rows_hold_for_the_law(form):
    problem = form.problem(data(), es.Polynomials(2))
    assert problem.names == ("1", "x", "x'", "x^2", "x x'", "x'^2")
    coef = np.array([[TRUE.get(name, 0.0) for name in problem.names]])
    share = problem.rss(coef)[0] / problem.rss(0 * coef)[0]
    assert share < 1e-3
    assert es.solve(problem, 2).terms["x''"].keys() == TRUE.keys()


def test_whitened_windows_have_the_velocity():
    form = es.WeakForm(model=[[-4.0, -0.2]])
    whiteness = form.whiteness(data(0.02), es.Terms(["x", "x'"]), [[-4.0, -0.2]])
    assert 0.6 < whiteness.ratio[0] < 1.4


def test_measured_velocities_are_used():
    t, x = positions(damped, [1.0, 0.0])
    v = np.gradient(x, t)
    both = es.Trajectories.from_arrays({"x": x, "x'": v, "t": t}, time="t", targets=("x''",))
    assert both.rate_names == ()
    assert with_rates(both) is both
    given = es.Trajectories.from_arrays(x, time=t, states=("x",), targets="x''", derivatives=v[:, None])
    np.testing.assert_allclose(with_rates(given)[0].states[:, 1], v, rtol=1e-9)


def test_a_velocity_needs_samples():
    few = es.Trajectories.from_arrays(np.arange(5.0) ** 2, time=1.0, states=("x",), targets="x''")
    with pytest.raises(DataError, match="at least 8 are needed to estimate a velocity"):
        with_rates(few)


def test_phase_space_measures_velocities_in_the_unit_of_positions():
    smoothed = smooth(data(0.02))
    space = phase_space(smoothed, ("x'",))
    assert space.pieces[0].names == ("x", "x'")
    np.testing.assert_allclose(space.noise[1] / space.noise[0], 2.0, rtol=0.1)  # the frequency


def test_the_spline_says_what_it_expects():
    with pytest.raises(DataError, match="expected an integer from 1 to 4"):
        PenalisedSpline(d=5)
    t = np.linspace(0, 6, 301)
    noisy = np.sin(t) + 0.01 * np.random.default_rng(0).normal(size=301)
    assert np.abs(PenalisedSpline()(noisy, t) - np.cos(t))[10:-10].max() < 0.1
    assert np.abs(PenalisedSpline().states(noisy, t) - np.sin(t)).max() < 0.02


def test_damped_waves_have_the_velocity_of_the_field():
    wave = es.Model.from_coefficients({"u_tt": {"u_xx": 1.0, "u_t": -0.3}})
    assert wave.phase_names == ("u", "u_t")
    x, t = 2 * np.pi * np.arange(32) / 32, np.linspace(0.0, 4.0, 121)
    start = {"u": np.exp(np.cos(x)) + 0.3 * np.sin(2 * x), "u_t": 0.5 * np.sin(3 * x)}
    clean = wave.simulate_field(start, t, periods=2 * np.pi)["u"]
    noisy = clean + 0.01 * clean.std() * np.random.default_rng(0).normal(size=clean.shape)
    grid = {"dims": ("x", "t"), "coords": {"x": x, "t": t}, "periodic": {"x": 2 * np.pi}, "targets": "u_tt"}
    field = es.Field.from_arrays(noisy, **grid)
    assert field.rate_names == ("u_t",)
    found = es.discover(field, degree=1, threads=1)
    assert found.solution.terms["u_tt"] == pytest.approx({"u_t": -0.3, "u_xx": 1.0}, rel=0.05)
    assert found.model.scores(es.Field.from_arrays(clean, **grid))["u_tt"] > 0.9


def test_models_of_second_order_are_written_down():
    model = es.Model.from_coefficients({"x''": {"x": -4.0, "x' abs(x')": -0.2}})
    assert model.phase_names == ("x", "x'")
    assert r"\ddot{x} &= -4 \, x - 0.2 \, \dot{x} \, \left|\dot{x}\right|" in model.to_latex()
    assert es.Model.from_coefficients({"x''": {"x": -4.0}}).state_names == ("x",)

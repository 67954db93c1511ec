"""Samples that a solver interpolated between its steps: the exact rates at those steps are read off."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import exactsindy as es
from exactsindy.discovery.solver_steps import steps_of


def lorenz(t, x):
    return [10 * (x[1] - x[0]), x[0] * (28 - x[2]) - x[1], x[0] * x[1] - 8 / 3 * x[2]]


def pendulum(t, x):
    return [x[1], -np.sin(x[0]) - 0.1 * x[1]]


def simulated(law, start, times, **options):
    """Return samples as `solve_ivp` gives them by default, with a relative tolerance of 1e-3."""
    return solve_ivp(law, (times[0], times[-1]), start, t_eval=times, **options).y.T


@pytest.mark.parametrize("unequal", [False, True])
def test_rates_at_the_steps_are_exact(unequal):
    times = np.linspace(0, 5, 1000)
    if unequal:
        times[1:-1] += np.random.default_rng(0).uniform(-0.002, 0.002, 998)
    found = steps_of(es.Trajectories.from_arrays(simulated(lorenz, [-8, 8, 27], times), time=times)[0])
    steps = solve_ivp(lorenz, (0, 5), [-8, 8, 27]).t
    assert len(found) > 50
    assert np.abs(found.times[:, None] - steps).min(axis=1).max() < 1e-9
    rates = np.array([lorenz(0, x) for x in found.states])
    assert np.abs(found.derivatives - rates).max() < 1e-10 * np.abs(rates).max()


@pytest.mark.parametrize(
    "samples",
    [
        simulated(lorenz, [-8, 8, 27], np.linspace(0, 5, 1000), rtol=1e-10, atol=1e-10, method="DOP853"),
        simulated(lorenz, [-8, 8, 27], np.linspace(0, 5, 1000)) + np.random.default_rng(0).normal(size=(1000, 3)),
        simulated(lorenz, [-8, 8, 27], np.linspace(0, 5, 1000)).round(5),
        np.column_stack([np.linspace(0, 5, 1000) ** 4, np.linspace(0, 5, 1000)]),
    ],
    ids=["exact", "noisy", "rounded", "one polynomial"],
)
def test_other_samples_show_no_steps(samples):
    assert steps_of(es.Trajectories.from_arrays(samples, time=np.linspace(0, 5, 1000))[0]) is None


def test_splines_through_samples_show_no_steps():
    from scipy.interpolate import Akima1DInterpolator, CubicSpline, make_interp_spline

    times, fine = np.linspace(0, 5, 60), np.linspace(0, 5, 1000)
    coarse = simulated(lorenz, [-8, 8, 27], times)
    for curve in (CubicSpline(times, coarse), Akima1DInterpolator(times, coarse), make_interp_spline(times, coarse, 5)):
        assert steps_of(es.Trajectories.from_arrays(curve(fine), time=fine)[0]) is None


def test_discover_is_sure_of_a_simulation_at_the_default_tolerance():
    times = np.linspace(0, 5, 1000)
    found = es.discover(simulated(lorenz, [-8, 8, 27], times), times, states=("x", "y", "z"), seconds=20)
    assert found.model.equations(4) == ["x' = -10 x + 10 y", "y' = 28 x - y - x z", "z' = -2.667 z + x y"]
    assert min(found.confidence.values()) > 0.9
    kinds = [notice.kind for notice in found.warnings]
    assert kinds == ["simulated"]
    assert "errors of the simulation do not enter" in found.warnings[0].message
    assert len(found.data[0]) == 1000


def test_a_law_outside_the_library_is_withheld_and_the_others_stay():
    times = np.linspace(0, 20, 1001)
    samples = simulated(pendulum, [1.5, 0.0], times)
    found = es.discover(samples, times, states=("th", "w"), degree=3, seconds=20)
    assert found.confidence["th'"] > 0.9
    assert found.confidence["w'"] is None
    assert "of the rates at the steps of the solver, which the samples show exactly" in str(found.verdict)
    grown = es.discover(samples, times, states=("th", "w"), seconds=20)
    assert set(grown.solution.terms["w'"]) == {"w", "sin(th)"}


def test_positions_alone_are_still_of_second_order():
    times = np.linspace(0, 20, 1001)
    samples = simulated(lambda t, x: [x[1], -x[0] - 0.2 * x[1]], [1.0, 0.0], times)[:, :1]
    found = es.discover(samples, times, states=("x",), seconds=20)
    assert set(found.solution.terms) == {"x''"} or found.confidence["x'"] is None


def test_one_closed_orbit_is_still_withheld():
    def kepler(t, x):
        cube = np.hypot(x[0], x[1]) ** 3
        return [x[2], x[3], -x[0] / cube, -x[1] / cube]

    times = np.linspace(0, 40, 2000)
    samples = simulated(kepler, [1, 0, 0, 1.2], times, rtol=1e-10, atol=1e-10)
    found = es.discover(samples, times, states=("x", "y", "vx", "vy"), degree=3, seconds=20)
    assert found.confidence["vx'"] is None
    assert found.confidence["vy'"] is None

"""Quotients as right-hand sides of trajectory fits: their slopes, and the constants they find."""

from __future__ import annotations

import numpy as np

import exactsindy as es
from exactsindy.forms import smooth
from exactsindy.library import Variables
from exactsindy.trajectory_fit import MeasuredTrajectories, Quotient, Quotients, TrajectoryModel

VARIABLES = Variables(("x", "y"))
TERMS = es.Polynomials(2).terms(VARIABLES)
QUOTIENT = Quotient(TERMS, TERMS, TERMS, first=0)
SUPPORT = (1, 6 + 4, 12 + 0, 12 + 1)  # x, x y / D, and x, y in D


def dynamics():
    data = es.Trajectories.from_arrays(np.ones((20, 2)), time=0.1, states=("x", "y"))
    group = QUOTIENT.group(VARIABLES, data.targets[0])
    return Quotients({"x'": QUOTIENT})(group, (SUPPORT,))


def test_slopes_are_those_of_differences():
    coef = np.array([0.7, -1.3, 0.4, 0.25])
    part, rng = dynamics(), np.random.default_rng(0)
    points = rng.uniform(0.2, 2.0, (2, 30))
    rates, terms, slopes = part.linear(list(points), [coef])
    x, y = points
    expected = 0.7 * x - 1.3 * x * y / (1 + 0.4 * x + 0.25 * y)
    np.testing.assert_allclose(rates[0], expected, rtol=1e-13)
    np.testing.assert_allclose(part.rates(list(points), [coef]), rates, rtol=1e-13)
    step = 1e-6
    for j in range(4):
        change = step * np.eye(4)[j]
        central = part.rates(list(points), [coef + change]) - part.rates(list(points), [coef - change])
        np.testing.assert_allclose(terms[0][j], central[0] / (2 * step), atol=1e-8)
    for v in range(2):
        change = step * np.eye(2)[v][:, None]
        central = part.rates(list(points + change), [coef]) - part.rates(list(points - change), [coef])
        np.testing.assert_allclose(slopes[0, v], central[0] / (2 * step), atol=1e-8)


def test_a_pole_makes_no_number():
    part = dynamics()
    points = [np.array([0.5, 5.0]), np.array([1.0, 1.0])]
    assert np.isnan(part.rates(points, [np.array([1.0, 1.0, -0.5, 0.0])])).all()


def test_constants_of_a_denominator_are_fitted_with_the_states():
    """S' = -1.2 S / (1 + 2 S), from noisy samples and far from the start."""
    t = np.linspace(0.0, 6.0, 150)
    s = np.linspace(3.0, 1e-4, 20000)
    exact = np.interp(t, (np.log(3.0 / s) + 2.0 * (3.0 - s)) / 1.2, s)
    rng = np.random.default_rng(2)
    data = es.Trajectories.from_arrays((exact + 0.01 * rng.normal(size=150))[:, None], time=t, states=("S",))
    variables = Variables(("S",))
    terms = es.Polynomials(1).terms(variables)
    quotient = Quotient((), terms, terms)
    groups = (quotient.group(variables, data.targets[0]),)
    measured = MeasuredTrajectories(smooth(data), groups, rate_models=Quotients({"S'": quotient}))
    fit = TrajectoryModel(measured, ((1, 2),)).fit([np.array([-0.7, 0.8])])
    np.testing.assert_allclose(fit.coef[0], [-1.2, 2.0], rtol=0.08)
    assert 0.7 < fit.misfit / 150 < 1.4

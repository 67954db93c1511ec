"""The ordinary differential equations of the published experiments, with their parameters and samplers.

The equations are those the experiments simulate: Hopf rotates counter-clockwise and the Duffing potential is
a double well, where the article's formulas have the opposite signs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from exactsindy._types import Array
from exactsindy.systems.system import Rng, System, entry_named, integrate


def _stack(*rates: Array) -> Array:
    # `state.T` puts the states first for any number of axes; this puts them back.
    return np.array(rates).T


def lorenz(sigma: float = 10.0, beta: float = 8 / 3, rho: float = 28.0) -> System:
    """Lorenz's convection model."""

    def rate(state: Array) -> Array:
        x, y, z = state.T
        return _stack(sigma * (y - x), x * (rho - z) - y, x * y - beta * z)

    def sample(rng: Rng, count: int) -> Array:
        x = rng.uniform(-5, 5, count)
        y = rng.uniform(-5, 5, count)
        return np.column_stack([x, y, rng.uniform(10, 40, count)])

    truth = {"x'": {"x": -sigma, "y": sigma}, "y'": {"x": rho, "y": -1.0, "x z": -1.0}, "z'": {"z": -beta, "x y": 1.0}}
    parameters = {"sigma": sigma, "beta": beta, "rho": rho}
    return System("lorenz", ("x", "y", "z"), parameters, rate, sample, truth)


def hopf(mu: float = -0.05, omega: float = 1.0, amplitude: float = 1.0) -> System:
    """Hopf bifurcation, normal form."""

    def rate(state: Array) -> Array:
        x, y = state.T
        radial = mu - amplitude * (x**2 + y**2)
        return _stack(radial * x - omega * y, omega * x + radial * y)

    def sample(rng: Rng, count: int) -> Array:
        angle = rng.uniform(0, 2 * math.pi, count)
        radius = rng.uniform(0.75, 1.25, count)
        return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])

    truth = {
        "x'": {"x": mu, "y": -omega, "x^3": -amplitude, "x y^2": -amplitude},
        "y'": {"x": omega, "y": mu, "x^2 y": -amplitude, "y^3": -amplitude},
    }
    return System("hopf", ("x", "y"), {"mu": mu, "omega": omega, "amplitude": amplitude}, rate, sample, truth)


def mhd() -> System:
    """Triadic magnetohydrodynamics of velocity V and magnetic field B, without viscosity and resistivity."""

    def rate(state: Array) -> Array:
        v1, v2, v3, b1, b2, b3 = state.T
        return _stack(
            4 * (v2 * v3 - b2 * b3),
            -7 * (v1 * v3 - b1 * b3),
            3 * (v1 * v2 - b1 * b2),
            2 * (b3 * v2 - v3 * b2),
            5 * (v3 * b1 - b3 * v1),
            9 * (v1 * b2 - b1 * v2),
        )

    def sample(rng: Rng, count: int) -> Array:
        return rng.uniform(-1.5, 1.5, (count, 6))

    truth = {
        "V1'": {"V2 V3": 4.0, "B2 B3": -4.0},
        "V2'": {"V1 V3": -7.0, "B1 B3": 7.0},
        "V3'": {"V1 V2": 3.0, "B1 B2": -3.0},
        "B1'": {"V2 B3": 2.0, "V3 B2": -2.0},
        "B2'": {"V1 B3": -5.0, "V3 B1": 5.0},
        "B3'": {"V1 B2": 9.0, "V2 B1": -9.0},
    }
    return System("mhd", ("V1", "V2", "V3", "B1", "B2", "B3"), {}, rate, sample, truth)


def van_der_pol(mu: float = 3.0) -> System:
    """Van der Pol's oscillator."""

    def rate(state: Array) -> Array:
        x, y = state.T
        return _stack(y, mu * (1 - x**2) * y - x)

    def sample(rng: Rng, count: int) -> Array:
        x = rng.uniform(-1, 1, count)
        return np.column_stack([x, rng.uniform(-mu, mu, count)])

    truth = {"x'": {"y": 1.0}, "y'": {"x": -1.0, "y": mu, "x^2 y": -mu}}
    return System("van_der_pol", ("x", "y"), {"mu": mu}, rate, sample, truth)


def lotka_volterra(growth: float = 1.0, interaction: float = 10.0) -> System:
    """Predator and prey; predators die at twice the growth rate of the prey."""

    def rate(state: Array) -> Array:
        x, y = state.T
        return _stack(growth * x - interaction * x * y, interaction * x * y - 2 * growth * y)

    def sample(rng: Rng, count: int) -> Array:
        return rng.uniform(0, 1, (count, 2))

    truth = {"x'": {"x": growth, "x y": -interaction}, "y'": {"y": -2 * growth, "x y": interaction}}
    parameters = {"growth": growth, "interaction": interaction}
    return System("lotka_volterra", ("x", "y"), parameters, rate, sample, truth)


def roessler(a: float = 0.2, b: float = 0.2, c: float = 5.7) -> System:
    """Roessler's attractor. Initial conditions lie near a trajectory from (5, 3, 0), with z made positive."""

    def rate(state: Array) -> Array:
        x, y, z = state.T
        return _stack(-y - z, x + a * y, b + (x - c) * z)

    def sample(rng: Rng, count: int) -> Array:
        course = integrate(rate, np.array([5.0, 3.0, 0.0]), np.arange(0, 10, 0.01))
        chosen = course[rng.choice(np.arange(len(course)), size=count, replace=False)]
        starts: Array = rng.normal(chosen, np.std(course, axis=0) / 10)
        starts[:, 2] = np.abs(starts[:, 2])
        return starts

    truth = {"x'": {"y": -1.0, "z": -1.0}, "y'": {"x": 1.0, "y": a}, "z'": {"1": b, "z": -c, "x z": 1.0}}
    return System("roessler", ("x", "y", "z"), {"a": a, "b": b, "c": c}, rate, sample, truth)


def duffing(omega: float = -2.0, alpha: float = 0.1) -> System:
    """Duffing oscillator in two dimensions: positions x, y and momenta X, Y; a double well for omega < 0."""

    def rate(state: Array) -> Array:
        x, y, momentum_x, momentum_y = state.T
        stiffness = -omega - alpha * (x**2 + y**2)
        return _stack(momentum_x, momentum_y, stiffness * x, stiffness * y)

    def sample(rng: Rng, count: int) -> Array:
        return rng.uniform(-math.pi, math.pi, (count, 4))

    truth = {
        "x'": {"X": 1.0},
        "y'": {"Y": 1.0},
        "X'": {"x": -omega, "x^3": -alpha, "x y^2": -alpha},
        "Y'": {"y": -omega, "x^2 y": -alpha, "y^3": -alpha},
    }
    return System("duffing", ("x", "y", "X", "Y"), {"omega": omega, "alpha": alpha}, rate, sample, truth)


_PUBLISHED = (lorenz(), hopf(), mhd(), van_der_pol(), lotka_volterra(), roessler(), duffing())
SYSTEMS: Mapping[str, System] = MappingProxyType({system.name: system for system in _PUBLISHED})


def find_system(name: str) -> System:
    """Return the system of that name with its published parameters; case, blanks and hyphens do not matter.

    Any other name is a `DataError` that lists the nearest names.

    Examples
    --------
    >>> find_system("Van der Pol").parameters
    {'mu': 3.0}
    """
    return entry_named(name, SYSTEMS, "system")

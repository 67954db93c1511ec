"""Regressions that are hard for an exact search: dependent columns, few rows, heavy noise, many candidates.

Every case is a library of candidate columns and one target, drawn from a fixed seed, with a number of terms.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from exactsindy.problem import Problem

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Cliff:
    """A named regression and the number of terms asked for."""

    name: str
    k: int
    make: Callable[[], Problem]


def monomials(states: Array, degree: int) -> Array:
    """Return all monomials up to a degree of the columns of ``states``, the constant first."""
    columns = [np.ones(len(states))]
    for d in range(1, degree + 1):
        for chosen in itertools.combinations_with_replacement(range(states.shape[1]), d):
            columns.append(np.prod(states[:, chosen], axis=1))
    return np.column_stack(columns)


def noisy(target: Array, share: float, seed: int) -> Array:
    """Return the target with noise of this share of its standard deviation."""
    return np.asarray(target + share * target.std() * np.random.default_rng(seed).standard_normal(len(target)))


def lorenz_states(count: int, step: float = 0.01) -> Array:
    """Return a trajectory of the Lorenz system on its attractor."""

    def slope(_: float, s: Array) -> list[float]:
        return [10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]]

    t = np.arange(count) * step
    return np.asarray(solve_ivp(slope, (0, t[-1]), [-8.0, 7.0, 27.0], t_eval=t, rtol=1e-10, atol=1e-10).y.T)


def lorenz_target(states: Array) -> Array:
    """Return the right-hand side of the second Lorenz equation."""
    x, y, z = states.T
    return np.asarray(28 * x - y - x * z)


def lorenz(degree: int, rows: int, noise: float) -> Problem:
    """Return the regression of the second Lorenz equation on ``rows`` samples spread over 100 seconds."""
    states = lorenz_states(10_000)[:: 10_000 // rows][:rows]
    return Problem.from_arrays(monomials(states / 10, degree), noisy(lorenz_target(states), noise, rows))


def lorenz_noise(degree: int) -> Problem:
    """Return a regression of pure noise on monomials of the Lorenz states."""
    states = lorenz_states(5000)
    return Problem.from_arrays(monomials(states / 10, degree), np.random.default_rng(5).standard_normal(len(states)))


def lorenz96(degree: int, noise: float) -> Problem:
    """Return the first equation of the Lorenz-96 system with six states, 1,500 samples."""

    def slope(_: float, s: Array) -> Array:
        return np.asarray((np.roll(s, -1) - np.roll(s, 2)) * np.roll(s, 1) - s + 8.0)

    t = np.arange(1500) * 0.04
    start = 8.0 + 0.1 * np.random.default_rng(96).standard_normal(6)
    states = solve_ivp(slope, (-10, t[-1]), start, t_eval=t, rtol=1e-9, atol=1e-9).y.T
    target = np.array([slope(0.0, s)[0] for s in states])
    return Problem.from_arrays(monomials(states / 8, degree), noisy(target, noise, degree))


def one_orbit(degree: int) -> Problem:
    """Return a harmonic oscillator on one closed orbit: x^2 + y^2 = 1 makes columns depend on each other."""
    t = np.linspace(0, 20, 400)
    states = np.column_stack([np.cos(t), np.sin(t)])
    return Problem.from_arrays(monomials(states, degree), noisy(-states[:, 0] + 0.3 * states[:, 1] ** 3, 0.1, degree))


def rigid_body(degree: int) -> Problem:
    """Return Euler's rigid body on one orbit: two quadratic quantities are conserved to the integrator's error."""
    inverse = np.array([1.0, 0.5, 1 / 3])

    def slope(s: Array) -> Array:
        return np.cross(s, inverse * s)

    states, step = [np.array([0.8, 0.1, 0.6])], 0.05
    for _ in range(599):
        s = states[-1]
        a = slope(s)
        b = slope(s + step / 2 * a)
        c = slope(s + step / 2 * b)
        d = slope(s + step * c)
        states.append(s + step / 6 * (a + 2 * b + 2 * c + d))
    array = np.array(states)
    return Problem.from_arrays(monomials(array, degree), noisy(np.array([slope(s)[0] for s in states]), 0.05, degree))


def pendulum(degree: int) -> Problem:
    """Return a pendulum in sin, cos and momentum on one orbit: sin^2 + cos^2 = 1, and energy is conserved."""
    t = np.linspace(0, 30, 600)
    run = solve_ivp(lambda _, s: [s[1], -np.sin(s[0])], (0, 30), [1.5, 0.0], t_eval=t, rtol=1e-8, atol=1e-8)
    angle, momentum = run.y
    states = np.column_stack([np.sin(angle), np.cos(angle), momentum])
    return Problem.from_arrays(monomials(states, degree), noisy(-np.sin(angle) - 0.1 * momentum, 0.1, degree))


def powers_and_waves() -> Problem:
    """Return powers and Fourier pairs of one variable on 32 points: 52 columns of rank 32."""
    x = np.linspace(0, 1, 32, endpoint=False)
    waves = [f(2 * np.pi * m * x) for m in range(1, 21) for f in (np.sin, np.cos)]
    theta = np.column_stack([x**p for p in range(12)] + waves)
    return Problem.from_arrays(theta, noisy(np.sin(2 * np.pi * x) + x**3 - 0.5 * np.cos(6 * np.pi * x), 0.1, 7))


def gaussian(rows: int, columns: int, terms: int, noise: float, seed: int = 1) -> Problem:
    """Return independent columns, so many true terms with coefficients of size 1, and noise."""
    rng = np.random.default_rng(seed)
    theta = rng.standard_normal((rows, columns))
    chosen = rng.choice(columns, terms, replace=False)
    target = theta[:, chosen] @ rng.choice([-1.0, 1.0], terms) if terms else np.zeros(rows)
    return Problem.from_arrays(theta, target + noise * rng.standard_normal(rows))


#: The cases by group; names say what makes them hard.
CLIFFS: dict[str, tuple[Cliff, ...]] = {
    "dependent": (
        Cliff("oscillator, one orbit, degree 8", 6, lambda: one_orbit(8)),
        Cliff("oscillator, one orbit, degree 10", 6, lambda: one_orbit(10)),
        Cliff("oscillator, one orbit, degree 13", 6, lambda: one_orbit(13)),
        Cliff("rigid body, one orbit, degree 7", 5, lambda: rigid_body(7)),
        Cliff("pendulum, one orbit, degree 5", 6, lambda: pendulum(5)),
        Cliff("powers and waves, 32 points", 6, powers_and_waves),
        Cliff("powers and waves, 32 points", 8, powers_and_waves),
    ),
    "few rows": (
        Cliff("Lorenz, degree 5, 45 rows", 6, lambda: lorenz(5, 45, 0.05)),
        Cliff("Lorenz, degree 5, 45 rows", 8, lambda: lorenz(5, 45, 0.05)),
        Cliff("Lorenz, degree 7, 30 rows", 5, lambda: lorenz(7, 30, 0.05)),
        Cliff("Lorenz, degree 7, 30 rows", 6, lambda: lorenz(7, 30, 0.05)),
    ),
    "noise": (
        Cliff("Lorenz, degree 7, noise 20 %", 6, lambda: lorenz(7, 5000, 0.2)),
        Cliff("Lorenz, degree 7, noise 20 %", 8, lambda: lorenz(7, 5000, 0.2)),
        Cliff("Lorenz, degree 5, pure noise", 8, lambda: lorenz_noise(5)),
        Cliff("Lorenz, degree 7, pure noise", 6, lambda: lorenz_noise(7)),
        Cliff("Lorenz-96, degree 4, noise 10 %", 8, lambda: lorenz96(4, 0.1)),
        Cliff("Lorenz-96, degree 4, noise 10 %", 10, lambda: lorenz96(4, 0.1)),
        Cliff("Lorenz-96, degree 5, noise 10 %", 5, lambda: lorenz96(5, 0.1)),
        Cliff("Lorenz-96, degree 5, noise 10 %", 6, lambda: lorenz96(5, 0.1)),
        Cliff("Gaussian, 200 columns, noise 5", 8, lambda: gaussian(600, 200, 10, 5.0)),
        Cliff("Gaussian, 200 columns, noise 5", 10, lambda: gaussian(600, 200, 10, 5.0)),
        Cliff("Gaussian, 462 columns, pure noise", 4, lambda: gaussian(1000, 462, 0, 1.0)),
    ),
    "large": (
        Cliff("Gaussian, 462 columns", 5, lambda: gaussian(600, 462, 5, 1.0)),
        Cliff("Gaussian, 1000 columns", 4, lambda: gaussian(2000, 1000, 4, 1.0)),
        Cliff("Gaussian, 1000 columns, pure noise", 3, lambda: gaussian(2000, 1000, 0, 1.0)),
    ),
}

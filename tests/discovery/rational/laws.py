"""Invented rational laws of two states, with their terms as one fraction, and data of them."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

import exactsindy as es

# x', y', and the terms of numerator and denominator of x'.
LAWS = {
    "inflow": (
        lambda x, y: 0.8 - 1.5 * x / (0.4 + x),
        lambda x, y: x - 0.6 * y,
        ({"1", "x"}, {"1", "x"}),
    ),
    "Holling II": (
        lambda x, y: x - 0.25 * x**2 - 0.9 * x * y / (1 + 0.6 * x),
        lambda x, y: -0.4 * y + 0.6 * x * y / (1 + 0.6 * x),
        ({"x", "x^2", "x^3", "x y"}, {"1", "x"}),
    ),
    "Holling III": (
        lambda x, y: x - 0.3 * x**2 - 1.1 * x**2 * y / (1 + 0.8 * x**2),
        lambda x, y: -0.35 * y + 0.7 * x**2 * y / (1 + 0.8 * x**2),
        ({"x", "x^2", "x^3", "x^4", "x^2 y"}, {"1", "x^2"}),
    ),
    "toggle": (
        lambda x, y: 2.2 / (1 + 0.7 * y**2) - 0.8 * x,
        lambda x, y: 1.9 / (1 + 0.9 * x**2) - 0.7 * y,
        ({"1", "x", "x y^2"}, {"1", "y^2"}),
    ),
    "Beddington": (
        lambda x, y: 0.9 * x - 0.2 * x**2 - 1.2 * x * y / (1 + 0.5 * x + 0.4 * y),
        lambda x, y: -0.4 * y + 0.8 * x * y / (1 + 0.5 * x + 0.4 * y),
        ({"x", "x^2", "x^3", "x y", "x^2 y"}, {"1", "x", "y"}),
    ),
}


def runs(name, seed, count=4, samples=100, end=8.0):
    """Return times, and states and rates of trajectories from random starts."""
    f, g, _ = LAWS[name]
    rng = np.random.default_rng(seed)
    times = np.linspace(0.0, end, samples)
    found = []
    for _ in range(count):
        start = rng.uniform(0.3, 3.0, 2)
        path = solve_ivp(lambda t, z: [f(*z), g(*z)], (0.0, end), start, t_eval=times, rtol=1e-10, atol=1e-12).y
        found.append((path.T, np.column_stack([f(*path) + 0 * path[0], g(*path)])))
    return times, found


def labelled(name, noise, seed):
    """Return data with measured derivatives, noise as a share of their size."""
    times, found = runs(name, seed)
    rng = np.random.default_rng(1000 + seed)
    size = np.sqrt(np.mean(np.vstack([rate for _, rate in found]) ** 2, axis=0))
    members = [
        es.Trajectories.from_arrays(
            states,
            time=times,
            states=("x", "y"),
            derivatives=rate + noise * size * rng.normal(size=rate.shape),
        )[0]
        for states, rate in found
    ]
    return es.Trajectories(members)


def noisy(name, noise, seed, samples=200):
    """Return trajectories with noise as a share of the spread of each state."""
    times, found = runs(name, seed, samples=samples)
    rng = np.random.default_rng(1000 + seed)
    spread = np.vstack([states for states, _ in found]).std(axis=0)
    states = [states + noise * spread * rng.normal(size=states.shape) for states, _ in found]
    return es.Trajectories.from_arrays(states, time=[times] * len(states), states=("x", "y"))


def fraction_terms(candidates, shape):
    """Return the names of the terms of a law written as one fraction."""
    over, under = candidates.identity(shape)
    return {term.name for term in over}, {term.name for term in under}

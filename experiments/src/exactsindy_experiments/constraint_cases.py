"""Problems of the constraint benchmark: the paper's Duffing experiment, and joint Lorenz and MHD with inequalities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.constraints import (
    Bounds,
    EnergyPreserving,
    Equal,
    Forbid,
    GradientSystem,
    Linear,
    NotBoth,
    Require,
    Sign,
)
from exactsindy.differentiation import SmoothedFiniteDifference
from exactsindy.library import Polynomials
from exactsindy.problem import Block, Problem
from exactsindy.solver import Total
from exactsindy.systems import add_noise, find_system
from exactsindy_experiments.instances import Instance, prepare


@dataclass(frozen=True)
class Case:
    """One constrained solve: a problem, its constraints, a shared budget and a ridge."""

    name: str
    problem: Problem
    constraints: tuple[Any, ...]
    size: int
    ridge: float


def duffing(duration: float, noise: float, seed: int = 1) -> Problem:
    """Return accelerations over a cubic library in the positions, as in the published experiment.

    Examples
    --------
    >>> duffing(10.0, 0.01)
    Problem(x'', y''; 10 terms; 1000 samples)
    """
    system, dt = find_system("duffing"), 0.01
    times = np.arange(0, duration, dt)
    clean = system.simulate(system.initial_condition(np.random.RandomState(seed)), times)
    x = add_noise(clean, noise, np.random.RandomState(seed))
    rate = SmoothedFiniteDifference(window=21)(x[:, 2:], times)
    features = Polynomials(3).bind(("x", "y"))
    return Problem.from_arrays(features.evaluate(x[:, :2]), rate, names=features.terms, target_names=("x''", "y''"))


def duffing_cases() -> Iterator[Case]:
    """Yield the published budgets 2..10 on four of the published cells, with the middle one of its ridges."""
    for duration, noise in ((10, 0.01), (10, 0.1), (20, 0.05), (100, 0.1)):
        problem = duffing(duration, noise)
        for size in range(2, 11):
            yield Case(f"Duffing {duration} s, {noise:.0%}, k={size}", problem, (GradientSystem(),), size, 1e-3)


def joint_cases() -> Iterator[Case]:
    """Yield joint problems with equalities and inequalities."""
    for degree, duration in ((2, 2.0), (3, 2.0)):
        lorenz = prepare(Instance("lorenz", degree=degree, duration=duration)).problem
        physics = (
            EnergyPreserving(),
            Sign("z'", "z", "-"),
            Bounds("x'", "x", -9.5, 0),
            Linear({("y'", "x"): 1, ("x'", "y"): 1}, "<=", 35),
        )
        for size in (5, 7):
            yield Case(f"Lorenz degree {degree}, k={size}", lorenz, physics, size, 0.0)
    whole = prepare(Instance("mhd", degree=2, duration=4.0)).problem
    velocities = _targets(whole, (0, 1, 2))
    work = (
        Linear({("V1'", "V2 V3"): 1, ("V2'", "V1 V3"): 1, ("V3'", "V1 V2"): 1}, "==", 0),
        Linear({("V1'", "V2 V3"): 1, ("V2'", "V1 V3"): -1}, "<=", 10),
        Sign("V1'", "V2 V3", "+"),
    )
    for size in (4, 6):
        yield Case(f"MHD velocities degree 2, k={size}", velocities, work, size, 0.0)


@dataclass(frozen=True)
class Pair:
    """One problem that is solved without constraints and with some."""

    name: str
    problem: Problem
    k: int | Total
    constraints: tuple[Any, ...]


def pairs() -> Iterator[Pair]:
    """Yield a large library of random columns, and three equations bound by equal coefficients."""
    wide, truth = random_columns()
    first = int(np.flatnonzero(truth == 0)[0])
    true = int(np.flatnonzero(truth)[0])
    positive = truth[true] > 0
    wide_cases: tuple[tuple[str, Any], ...] = (
        ("Forbid of an irrelevant term", Forbid("y", first)),
        ("Sign that holds anyway", Sign("y", true, "+" if positive else "-")),
        ("Sign against a true term", Sign("y", true, "-" if positive else "+")),
        ("Require of an irrelevant term", Require("y", first)),
        ("NotBoth of true terms", NotBoth(*(("y", int(j)) for j in np.flatnonzero(truth)[:2]))),
    )
    for label, constraint in wide_cases:
        yield Pair(f"462 random columns, k=5, {label}", wide, 5, (constraint,))
    lorenz = noisy_lorenz()
    equal = (
        ("Equal far from true", Equal(("x'", "y"), ("y'", "x"))),
        ("Equal nearly true", Equal(("z'", "x y"), ("y'", "x z"), -1)),
        ("Equal with an absent term", Equal(("x'", "x"), ("y'", "y"), 10)),
    )
    for name, k in (("Total(6)", Total(6)), ("k=3 each", 3)):
        for label, constraint in equal:
            yield Pair(f"Lorenz degree 5, {name}, {label}", lorenz, k, (constraint,))
    for total in (8, 9, 10):
        yield Pair(f"Lorenz degree 5, Total({total}), {equal[0][0]}", lorenz, Total(total), (equal[0][1],))


def random_columns(seed: int = 0) -> tuple[Problem, NDArray[np.float64]]:
    """Return 462 Gaussian columns, 600 samples and a target of five of them with noise; and its coefficients."""
    rng, width = np.random.default_rng(seed), 462
    theta, truth = rng.normal(size=(600, width)), np.zeros(width)
    truth[rng.choice(width, 5, replace=False)] = rng.choice([-1.0, 1.0], 5) * rng.uniform(0.5, 2.0, 5)
    target = theta @ truth + rng.normal(size=600)
    return Problem.from_arrays(theta, target, target_names=["y"]), truth


def noisy_lorenz(noise: float = 0.02, seed: int = 0) -> Problem:
    """Return Lorenz's rates on its attractor with noise, over monomials up to degree 5 (3 x 56 coefficients)."""
    system, times = find_system("lorenz"), np.arange(0, 10, 0.02)
    x = system.simulate(system.initial_condition(np.random.RandomState(seed)), times)
    rates = np.array(
        [10 * (x[:, 1] - x[:, 0]), x[:, 0] * (28 - x[:, 2]) - x[:, 1], x[:, 0] * x[:, 1] - 8 / 3 * x[:, 2]]
    )
    noisy = rates.T + noise * rates.std(axis=1) * np.random.default_rng(seed).normal(size=rates.T.shape)
    features = Polynomials(5).bind(("x", "y", "z"))
    return Problem.from_arrays(features.evaluate(x), noisy, names=features.terms, target_names=("x'", "y'", "z'"))


def _targets(problem: Problem, chosen: tuple[int, ...]) -> Problem:
    """Return the problem of some of the targets of a one-block problem."""
    block = problem.blocks[0]
    width = len(block.terms)
    columns = [*range(width), *(width + j for j in chosen)]
    triangle = np.asarray(np.linalg.qr(block.factor[:, columns], mode="r"))
    names = tuple(block.target_names[j] for j in chosen)
    return Problem((Block(triangle, block.n_samples, block.terms, names),))

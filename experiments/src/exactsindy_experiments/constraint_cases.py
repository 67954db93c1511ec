"""Problems of the constraint benchmark: the paper's Duffing experiment, and joint Lorenz and MHD with inequalities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from exactsindy.constraints import Bounds, EnergyPreserving, GradientSystem, Linear, Sign
from exactsindy.differentiation import SmoothedFiniteDifference
from exactsindy.library import Polynomials
from exactsindy.problem import Block, Problem
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


def _targets(problem: Problem, chosen: tuple[int, ...]) -> Problem:
    """Return the problem of some of the targets of a one-block problem."""
    block = problem.blocks[0]
    width = len(block.terms)
    columns = [*range(width), *(width + j for j in chosen)]
    triangle = np.asarray(np.linalg.qr(block.factor[:, columns], mode="r"))
    names = tuple(block.target_names[j] for j in chosen)
    return Problem((Block(triangle, block.n_samples, block.terms, names),))

"""The regression problems of the published runtime experiment, generated from their equations."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from exactsindy.differentiation import SmoothedFiniteDifference
from exactsindy.library import Polynomials
from exactsindy.problem import Block, Problem
from exactsindy.systems import add_noise, find_system

Array = NDArray[np.float64]

#: The twelve durations of the published runtime experiment, 0.5 to 128 seconds.
DURATIONS: tuple[float, ...] = tuple(float(2**exponent) for exponent in np.linspace(-1, 7, 12))

_ROWS = 4096


@dataclass(frozen=True)
class Instance:
    """One data set and its library: a trajectory of a known system with noise, and monomials up to a degree.

    ``seed`` is the published trial number: it draws the initial condition and, seeded anew, the noise.

    Examples
    --------
    >>> prepare(Instance("hopf", degree=3, duration=0.5)).problem
    Problem(x', y'; 10 terms; 250 samples)
    """

    system: str
    degree: int
    duration: float
    seed: int = 1
    dt: float = 0.002
    noise: float = 0.002
    window: int = 9


@dataclass(frozen=True)
class Prepared:
    """The compressed problem of an instance and what it cost to build: library columns, triangular factor."""

    problem: Problem
    library_seconds: float
    compress_seconds: float


@dataclass(frozen=True)
class Equation:
    """One equation in the form every solver gets: R as the library matrix, z as the target.

    ``problem`` is the same as a Problem with this one target.
    """

    problem: Problem
    theta_factor: Array
    z: Array
    rest_square: float
    size: int
    ridge: float

    def objective(self, support: tuple[int, ...]) -> float:
        """Return residual sum of squares plus ridge term of the best fit on a support, by its own QR."""
        columns = self.theta_factor[:, support]
        penalty = np.sqrt(self.ridge) * np.eye(len(support))
        target = np.concatenate([self.z, np.zeros(len(support))])
        stacked = np.column_stack([np.vstack([columns, penalty]), target])
        triangle = np.asarray(np.linalg.qr(stacked, mode="r"))
        return float(triangle[len(support), len(support)]) ** 2 + self.rest_square


@lru_cache(maxsize=2)
def prepare(instance: Instance) -> Prepared:
    """Simulate, add noise, differentiate, evaluate the library and compress."""
    system = find_system(instance.system)
    x, x_dot = samples(instance)
    features = Polynomials(instance.degree).bind(system.states)
    spent = [0.0]

    def chunks() -> Iterator[tuple[Array, Array]]:
        for first in range(0, len(x), _ROWS):
            started = time.perf_counter()
            theta = features.evaluate(x[first : first + _ROWS])
            spent[0] += time.perf_counter() - started
            yield theta, x_dot[first : first + _ROWS]

    started = time.perf_counter()
    problem = Problem.from_chunks(chunks(), names=features.terms, target_names=system.targets)
    total = time.perf_counter() - started
    return Prepared(problem, spent[0], total - spent[0])


def samples(instance: Instance) -> tuple[Array, Array]:
    """Return the noisy states of an instance and their estimated derivatives."""
    system = find_system(instance.system)
    times = np.arange(0, instance.duration, instance.dt)
    clean = system.simulate(system.initial_condition(np.random.RandomState(instance.seed)), times)
    x = add_noise(clean, instance.noise, np.random.RandomState(instance.seed))
    return x, SmoothedFiniteDifference(window=instance.window)(x, times)


def equation(problem: Problem, target: int | str, size: int, ridge: float) -> Equation:
    """Take one equation out of a problem."""
    block, column = problem.locate(target)
    z, rest = block.target(column)
    width = len(block.terms)
    factor = np.zeros((width + 1, width + 1))
    factor[:width, :width] = block.theta_factor
    factor[:width, width] = z
    factor[width, width] = np.linalg.norm(rest)
    alone = Problem((Block(factor, block.n_samples, block.terms, (block.target_names[column],)),))
    return Equation(alone, block.theta_factor, z, float(rest @ rest), size, ridge)

"""Systems whose laws are not polynomial: pendula, a chaotic flow of sines, exponential springs, enzymes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Trajectory
from exactsindy.library import Fourier, Library, Polynomials, Terms
from exactsindy.systems import integrate

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FunctionSystem:
    """Right-hand side (of the components of the state), start, sampling step, library, and true terms."""

    states: tuple[str, ...]
    rate: Callable[..., tuple[object, ...]]
    start: tuple[float, ...]
    step: float
    library: Library
    truth: tuple[tuple[str, ...], ...]


_SPRINGS = Polynomials(3) + Terms(["exp(x)", "exp(-x)", "exp(-2 x)", "exp(v)"])
_ENZYME = Polynomials(3) + Terms(["s/(1 + s)", "p/(1 + p)", "1/(1 + s)", "1/(1 + p)", "s p/(1 + s)"])

FUNCTION_SYSTEMS = {
    "pendulum": FunctionSystem(
        ("x", "v"),
        lambda x, v: (v, -np.sin(x) - 0.05 * v),
        (2.5, 0.0),
        0.07,
        Polynomials(3) + Fourier(2),
        (("v",), ("v", "sin(x)")),
    ),
    "two pendula": FunctionSystem(
        ("x", "y", "v", "w"),
        lambda x, y, v, w: (v, w, -np.sin(x) - 0.4 * x + 0.4 * y, -np.sin(y) + 0.4 * x - 0.4 * y),
        (2.0, -1.0, 0.0, 0.5),
        0.06,
        Polynomials(2) + Fourier(1),
        (("v",), ("w",), ("x", "y", "sin(x)"), ("x", "y", "sin(y)")),
    ),
    "thomas": FunctionSystem(
        ("x", "y", "z"),
        lambda x, y, z: (np.sin(y) - 0.2 * x, np.sin(z) - 0.2 * y, np.sin(x) - 0.2 * z),
        (1.1, 1.1, -0.1),
        0.1,
        Polynomials(2) + Fourier(1),
        (("x", "sin(y)"), ("y", "sin(z)"), ("z", "sin(x)")),
    ),
    "morse": FunctionSystem(
        ("x", "v"),
        lambda x, v: (v, 2 * np.exp(-2 * x) - 2 * np.exp(-x)),
        (1.3, 0.0),
        0.05,
        _SPRINGS,
        (("v",), ("exp(-x)", "exp(-2 x)")),
    ),
    "toda": FunctionSystem(
        ("x", "v"),
        lambda x, v: (v, 1 - np.exp(x) - 0.05 * v),
        (1.5, 0.0),
        0.06,
        _SPRINGS,
        (("v",), ("1", "v", "exp(x)")),
    ),
    "predator": FunctionSystem(
        ("s", "p"),
        lambda s, p: (s - 0.25 * s * s - 2 * s * p / (1 + s), -0.5 * p + 1.2 * s * p / (1 + s)),
        (1.5, 0.5),
        0.12,
        _ENZYME,
        (("s", "s^2", "s p/(1 + s)"), ("p", "s p/(1 + s)")),
    ),
}


def function_system(
    name: str, samples: int, rng: np.random.Generator
) -> tuple[tuple[Trajectory, ...], Library, dict[str, frozenset[str]]]:
    """Return a clean trajectory from near the usual start, the library, and the true terms."""
    system = FUNCTION_SYSTEMS[name]
    times: Array = np.float64(system.step) * np.arange(samples)
    start = np.array(system.start) * (1 + 0.1 * rng.uniform(-1, 1, len(system.start)))
    states = integrate(lambda x: np.array(system.rate(*x), dtype=float), start, times)
    truth = {f"{s}'": frozenset(terms) for s, terms in zip(system.states, system.truth, strict=True)}
    return (Trajectory(times, states, names=system.states),), system.library, truth

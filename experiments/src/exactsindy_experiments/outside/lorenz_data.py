"""Ensemble-SINDy's Lorenz experiment (Fasel et al. 2022), regenerated from its equations.

One trajectory from (-8, 7, 27), 0.01 between samples, 1 to 10 seconds; normal noise whose standard deviation is
a share of the root mean square of all numbers of the first 10 seconds; polynomials of degree 1 to 5 without a
constant, 55 terms. A draw is right if the terms of all three equations are exactly the true ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from exactsindy.library import Polynomials
from exactsindy.systems import integrate

Array = NDArray[np.float64]
STATES = ("x", "y", "z")
STEP = 0.01
#: Noise in per cent and durations in seconds, as published.
NOISES = tuple(0.5 * i for i in range(11))
DURATIONS = tuple(range(1, 11))
#: Names of sets of cells.
CELLS = ("telling", "goals", "grid", "all")
LIBRARY = Polynomials(5, bias=False)
TRUTH: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {"x'": {"x": -10.0, "y": 10.0}, "y'": {"x": 28.0, "y": -1.0, "x z": -1.0}, "z'": {"z": -8 / 3, "x y": 1.0}}
)


@dataclass(frozen=True)
class LorenzCase:
    """One draw of one cell: noise in per cent of the root mean square, duration in seconds."""

    noise: float
    duration: int
    draw: int

    def __str__(self) -> str:
        return f"noise {self.noise:g} %, {self.duration} s, draw {self.draw}"

    @property
    def cell(self) -> tuple[float, int]:
        """Return noise and duration."""
        return self.noise, self.duration


@cache
def clean() -> Array:
    """Return the first 10 seconds without noise, 1000 samples; the first is the start."""
    times: Array = STEP * np.arange(1000.0)
    return np.asarray(integrate(_lorenz, np.array([-8.0, 7.0, 27.0]), times))


def _lorenz(s: Array) -> Array:
    return np.array([10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]])


def samples(case: LorenzCase) -> tuple[Array, Array]:
    """Return times and noisy states of a draw."""
    states = clean()
    count = round(case.duration / STEP)
    rng = np.random.default_rng([2022, round(10 * case.noise), case.duration, case.draw])
    sigma = case.noise / 100 * float(np.sqrt(np.mean(states**2)))
    times: Array = STEP * np.arange(1.0, count + 1.0)
    return times, states[:count] + sigma * rng.standard_normal((count, 3))


def cells(name: str = "all") -> list[tuple[float, int]]:
    """Return the cells of a name: noise in per cent and duration in seconds, the most telling ones first.

    ``telling`` are those where methods differ most; ``goals`` those for which a share is asked, 3 s and more, and 2 s
    with 5 % of noise; ``grid`` durations of 1, 2, 3, 5 and 10 s with noises of 0.5, 1, 2, 3, 4 and 5 %.
    """
    first = [(5.0, 3), (5.0, 2), (5.0, 5), (5.0, 10), (4.0, 3), (3.0, 3), (4.0, 5), (2.0, 2)]
    second = [(noise, duration) for noise in (5.0, 4.0, 3.0, 2.0, 1.0, 0.5) for duration in (3, 2, 5, 10, 1)]
    every = [(noise, duration) for noise in reversed(NOISES) for duration in DURATIONS]
    grid = list(dict.fromkeys([*first, *second]))
    goals = [(noise, duration) for noise, duration in grid if duration >= 3 or (noise, duration) == (5.0, 2)]
    return {"telling": first, "goals": goals, "grid": grid, "all": list(dict.fromkeys([*grid, *every]))}[name]


def cases(draws: int, name: str) -> Iterator[LorenzCase]:
    """Yield draw by draw, so that a run that is ended has as many of every cell."""
    for draw in range(draws):
        for noise, duration in cells(name):
            yield LorenzCase(noise, duration, draw)

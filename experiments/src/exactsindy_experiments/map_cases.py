"""The polynomial maps of the dysts catalogue (equations and constants as facts), and two more, for the benchmark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Steps before the first sample of draw 0, and between the first samples of one draw and the next.
_SETTLING, _BETWEEN = 100, 50


@dataclass(frozen=True)
class MapCase:
    """One map: its next state, a start, the terms of its equations, and the degree of the library."""

    step: Callable[..., tuple[float, ...]]
    start: tuple[float, ...]
    law: Mapping[str, frozenset[str]]
    degree: int = 3
    control: float = 0.0  # amplitude of a random input, if there is one

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the states."""
        return ("x", "y")[: len(self.start)]

    def samples(self, count: int, draw: int) -> tuple[Array, Array]:
        """Return states (count x states) and inputs (count,), another stretch of the trajectory for each draw."""
        rng = np.random.default_rng([7, draw])
        first = _SETTLING + _BETWEEN * draw
        inputs = self.control * rng.uniform(-1.0, 1.0, first + count)
        states, x = np.empty((first + count, len(self.start))), self.start
        for k in range(first + count):
            states[k] = x
            x = self.step(*x, *([inputs[k]] if self.control else []))
        return states[first:], inputs[first:]


def _law(*equations: str) -> dict[str, frozenset[str]]:
    return {f"{name}[k+1]": frozenset(row.split(", ")) for name, row in zip(("x", "y"), equations, strict=False)}


CASES: dict[str, MapCase] = {
    "Logistic": MapCase(lambda x: (3.9 * x * (1 - x),), (0.51,), _law("x, x^2")),
    # cos(6 arccos x) is a polynomial of degree 6.
    "Chebyshev": MapCase(
        lambda x: (float(np.cos(6 * np.arccos(np.clip(x, -1, 1)))),), (0.51,), _law("1, x^2, x^4, x^6"), degree=6
    ),
    "Bogdanov": MapCase(
        lambda x, y: (x + y + 1.2 * x * (x - 1), y + 1.2 * x * (x - 1)), (0.51, 0.2), _law("x, y, x^2", "x, y, x^2")
    ),
    "Duffing": MapCase(lambda x, y: (y, -0.2 * x + 2.75 * y - y**3), (0.51, 0.1), _law("y", "x, y, y^3")),
    "Henon": MapCase(lambda x, y: (1 - 1.4 * x**2 + y, 0.3 * x), (1.21674097, 0.03536533), _law("1, y, x^2", "x")),
    "Tinkerbell": MapCase(
        lambda x, y: (x**2 - y**2 + 0.9 * x - 0.6013 * y, 2 * x * y + 2 * x + 0.5 * y),
        (0.13738266, -0.0308518),
        _law("x, y, x^2, y^2", "x, y, x y"),
    ),
    "MaynardSmith": MapCase(lambda x, y: (y, 0.87 * y + 0.75 - x**2), (0.0, 0.1), _law("y", "1, y, x^2")),
    "Burgers": MapCase(lambda x, y: (0.75 * x - y**2, 1.75 * y + x * y), (-0.1, 0.1), _law("x, y^2", "y, x y")),
    "Henon with input": MapCase(
        lambda x, y, u: (1 - 1.2 * x**2 + y + u, 0.3 * x), (0.1, 0.1), _law("1, y, u, x^2", "x"), control=0.05
    ),
}

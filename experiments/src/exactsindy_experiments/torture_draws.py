"""What the families of `bench torture` are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rng = np.random.Generator


@dataclass(frozen=True)
class Draw:
    """Columns of the terms and, last, of the target; ``triangle``: the factor itself, (width + 1, width + 1)."""

    matrix: Array
    triangle: bool = False
    ridge: Array | None = None  # None: the campaign draws one


def data(theta: Array, y: Array, ridge: Array | None = None) -> Draw:
    """Return data that the package compresses."""
    return Draw(np.column_stack([theta, y]), ridge=ridge)


def power(rng: Rng, low: float, high: float, count: int | None = None) -> Array:
    """Return random powers of ten."""
    return np.asarray(10.0 ** rng.uniform(low, high, count))


def triangle(rng: Rng, width: int) -> Array:
    """Return a random triangular factor of the terms and one target."""
    return np.triu(rng.standard_normal((width + 1, width + 1)))


def target(rng: Rng, theta: Array) -> Array:
    """Return a target of three terms under noise of 1e-3 to 10 of its size, or nothing but noise."""
    chosen = rng.choice(theta.shape[1], size=3, replace=False)
    signal = theta[:, chosen] @ rng.standard_normal(3)
    noise = rng.standard_normal(len(theta)) * (np.linalg.norm(signal) / np.sqrt(len(theta)) or 1.0)
    return noise if rng.random() < 0.4 else signal + power(rng, -3, 1) * noise

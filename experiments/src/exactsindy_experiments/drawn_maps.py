"""Polynomial maps drawn at random, bounded and not periodic: half of them for tuning, half for reporting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Numbers that begin the seeds of each half: no map is in both.
HALVES = {"tuning": 101, "reporting": 202}
# Samples drawn of each map after _SETTLING steps, and the largest size of a state.
_SAMPLES, _SETTLING, _LARGEST = 2000, 300, 20.0
# Smallest spread of a state, and the number of different points (to four decimals) among the last 1000.
_SPREAD, _POINTS = 0.05, 300
# Conditions that are drawn with a map.
_LENGTHS, _NOISES = (100, 200, 500, 1000, 2000), (0.0, 0.003, 0.01, 0.03, 0.05, 0.1, 0.15)


@dataclass(frozen=True, eq=False)
class DrawnMap:
    """Noisy samples of a drawn map, and its terms by equation."""

    states: Array
    names: tuple[str, ...]
    law: Mapping[str, frozenset[str]]
    noise: float
    degree: int


def draw_map(half: str, number: int) -> DrawnMap:
    """Return one map of a half with the samples, noise and library that were drawn for it."""
    rng = np.random.default_rng([HALVES[half], number])
    powers, coef, states = _bounded(rng)
    names = ("x", "y", "z")[: states.shape[1]]
    count = int(rng.choice(_LENGTHS))
    states = states[:count]
    noise = float(rng.choice(_NOISES))
    degree = int(rng.choice([3, 3, 4])) if len(names) < 3 else 3
    noisy = states + noise * states.std(axis=0) * rng.normal(size=states.shape)
    law = {
        f"{name}[k+1]": frozenset(_name(names, powers[j]) for j in np.flatnonzero(row))
        for name, row in zip(names, coef, strict=True)
    }
    return DrawnMap(noisy, names, law, noise, degree)


def _name(names: tuple[str, ...], powers: NDArray[np.int64]) -> str:
    parts = [name if power == 1 else f"{name}^{power}" for name, power in zip(names, powers, strict=True) if power]
    return " ".join(parts) or "1"


def _bounded(rng: np.random.Generator) -> tuple[NDArray[np.int64], Array, Array]:
    """Return powers, coefficients and samples of the first map drawn that stays bounded and is not periodic."""
    while True:
        states, degree = int(rng.choice([1, 2, 2, 3])), int(rng.choice([2, 2, 3]))
        powers = np.array(
            [row for n in range(degree + 1) for row in product(range(n + 1), repeat=states) if sum(row) == n]
        )
        coef = np.zeros((states, len(powers)))
        for row in coef:
            size = min(int(rng.integers(1 if states > 1 else 2, 5)), len(powers))
            chosen = rng.choice(len(powers), size, replace=False)
            row[chosen] = np.round(rng.uniform(0.15, 2.5, size) * rng.choice([-1, 1], size), 2)
        samples = _iterated(powers, coef, rng.uniform(-0.3, 0.3, states))
        if samples is None or (samples.std(axis=0) < _SPREAD).any():
            continue
        if len(np.unique(np.round(samples[-1000:], 4), axis=0)) >= _POINTS:
            return powers, coef, samples


def _iterated(powers: NDArray[np.int64], coef: Array, x: Array) -> Array | None:
    samples = np.empty((_SAMPLES, len(x)))
    for k in range(_SETTLING + _SAMPLES):
        x = coef @ np.prod(x**powers, axis=1)
        if not (np.abs(x) < _LARGEST).all():
            return None
        if k >= _SETTLING:
            samples[k - _SETTLING] = x
    return samples

"""Data for the benchmark of speed: a long Lorenz record, many states, many candidates, a field."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import exactsindy as es
from exactsindy.systems import FIELD_SYSTEMS, SYSTEMS

Array = np.ndarray[Any, np.dtype[np.float64]]

STEP, NOISE = 0.01, 0.01


@dataclass(frozen=True)
class SpeedCase:
    """A call of `discover` and the memory of its data in bytes."""

    call: Callable[[float], es.Discovery]
    nbytes: int


def lorenz(samples: int) -> Array:
    """Return a Lorenz record: Runge-Kutta steps of 0.005, every second one kept."""
    x, y, z = -8.0, 8.0, 27.0
    record, h = np.empty((samples, 3)), STEP / 2

    def rates(x: float, y: float, z: float) -> tuple[float, float, float]:
        return 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z

    for row in record:
        row[0], row[1], row[2] = x, y, z
        for _ in range(2):
            a = rates(x, y, z)
            b = rates(x + h / 2 * a[0], y + h / 2 * a[1], z + h / 2 * a[2])
            c = rates(x + h / 2 * b[0], y + h / 2 * b[1], z + h / 2 * b[2])
            d = rates(x + h * c[0], y + h * c[1], z + h * c[2])
            x, y, z = (
                value + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
                for value, k1, k2, k3, k4 in zip((x, y, z), a, b, c, d, strict=True)
            )
    return record


def network(samples: int, states: int) -> Array:
    """Return a linear network of oscillators, each state pulled by a few others, with 1 % noise."""
    rng = np.random.default_rng(0)
    pull = rng.normal(size=(states, states)) * (rng.random((states, states)) < 3 / states)
    generator = 0.05 * (pull - pull.T - 0.1 * np.eye(states))
    step, term = np.eye(states), np.eye(states)
    for order in range(1, 20):
        term = term @ generator / order
        step = step + term
    record = np.empty((samples, states))
    record[0] = rng.normal(size=states)
    for i in range(1, samples):
        record[i] = step @ record[i - 1]
    return noisy(record)


def noisy(record: Array, noise: float = NOISE, seed: int = 0) -> Array:
    """Return a record with white noise, a share of each state's standard deviation."""
    return np.asarray(record + noise * record.std(axis=0) * np.random.default_rng(seed).normal(size=record.shape))


def speed_case(name: str) -> SpeedCase:
    """Return a case by its name: "lorenz 1000", "256 states", "286 candidates", "1000000 samples" or "field"."""
    kind, _, rest = name.partition(" ")
    if kind == "lorenz" or rest == "samples":
        data = noisy(lorenz(int(rest if kind == "lorenz" else kind)))
        return _trajectory_case(data, STEP, None)
    if rest == "states":
        return _trajectory_case(network(1000, int(kind)), 0.05, None)
    if rest == "candidates":
        states = next(n for n in range(2, 40) if math.comb(n + 3, 3) >= int(kind))
        return _trajectory_case(network(2000, states), 0.05, 3)
    field = FIELD_SYSTEMS["kuramoto_sivashinsky"].simulate(np.random.RandomState(0))
    return SpeedCase(lambda seconds: es.discover(field, seconds=seconds, threads=1), 8 * int(np.prod(field.shape)))


def _trajectory_case(data: Array, step: float, degree: int | None) -> SpeedCase:
    return SpeedCase(
        lambda seconds: es.discover(data, step, degree=degree, seconds=seconds, threads=1), int(data.nbytes)
    )


def long_record(name: str, samples: int) -> Array:
    """Return a long record of a known system with 2 % noise, step 0.02; seed 2.

    One Runge-Kutta step between samples errs far less than the noise, and a hundred times as fast as `System.simulate`.
    """
    rate, h = SYSTEMS[name].right_hand_side, 0.02
    state, record = SYSTEMS[name].initial_condition(np.random.RandomState(2)), []
    for _ in range(samples):
        record.append(state)
        a = rate(state)
        b = rate(state + h / 2 * a)
        c = rate(state + h / 2 * b)
        state = state + h / 6 * (a + 2 * b + 2 * c + rate(state + h * c))
    return noisy(np.array(record), 0.02, 2)

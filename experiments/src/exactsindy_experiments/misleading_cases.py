"""Drawn data that mislead in a known way, and ordinary ones; even seeds are for tuning, odd ones for reporting."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Trajectories
from exactsindy.systems import SYSTEMS, integrate
from exactsindy_experiments.drawn_laws import drawn_law
from exactsindy_experiments.random_systems import PER_PERIOD, random_system

Array = NDArray[np.float64]
Rng = np.random.Generator
Drawn = tuple[Array, Array, tuple[str, ...]]
SAMPLES = 800
_CODES = (999.0, -999.0, -9999.0)
# Periods of the systems of the catalogue, roughly.
_PERIODS = {"lorenz": 0.75, "hopf": 6.3, "van_der_pol": 8.9, "lotka_volterra": 4.5, "roessler": 5.9}


def ordinary(seed: int, noise: float, *, samples: int = SAMPLES, per_period: int = PER_PERIOD) -> Trajectories:
    """Return a random system with noise relative to the spread of each state."""
    times, states, names = _system(seed, samples, per_period)
    return _trajectories(times, _noisy(states, noise, seed), names)


def catalogue(name: str, noise: float, seed: int) -> Trajectories:
    """Return a system of the catalogue that conserves nothing of low degree, from a drawn start."""
    system = SYSTEMS[name]
    times = np.float64(_PERIODS[name] / PER_PERIOD) * np.arange(SAMPLES)
    states = system.simulate(system.initial_condition(np.random.RandomState(seed)), times)
    return _trajectories(times, _noisy(states, noise, seed), system.states)


def catalogue_names() -> tuple[str, ...]:
    """Return the systems of the catalogue that conserve nothing of low degree."""
    return tuple(_PERIODS)


def draw(kind: str, seed: int, noise: float) -> Trajectories:
    """Return drawn data that mislead in the way ``kind``, a key of `KINDS`."""
    return KINDS[kind](np.random.default_rng([96, seed]), seed, noise)


def _system(seed: int, samples: int = SAMPLES, per_period: int = PER_PERIOD) -> Drawn:
    drawn = random_system(seed)
    times = np.float64(drawn.step * PER_PERIOD / per_period) * np.arange(samples)
    return times, drawn.system.simulate(drawn.start, times), drawn.system.states


def _noisy(states: Array, noise: float, seed: int) -> Array:
    rng = np.random.default_rng([97, seed, round(noise * 1e6)])
    return np.asarray(states + noise * states.std(axis=0) * rng.normal(size=states.shape))


def _trajectories(times: Array, states: Array, names: tuple[str, ...]) -> Trajectories:
    return Trajectories.from_arrays(states, time=times, states=names)


def _copy(rng: Rng, seed: int, noise: float) -> Trajectories:
    times, states, names = _system(seed)
    states = _noisy(states, noise, seed)
    factor, shift = rng.choice([1.0, 100.0, 1.8]), rng.choice([0.0, 32.0])
    return _trajectories(times, np.column_stack([states, factor * states[:, 0] + shift]), (*names, "copy"))


def _closed_reaction(rng: Rng, seed: int, noise: float) -> Trajectories:
    """Return two or three substances that turn into each other: their sum is constant."""
    count = int(rng.choice([2, 3]))
    rates = rng.uniform(0.2, 2.0, (count, count))

    def rate(state: Array) -> Array:
        flow = rates * state[..., None, :]
        return np.asarray(flow.sum(axis=-1) - flow.sum(axis=-2))

    start = rng.uniform(0.0, 1.0, count) + np.eye(count)[0] * 3.0
    times = np.linspace(0.0, 5.0 / rates.sum(axis=0).mean(), SAMPLES)
    return _trajectories(times, _noisy(integrate(rate, start, times), noise, seed), ("A", "B", "C")[:count])


def _rigid_body(rng: Rng, seed: int, noise: float) -> Trajectories:
    """Return a body that turns freely: its energy and its angular momentum are constant, both quadratic."""
    moments = np.sort(rng.uniform(1.0, 4.0, 3))
    while np.diff(moments).min() < 0.3:
        moments = np.sort(rng.uniform(1.0, 4.0, 3))
    a, b, c = ((moments[i - 2] - moments[i - 1]) / moments[i] for i in (0, 1, 2))

    def rate(state: Array) -> Array:
        x, y, z = state.T
        return np.array([a * y * z, b * z * x, c * x * y]).T

    start = rng.uniform(0.5, 2.0, 3)
    times = np.linspace(0.0, 40.0, SAMPLES)
    return _trajectories(times, _noisy(integrate(rate, start, times), noise, seed), ("p", "q", "r"))


def _feedback(rng: Rng, seed: int, noise: float) -> Trajectories:
    """Return a nonlinear oscillator whose input is a sum of position and velocity."""
    k, c, cubic = rng.uniform(0.5, 3.0), rng.uniform(0.05, 0.3), rng.uniform(0.1, 1.0)
    gains = rng.uniform(-0.8, -0.2, 2)

    def rate(state: Array) -> Array:
        x, v = state.T
        return np.array([v, -k * x - c * v - cubic * x**3 + gains[0] * x + gains[1] * c * v]).T

    times = np.linspace(0.0, 25.0, SAMPLES)
    clean = integrate(rate, np.array([rng.uniform(1, 2), 0.0]), times)
    control = clean @ (gains * [1.0, c])
    return Trajectories.from_arrays(_noisy(clean, noise, seed), time=times, states=("x", "v"), controls={"u": control})


def _map(rng: Rng, seed: int, noise: float) -> Trajectories:
    """Return the logistic map, Henon's map or Ricker's map, with measurement noise."""
    which, x, y, states = int(rng.integers(3)), 0.3, 0.1, []
    r, a, growth = rng.uniform(3.6, 3.99), rng.uniform(1.2, 1.4), rng.uniform(2.8, 3.2)
    for _ in range(SAMPLES // 2):
        if which == 0:
            x = r * x * (1 - x)
        elif which == 1:
            x, y = 1 - a * x * x + y, 0.3 * x
        else:
            x = x * np.exp(growth * (1 - x))
        states.append((x, y) if which == 1 else (x,))
    values = np.array(states)
    return _trajectories(
        np.arange(len(values), dtype=float), _noisy(values, noise, seed), ("x", "y")[: values.shape[1]]
    )


def _position(rng: Rng, seed: int, noise: float) -> Trajectories:
    return drawn_law(seed, family="position_only").measured(noise)


def _orbit(rng: Rng, seed: int, noise: float) -> Trajectories:
    """Return an undamped pendulum, or one orbit around a centre."""
    if rng.random() < 0.5:
        return drawn_law(seed, family="one_orbit").measured(noise)
    times = np.linspace(0.0, 20.0, SAMPLES)

    def rate(state: Array) -> Array:
        return np.array([state.T[1], -9.8 * np.sin(state.T[0])]).T

    clean = integrate(rate, np.array([rng.uniform(0.5, 2.6), 0.0]), times)
    return _trajectories(times, _noisy(clean, noise, seed), ("x", "v"))


def _shift(rng: Rng, seed: int, noise: float) -> Trajectories:
    """Return a column that is 3 to 15 samples late, at 100 samples per period of the fastest state."""
    times, states, names = _system(seed)
    late, column = int(rng.integers(3, 16)), int(rng.integers(states.shape[1]))
    moved = states[late:].copy()
    moved[:, column] = states[:-late, column]
    return _trajectories(times[:-late], _noisy(moved, noise, seed), names)


def _lag(rng: Rng, seed: int, noise: float) -> Trajectories:
    """Return a column measured by a sensor of first order with a time constant of 3 to 15 samples."""
    times, states, names = _system(seed)
    constant, column = rng.uniform(3, 15), int(rng.integers(states.shape[1]))
    slow = states[:, column].copy()
    for k in range(1, len(slow)):
        slow[k] = slow[k - 1] + (states[k, column] - slow[k - 1]) * -np.expm1(-1 / constant)
    moved = states.copy()
    moved[:, column] = slow
    return _trajectories(times[90:], _noisy(moved, noise, seed)[90:], names)


def _sentinel(rng: Rng, seed: int, noise: float) -> Trajectories:
    times, states, names = _system(seed)
    states = _noisy(states, noise, seed)
    rows = rng.choice(len(times), int(rng.integers(1, 6)), replace=False)
    states[rows, int(rng.integers(states.shape[1]))] = rng.choice(_CODES)
    return _trajectories(times, states, names)


def _outlier(rng: Rng, seed: int, noise: float) -> Trajectories:
    times, states, names = _system(seed)
    states = _noisy(states, noise, seed)
    column = int(rng.integers(states.shape[1]))
    span = np.ptp(states[:, column])
    states[int(rng.integers(1, len(times) - 1)), column] = states[:, column].max() + rng.uniform(1.5, 6.0) * span
    return _trajectories(times, states, names)


#: What is drawn, and the kind of the notice that should be said.
KINDS: dict[str, Callable[[Rng, int, float], Trajectories]] = {
    "copy": _copy,
    "conserved: sums": _closed_reaction,
    "conserved: squares": _rigid_body,
    "closed orbit": _orbit,
    "feedback": _feedback,
    "hidden state": _position,
    "map": _map,
    "shifted: late": _shift,
    "shifted: slow sensor": _lag,
    "sentinel": _sentinel,
    "outlier": _outlier,
}

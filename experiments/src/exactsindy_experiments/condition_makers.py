"""What a condition makes of a known system before noise is added: coarse, irregular, short, forced, with constants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Trajectory
from exactsindy.errors import DataError
from exactsindy.library import Library, Polynomials
from exactsindy.systems import integrate, noise_scale
from exactsindy_experiments.random_systems import RandomSystem

Array = NDArray[np.float64]
Rng = np.random.Generator
Truth = dict[str, frozenset[str]]

# Share of the right-hand side that a weak term makes up, and that of an input.
_WEAK, _INPUT = 0.015, 0.5
_PIECES = 10
_TRIES = 30


@dataclass(frozen=True)
class Experiment:
    """Clean trajectories with their law: what a condition makes of a system before noise is added."""

    members: tuple[Trajectory, ...]
    library: Library
    truth: Truth


def _member(drawn: RandomSystem, times: Array, states: Array) -> Trajectory:
    return Trajectory(times, states, names=drawn.system.states)


def _experiment(drawn: RandomSystem, *members: Trajectory) -> Experiment:
    truth = {target: frozenset(terms) for target, terms in drawn.system.truth.items()}
    return Experiment(members, Polynomials(drawn.degree), truth)


def plain(drawn: RandomSystem, n: int, rng: Rng, *, every: int = 1) -> Experiment:
    """Return the system as it is, perhaps ``every`` times as coarse."""
    return _experiment(drawn, _member(drawn, *drawn.simulate(n, every=every)))


def quarter(drawn: RandomSystem, n: int, rng: Rng) -> Experiment:
    """Return a quarter of the usual samples per period."""
    return plain(drawn, n, rng, every=4)


def tenth(drawn: RandomSystem, n: int, rng: Rng) -> Experiment:
    """Return a tenth of the usual samples per period."""
    return plain(drawn, n, rng, every=10)


def jittered(drawn: RandomSystem, n: int, rng: Rng) -> Experiment:
    """Return samples up to 40 % of a step before or after their time."""
    times = drawn.step * (np.arange(n) + rng.uniform(-0.4, 0.4, n))
    return _experiment(drawn, _member(drawn, times, drawn.system.simulate(drawn.start, times)))


def thinned(drawn: RandomSystem, n: int, rng: Rng) -> Experiment:
    """Return samples of which every third, at random, is missing, and a stretch of 30 in the middle."""
    times, states = drawn.simulate(n)
    kept = rng.random(n) > 1 / 3
    kept[n // 2 : n // 2 + 30] = False
    return _experiment(drawn, _member(drawn, times[kept], states[kept]))


def several(drawn: RandomSystem, n: int, rng: Rng) -> Experiment:
    """Return ten trajectories of a tenth of the length."""
    _, path = drawn.simulate(n)
    times: Array = np.float64(drawn.step) * np.arange(n // _PIECES)
    members = (_nearby(drawn.system.right_hand_side, path, times, rng) for _ in range(_PIECES))
    return _experiment(drawn, *(_member(drawn, times, states) for states in members))


def _nearby(rate: Callable[[Array], Array], path: Array, times: Array, rng: Rng) -> Array:
    """Return a trajectory that starts near another one, away from where that started, and stays about as small."""
    for _ in range(_TRIES):
        start = path[rng.integers(len(path))] + 0.3 * path.std(axis=0) * rng.normal(size=path.shape[1])
        found = _bounded(rate, start, times, 2 * np.abs(path).max())
        if found is not None:
            return found
    raise DataError("condition: no bounded trajectory near the given one was found.")


def forced(drawn: RandomSystem, n: int, rng: Rng) -> Experiment:
    """Return a system with a known input in its first equation, half as large as the right-hand side."""
    times, path = drawn.simulate(n)
    waves = [(rng.uniform(0.2, 1.5), rng.uniform(0, 2 * np.pi)) for _ in range(4)]
    beat = 2 * np.pi / (100 * drawn.step)

    def force(t: float | Array) -> Array:
        return np.asarray(sum(np.sin(beat * w * t + phase) for w, phase in waves) / np.sqrt(2))

    size = _INPUT * float(np.sqrt(np.mean(drawn.system.right_hand_side(path)[:, 0] ** 2)))
    most, end = max(3 * float(np.abs(path).max()), 2.0), float(times[-1])
    states = None
    while states is None:

        def rate(x: Array, size: float = size) -> Array:
            # The last state is the share of the time that is over: the integrator knows autonomous systems only.
            change = drawn.system.right_hand_side(x[:-1])
            change[0] += size * force(end * x[-1])
            return np.append(change, 1.0 / end)

        states = _bounded(rate, np.append(drawn.start, 0.0), times, most)
        size /= 2
    plain = _experiment(
        drawn,
        Trajectory(times, states[:, :-1], drawn.system.states, controls=force(times)[:, None], control_names=("w",)),
    )
    first = next(iter(plain.truth))
    return replace(plain, truth={**plain.truth, first: plain.truth[first] | {"w"}})


def constant(drawn: RandomSystem, n: int, rng: Rng) -> Experiment:
    """Return a system with one more state that never changes; candidates are made of the others."""
    times, states = drawn.simulate(n)
    level = np.full((n, 1), noise_scale(states))
    names = (*drawn.system.states, "p")
    member = Trajectory(times, np.hstack([states, level]), names=names)
    truth = {**_experiment(drawn).truth, "p'": frozenset[str]()}
    return Experiment((member,), Polynomials(drawn.degree, of=drawn.system.states), truth)


def parameter(drawn: RandomSystem, n: int, rng: Rng) -> Experiment:
    """Return ten trajectories, each with its own constant p that multiplies a linear term of the first equation."""
    system = drawn.system
    target, terms = next(iter(system.truth.items()))
    term = next(term for term in terms if term in system.states)
    column = system.states.index(term)
    _, path = drawn.simulate(n)
    times: Array = np.float64(drawn.step) * np.arange(n // _PIECES)
    members = []
    for p in rng.permutation(np.linspace(0.7, 1.3, _PIECES)):

        def rate(x: Array, p: float = p) -> Array:
            change = system.right_hand_side(x)
            change[0] += (p - 1) * terms[term] * x[column]
            return change

        states = _nearby(rate, path, times, rng)
        members.append(
            Trajectory(times, np.column_stack([states, np.full(len(times), p)]), names=(*system.states, "p"))
        )
    truth = {**_experiment(drawn).truth, "p'": frozenset[str]()}
    truth[target] = truth[target] - {term} | {f"{term} p"}
    degree = {2: 3, 3: 3}.get(len(system.states), 2 if drawn.degree == 2 else 3)
    return Experiment(tuple(members), Polynomials(degree), truth)


def weakened(drawn: RandomSystem, n: int, rng: Rng) -> Experiment:
    """Return a system with one more term in its first equation, 1.5 % of the right-hand side beyond the others."""
    system = drawn.system
    times, path = drawn.simulate(n)
    target = next(iter(system.truth))
    features = Polynomials(drawn.degree).bind(system.states)
    known = [features.names.index(name) for name in system.truth[target]]
    quadratic = len(Polynomials(2).bind(system.states).names)
    columns, rates = features.evaluate(path), system.right_hand_side(path)[:, 0]
    for j in rng.permutation([j for j in range(quadratic) if j not in known]):
        fit = np.linalg.lstsq(columns[:, known], columns[:, j], rcond=None)[0]
        alone = columns[:, j] - columns[:, known] @ fit
        size = _WEAK * float(np.sqrt(np.mean(rates**2) / np.mean(alone**2)))

        def rate(x: Array, j: int = j, size: float = size) -> Array:
            change = system.right_hand_side(x)
            change[0] += size * features.evaluate(x[None])[0, j]
            return change

        states = _bounded(rate, drawn.start, times, 2 * np.abs(path).max())
        if states is not None:
            plain = _experiment(drawn, _member(drawn, times, states))
            return replace(plain, truth={**plain.truth, target: plain.truth[target] | {features.names[j]}})
    raise DataError(f"condition: {system.name} stays bounded with no weak term.")


def _bounded(rate: Callable[[Array], Array], start: Array, times: Array, most: float) -> Array | None:
    """Return the trajectory from a start; None if it runs away or exceeds a bound."""
    try:
        found = integrate(rate, start, times)
    except DataError:
        return None
    return found if np.abs(found).max() < most else None

"""Data sets on which the choice of the number of terms is judged: random, named and field systems."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Field, Trajectories
from exactsindy.library import Library, Polynomials
from exactsindy.systems import (
    FIELD_SYSTEMS,
    SYSTEMS,
    add_field_noise,
    add_noise,
    find_field_system,
    find_system,
    noise_scale,
)
from exactsindy_experiments.random_systems import PER_PERIOD, RandomSystem, fastest_period, random_system
from exactsindy_experiments.selection_rows import SelectionCase

Array = NDArray[np.float64]

HALVES = {"tuning": 0, "reporting": 1}
RANDOM_PER_HALF = 17
NOISES = (0.001, 0.005, 0.02, 0.05, 0.1, 0.2)
SAMPLES = (400, 1200, 5000)
SEEDS = tuple(range(1000, 1010))
# Duration, step and noise of the named systems, as in the published experiments.
NAMED = {
    "lorenz": (10.0, 0.002, 0.002),
    "hopf": (16.0, 0.002, 0.002),
    "mhd": (10.0, 0.002, 0.002),
    "duffing": (50.0, 0.01, 0.01),
    "van_der_pol": (50.0, 0.002, 0.01),
    "lotka_volterra": (50.0, 0.002, 0.01),
    "roessler": (50.0, 0.002, 0.01),
}
FIELD_NOISES = {
    "kuramoto_sivashinsky": (0.25, 2.0),
    "reaction_diffusion": (0.025, 0.3),
    **{name: (0.05, 0.2) for name in FIELD_SYSTEMS if name not in ("kuramoto_sivashinsky", "reaction_diffusion")},
}
# Points per axis and times where an experiment is larger than the system's own grid: as many times as published, half
# the points.
FIELD_GRIDS = {"reaction_diffusion": (128, np.linspace(0, 5, 250))}


@dataclass(frozen=True)
class Loaded:
    """The data of a case with the law behind them; ``library`` is ``None`` where the default is used."""

    data: Trajectories | Field
    library: Library | None
    truth: dict[str, frozenset[str]]


def half_cases(half: str, samples: tuple[int, ...], noises: tuple[float, ...], count: int) -> list[SelectionCase]:
    """Return the cases of one half: ``count`` random systems and the classic ones, each with its own start."""
    first = HALVES[half]
    names = [f"random-{2 * i + first}" for i in range(count)] + list(SYSTEMS)
    return [SelectionCase(half, name, n, noise, first) for n in samples for name in names for noise in noises]


def named_cases(seeds: tuple[int, ...] = SEEDS) -> list[SelectionCase]:
    """Return the published ODE experiments at one noise level each."""
    return [
        SelectionCase("named", name, round(duration / step), noise, seed)
        for name, (duration, step, noise) in NAMED.items()
        for seed in seeds
    ]


def field_cases(seeds: tuple[int, ...] = SEEDS) -> list[SelectionCase]:
    """Return the PDE experiments."""
    return [
        SelectionCase("fields", name, len(_grid(name)[1]), noise, seed)
        for name, noises in FIELD_NOISES.items()
        for noise in noises
        for seed in seeds
    ]


def part_cases(samples: tuple[int, ...], systems: int, seeds: int) -> dict[str, list[SelectionCase]]:
    """Return the cases of each part of the benchmark but the conditions."""
    return {
        "random": half_cases("reporting", samples, NOISES, systems),
        "named": named_cases(SEEDS[:seeds]),
        "fields": field_cases(SEEDS[:seeds]),
    }


def load(case: SelectionCase) -> Loaded:
    """Simulate the data of a case and add its noise."""
    if case.part == "fields":
        system = find_field_system(case.system)
        noisy = add_field_noise(_field(case.system, case.seed), case.noise, np.random.RandomState(case.seed))
        return Loaded(noisy, system.library, {q: frozenset(terms) for q, terms in system.truth.items()})
    return _named(case) if case.part == "named" else _drawn(case)


@lru_cache(maxsize=1)
def _field(name: str, seed: int) -> Field:
    points, times = _grid(name)
    return find_field_system(name).simulate(np.random.RandomState(seed), points=points, times=times)


def _grid(name: str) -> tuple[int, Array]:
    system = find_field_system(name)
    return FIELD_GRIDS.get(name, (system.points, system.times))


def _named(case: SelectionCase) -> Loaded:
    system = find_system(case.system)
    duration, step, _ = NAMED[case.system]
    clean = system.simulate(system.initial_condition(np.random.RandomState(case.seed)), np.arange(0, duration, step))
    duffing = case.system == "duffing"
    scale = noise_scale(clean[:, :2]) if duffing else None
    noisy = add_noise(clean, case.noise, np.random.RandomState(case.seed), scale=scale)
    targets = ("X'", "Y'") if duffing else system.targets
    data = Trajectories.from_arrays(noisy, time=step, states=system.states, targets=targets)
    library = Polynomials(3, of=("x", "y")) if duffing else None
    return Loaded(data, library, {target: frozenset(system.truth[target]) for target in targets})


def _drawn(case: SelectionCase) -> Loaded:
    drawn = drawn_system(case.system, case.seed)
    clean = _trajectory(case.system, case.seed)[: case.samples]
    # Classic systems have negative numbers; their two halves differ in the start and in the noise.
    rng = np.random.default_rng([drawn.seed + 1000 + 7 * case.seed, case.samples, round(case.noise * 1e4)])
    data = Trajectories.from_arrays(add_noise(clean, case.noise, rng), time=drawn.step, states=drawn.system.states)
    truth = {target: frozenset(terms) for target, terms in drawn.system.truth.items()}
    return Loaded(data, Polynomials(drawn.degree), truth)


@lru_cache(maxsize=64)
def drawn_system(name: str, start: int) -> RandomSystem:
    """Return a random or a classic system with its sampling step and the degree of its library."""
    if name.startswith("random-"):
        return random_system(int(name.removeprefix("random-")))
    system = find_system(name)
    x0 = system.initial_condition(np.random.RandomState(2000 + start))
    step = 0.02
    states = system.simulate(x0, np.arange(0, 60 if len(system.states) < 6 else 20, step))
    period = fastest_period(states, system.right_hand_side(states), step)
    degree = {2: 4, 3: 3, 4: 3, 6: 2}[len(system.states)]
    return RandomSystem(-1 - list(SYSTEMS).index(name), system, x0, period / PER_PERIOD, "classic", degree)


@lru_cache(maxsize=64)
def _trajectory(name: str, start: int) -> Array:
    return drawn_system(name, start).simulate(max(SAMPLES))[1]

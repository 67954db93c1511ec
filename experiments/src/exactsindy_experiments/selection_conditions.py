"""Data sets beyond the main benchmark: other noise, other sampling, inputs, constants, weak terms, other libraries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from exactsindy.data import Trajectories
from exactsindy_experiments import condition_makers as makers
from exactsindy_experiments import condition_noise as noises
from exactsindy_experiments.condition_makers import Experiment
from exactsindy_experiments.condition_noise import Noise
from exactsindy_experiments.function_systems import FUNCTION_SYSTEMS, function_system
from exactsindy_experiments.random_systems import RandomSystem
from exactsindy_experiments.selection_cases import HALVES, Loaded, drawn_system
from exactsindy_experiments.selection_rows import SelectionCase

Rng = np.random.Generator

PARTS = {"conditions": "reporting", "tuning conditions": "tuning"}
LEVELS = (0.02, 0.1)
LENGTH = 1200
# A handful of either half, of 2 or 3 states (quick); decaying ones would be at rest for most of a coarse record.
DRAWN = {
    "reporting": ("random-1", "random-13", "random-17", "random-27"),
    "tuning": ("random-0", "random-2", "random-16", "random-26"),
}
DECAYING = {"reporting": ("random-3",), "tuning": ("random-8",)}
CLASSIC = ("lorenz", "lotka_volterra", "van_der_pol")


Maker = Callable[[RandomSystem, int, Rng], Experiment]


def condition_cases(half: str = "reporting") -> list[SelectionCase]:
    """Return the cases of every condition on the systems of one half; ``system`` reads ``condition: system``."""
    part = next(part for part, of in PARTS.items() if of == half)
    found = []
    for name in CONDITIONS:
        n = round(LENGTH / 2.5) if name == COARSEST else LENGTH
        found += [
            SelectionCase(part, f"{name}: {system}", n, noise, HALVES[half])
            for system in _systems(name, half)
            for noise in LEVELS
        ]
    return found


def _systems(condition: str, half: str) -> tuple[str, ...]:
    if condition == FUNCTIONS:
        return tuple(FUNCTION_SYSTEMS)
    coarse = condition in (COARSE, COARSEST)
    return (*DRAWN[half], *(() if coarse else DECAYING[half]), *CLASSIC)


def load_condition(case: SelectionCase) -> Loaded:
    """Simulate the data of a case and add its noise."""
    condition, name = case.system.split(": ")
    make, noise = CONDITIONS[condition]
    key = [*case.system.encode(), case.seed, case.samples]
    rng = np.random.default_rng(key)
    if condition == FUNCTIONS:
        clean = Experiment(*function_system(name, case.samples, rng))
    else:
        clean = make(drawn_system(name, case.seed), case.samples, rng)
    rng = np.random.default_rng([*key, round(case.noise * 1e4)])
    # Noise is relative to the states of all trajectories together, as for one.
    lengths = np.cumsum([len(member) for member in clean.members])[:-1]
    whole = np.vstack([member.states for member in clean.members])
    noisy = np.split(whole + noise(whole, case.noise, rng), lengths)
    members = [replace(member, states=states) for member, states in zip(clean.members, noisy, strict=True)]
    return Loaded(Trajectories(members), clean.library, clean.truth)


COARSE, COARSEST = "25 samples per period", "10 samples per period"
FUNCTIONS = "sin, exp and rational terms"
CONDITIONS: dict[str, tuple[Maker, Noise]] = {
    "reference": (makers.plain, noises.white),
    COARSE: (makers.quarter, noises.white),
    COARSEST: (makers.tenth, noises.white),
    "noise AR(1) 0.5": (makers.plain, noises.coloured(0.5)),
    "noise AR(1) 0.9": (makers.plain, noises.coloured(0.9)),
    "noise Student t3": (makers.plain, noises.heavy),
    "noise per state": (makers.plain, noises.per_state),
    "jittered times": (makers.jittered, noises.white),
    "a third missing": (makers.thinned, noises.white),
    "10 short trajectories": (makers.several, noises.white),
    "known input": (makers.forced, noises.white),
    "constant state": (makers.constant, noises.white),
    "parameter state": (makers.parameter, noises.per_state),
    "a weak term": (makers.weakened, noises.white),
    FUNCTIONS: (makers.plain, noises.white),
}

"""Which data sets the first-contact benchmark has: clean, coarse, heavy noise, laws outside the library, random."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from exactsindy.systems import SYSTEMS
from exactsindy_experiments.drawn_families import FAMILIES
from exactsindy_experiments.first_contact_rows import EQUAL, PIECES, UNEQUAL, ContactCase
from exactsindy_experiments.random_systems import is_decaying
from exactsindy_experiments.selection_cases import HALVES, NOISES, SAMPLES

# Clean data: solvers by their tolerance, and periods by samples per period.
SOLVERS = {1e-12: ("LSODA", "DOP853"), 1e-9: ("LSODA", "RK45", "DOP853"), 1e-6: ("LSODA", "RK45", "DOP853")}
PERIODS = {25: 12, 100: 8, 500: 4}
#: The tolerance of scipy's solve_ivp if none is given.
DEFAULT_TOLERANCE = 1e-3
_SAMPLINGS = (EQUAL, EQUAL, EQUAL, EQUAL, UNEQUAL, PIECES)
# Coarse data: samples per period, the last being what the others are compared with, over as many periods.
RATES, COARSE_PERIODS = (10, 15, 25, 100), 15
# Heavy noise: seeds of the generator count from the first draw.
HEAVY_NOISES, FIRST_DRAW, MOST_DRAWS = (0.1, 0.2, 0.3), 8001, 50
OUTSIDE_NOISES = (0.0, 0.02, 0.002, 0.1)


def contact_seeds(half: str, systems: int, given: Sequence[int] | None = None) -> tuple[int, ...]:
    """Return the seeds of one half: those given that belong to it, or its first ones.

    Examples
    --------
    >>> contact_seeds("tuning", 3), contact_seeds("reporting", 3, range(100, 120))
    ((0, 2, 4), (101, 103, 105))
    """
    first = HALVES[half]
    known = range(first, first + 2 * systems, 2) if given is None else [s for s in given if s % 2 == first]
    return tuple(known[:systems])


def part_cases(seeds: Sequence[int]) -> dict[str, list[ContactCase]]:
    """Return the cases of every part for the systems of these seeds; the catalogue is added where it belongs."""
    return {name: make(seeds) for name, make in _PARTS.items()}


def _named(seeds: Sequence[int]) -> list[tuple[str, int]]:
    """Return the catalogue, started by the first seed, and the random systems."""
    return [(name, seeds[0]) for name in SYSTEMS] + [(f"random-{seed}", seed) for seed in seeds]


def clean_cases(seeds: Sequence[int]) -> list[ContactCase]:
    """Return two settings for each system, all settings in turn, and solve_ivp's default for every third system."""
    cells = [(tolerance, rate) for tolerance in SOLVERS for rate in PERIODS]
    found = []
    for place, (name, seed) in enumerate(_named(seeds)):
        rng = np.random.default_rng([93, seed, place])
        # Steps of 2 and 5 through 9 cells: each cell is met equally often, and both settings of a system differ.
        for tolerance, rate in (cells[2 * place % 9], cells[(2 * place + 5) % 9]):
            solver = str(rng.choice(SOLVERS[tolerance]))
            sampling = str(rng.choice(_SAMPLINGS))
            found.append(_clean(name, seed, rate, solver, tolerance, sampling))
        if place % 3 == 0:
            rate = tuple(PERIODS)[place // 3 % 3]
            found.append(_clean(name, seed, rate, "RK45", DEFAULT_TOLERANCE, EQUAL))
    return found


def _clean(name: str, seed: int, rate: int, solver: str, tolerance: float, sampling: str) -> ContactCase:
    return ContactCase("clean", name, seed, rate * PERIODS[rate], rate, 0.0, solver, tolerance, sampling)


def coarse_cases(seeds: Sequence[int]) -> list[ContactCase]:
    """Return every second system at all rates, without noise and with 1 or 2 % in turn; decaying ones end too soon."""
    moving = [(name, seed) for name, seed in _named(seeds[::2]) if name in SYSTEMS or not is_decaying(seed)]
    return [
        ContactCase("coarse", name, seed, rate * COARSE_PERIODS, rate, noise)
        for place, (name, seed) in enumerate(moving)
        for noise in (0.0, 0.01 if place % 2 else 0.02)
        for rate in RATES
    ]


def heavy_cases(seeds: Sequence[int]) -> list[ContactCase]:
    """Return Lorenz' system at heavy noise, one draw of the noise for each seed, at most 50."""
    draws = [FIRST_DRAW + seed for seed in seeds[:MOST_DRAWS]]
    return [ContactCase("heavy", "lorenz", draw, 1001, 0, noise) for draw in draws for noise in HEAVY_NOISES]


def outside_cases(seeds: Sequence[int]) -> list[ContactCase]:
    """Return drawn laws, each at two of the four noises in turn.

    The number of families is odd, so that a family meets the other noises when its turn comes again.
    """
    families = list(FAMILIES)
    return [
        ContactCase("outside", families[seed // 2 % len(families)], seed, 0, 0, noise)
        for place, seed in enumerate(seeds)
        for noise in (OUTSIDE_NOISES[2:] if place % 2 else OUTSIDE_NOISES[:2])
    ]


def random_cases(seeds: Sequence[int]) -> list[ContactCase]:
    """Return random systems, each of one length and at three of the six noises in turn."""
    return [
        ContactCase("random", f"random-{seed}", seed, SAMPLES[place // 2 % len(SAMPLES)], 100, noise)
        for place, seed in enumerate(seeds)
        for noise in NOISES[place % 2 :: 2]
    ]


_PARTS: dict[str, Callable[[Sequence[int]], list[ContactCase]]] = {
    "clean": clean_cases,
    "coarse": coarse_cases,
    "heavy": heavy_cases,
    "outside": outside_cases,
    "random": random_cases,
}
PARTS = tuple(_PARTS)

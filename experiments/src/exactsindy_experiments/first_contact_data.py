"""The data of a case of the first-contact benchmark, simulated as its user would."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Trajectories
from exactsindy.errors import DataError
from exactsindy.library import Library, Polynomials
from exactsindy.systems import find_system
from exactsindy_experiments.condition_noise import per_state
from exactsindy_experiments.drawn_laws import drawn_law
from exactsindy_experiments.first_contact_cases import DEFAULT_TOLERANCE
from exactsindy_experiments.first_contact_rows import PIECES, UNEQUAL, ContactCase
from exactsindy_experiments.random_systems import PER_PERIOD, RandomSystem
from exactsindy_experiments.selection_cases import drawn_system
from exactsindy_experiments.selection_cases import load as load_selection
from exactsindy_experiments.selection_rows import SelectionCase

Array = NDArray[np.float64]
Rng = np.random.Generator

_PIECES, _TRIES = 5, 30
# Pieces start near points of the trajectory, this share of each state's spread away.
_AWAY = 0.2
_DEFAULT_ATOL = 1e-6  # of solve_ivp


@dataclass(frozen=True)
class ContactData:
    """The data of a case with the law behind them: the terms of every equation, None where the library lacks it.

    ``clean`` are the samples without noise, for laws outside the library.
    """

    data: Trajectories
    library: Library
    truth: dict[str, frozenset[str] | None]
    departure: dict[str, float] = field(default_factory=dict)
    clean: Array | None = None


def load(case: ContactCase) -> ContactData:
    """Simulate the data of a case and add its noise."""
    return _LOADERS[case.part](case)


def _simulated(case: ContactCase) -> ContactData:
    """Return the states of a system as its user's solver gives them, with noise relative to the spread of each."""
    drawn = drawn_system(case.system, case.seed)
    rng = np.random.default_rng([94, case.seed, *case.system.encode(), case.samples, round(case.noise * 1e6)])
    step = np.float64(drawn.step * PER_PERIOD / case.per_period)
    if case.sampling == PIECES:
        paths = _pieces(drawn, case, step, rng)
    else:
        times: Array = step * np.arange(case.samples)
        if case.sampling == UNEQUAL:
            times = np.sort(times + step * rng.uniform(-0.4, 0.4, len(times)))
        paths = [(times, _solve(drawn, drawn.start, times, case))]
    whole = np.vstack([states for _, states in paths])
    noise = np.split(per_state(whole, case.noise, rng), np.cumsum([len(times) for times, _ in paths])[:-1])
    data = Trajectories.from_arrays(
        [states + error for (_, states), error in zip(paths, noise, strict=True)],
        time=[times for times, _ in paths],
        states=drawn.system.states,
    )
    truth = {target: frozenset(terms) for target, terms in drawn.system.truth.items()}
    return ContactData(data, Polynomials(drawn.degree), dict(truth))


def _pieces(drawn: RandomSystem, case: ContactCase, step: np.float64, rng: Rng) -> list[tuple[Array, Array]]:
    """Return short trajectories that start near points of the long one and stay about as small."""
    whole = drawn.system.simulate(drawn.start, step * np.arange(case.samples))
    times: Array = step * np.arange(case.samples // _PIECES)
    found: list[tuple[Array, Array]] = []
    for _ in range(_PIECES * _TRIES):
        start = whole[rng.integers(len(whole))] + _AWAY * whole.std(axis=0) * rng.normal(size=whole.shape[1])
        try:
            states = _solve(drawn, start, times, case)
        except DataError:
            continue
        if np.abs(states).max() < 2 * np.abs(whole).max():
            found.append((times, states))
        if len(found) == _PIECES:
            return found
    raise DataError(f"{case}: no bounded pieces were found.")


def _solve(drawn: RandomSystem, start: Array, times: Array, case: ContactCase) -> Array:
    from scipy.integrate import solve_ivp

    limit = 1e6 * (1 + float(np.abs(start).max()))

    def rate(t: float, x: Array) -> Array:
        if not np.abs(x).max() < limit:
            raise DataError(f"{case}: the trajectory runs away near t = {t:g}.")
        return drawn.system.right_hand_side(x)

    atol = _DEFAULT_ATOL if case.tolerance == DEFAULT_TOLERANCE else case.tolerance
    span = (float(times[0]), float(times[-1]))
    found = solve_ivp(rate, span, start, method=case.solver, t_eval=times, rtol=case.tolerance, atol=atol)
    if not found.success:
        raise DataError(f"{case}: the integration stopped ({found.message}).")
    return np.ascontiguousarray(found.y.T, dtype=np.float64)


def _heavy(case: ContactCase) -> ContactData:
    """Return 10 s of Lorenz' system in steps of 0.01 s, with noise relative to the spread of all numbers together."""
    system = find_system("lorenz")
    times = 0.01 * np.arange(case.samples)
    clean = system.simulate((-8.0, 8.0, 27.0), times)
    noise = np.random.default_rng(case.seed).normal(0, case.noise * clean.std(), clean.shape)
    data = Trajectories.from_arrays(clean + noise, time=times, states=system.states)
    return ContactData(data, Polynomials(2), {target: frozenset(terms) for target, terms in system.truth.items()})


def _outside(case: ContactCase) -> ContactData:
    law = drawn_law(case.seed, family=case.system)
    clean = np.vstack([member.states for member in law.members])
    return ContactData(law.measured(case.noise), law.library, law.truth, law.departure, clean)


def _random(case: ContactCase) -> ContactData:
    """Return the data of the selection benchmark."""
    half = "reporting" if case.seed % 2 else "tuning"
    loaded = load_selection(SelectionCase(half, case.system, case.samples, case.noise, case.seed % 2))
    assert isinstance(loaded.data, Trajectories)
    assert loaded.library is not None
    return ContactData(loaded.data, loaded.library, dict(loaded.truth))


_LOADERS: dict[str, Callable[[ContactCase], ContactData]] = {
    "clean": _simulated,
    "coarse": _simulated,
    "heavy": _heavy,
    "outside": _outside,
    "random": _random,
}

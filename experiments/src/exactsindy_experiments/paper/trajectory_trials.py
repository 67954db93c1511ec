"""The data and rows of a published trial with trajectories: same seeds, same numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Trajectories
from exactsindy.differentiation import SmoothedFiniteDifference
from exactsindy.library import Polynomials
from exactsindy.problem import Problem
from exactsindy.systems import System, add_noise, find_system
from exactsindy_experiments.paper.records import Case
from exactsindy_experiments.paper.regression import Regression
from exactsindy_experiments.published_weak_form import POINTS, PublishedWeakForm

Array = NDArray[np.float64]

STEP = 0.002
#: Windows of the weak experiments.
WINDOWS = 2400
#: Up to this noise the weak experiments choose on smoothed differences, above on weak validation rows.
STRONG_UP_TO = 0.15
WINDOW_STRONG, WINDOW_WEAK = 9, 21


@dataclass(frozen=True, eq=False)
class Trial:
    """Noisy training and validation data; ``rng`` goes on where the noise stopped."""

    system: System
    train: Trajectories
    validation: Trajectories
    rng: np.random.RandomState


def trial_data(case: Case) -> Trial:
    """Simulate 1.5 times the training duration, add noise, split.

    The trial number seeds the initial condition and, anew, the noise; so one trial has the same standard-normal
    draws at every duration and noise level.

    Examples
    --------
    >>> trial_data(Case("differential", "hopf", "published", "exact", 5, 1.0, 0.002, 2)).train
    Trajectories(1 of x, y; samples: 500)
    """
    system = find_system(case.system)
    clean = _clean(case.system, case.duration, case.trial)
    rng = np.random.RandomState(case.trial)
    noisy = add_noise(clean, case.noise, rng)
    times = np.arange(0, 1.5 * case.duration, STEP)
    n = int(case.duration / STEP)
    train, validation = (
        Trajectories.from_arrays(noisy[part], time=times[part], states=system.states)
        for part in (slice(n), slice(n, None))
    )
    return Trial(system, train, validation, rng)


@lru_cache(maxsize=2)
def _clean(name: str, duration: float, trial: int) -> Array:
    system = find_system(name)
    start = system.initial_condition(np.random.RandomState(trial))
    return system.simulate(start, np.arange(0, 1.5 * duration, STEP))


def strong_rows(data: Trajectories, degree: int, window: int) -> tuple[Array, Array]:
    """Return the library on raw states and smoothed differences."""
    (member,) = data.members
    features = Polynomials(degree).bind(data)
    return features.evaluate(member.states), SmoothedFiniteDifference(window)(member.states, member.times)


def weak_rows(data: Trajectories, degree: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Return the weak rows of the published experiments, centres drawn from ``rng``."""
    _, ((rows,),) = PublishedWeakForm(WINDOWS, rng, points=POINTS).rows(data, Polynomials(degree))
    theta, targets = zip(*rows.rows(0, len(rows)), strict=True)
    return np.vstack(theta), np.vstack(targets)


def strong_regression(case: Case) -> Regression:
    """Return the rows of the sample-efficiency experiments."""
    trial = trial_data(case)
    train, validation = (strong_rows(part, case.degree, WINDOW_STRONG) for part in (trial.train, trial.validation))
    return _regression(trial, case, train, validation)


def weak_regression(case: Case) -> Regression:
    """Return the rows of the weak experiments."""
    trial = trial_data(case)
    train = weak_rows(trial.train, case.degree, trial.rng)
    checks = weak_rows(trial.validation, case.degree, trial.rng)
    if case.noise <= STRONG_UP_TO:
        checks = strong_rows(trial.validation, case.degree, WINDOW_WEAK)
    return _regression(trial, case, train, checks, normalise=True)


def _regression(
    trial: Trial, case: Case, train: tuple[Array, Array], checks: tuple[Array, Array], *, normalise: bool = False
) -> Regression:
    problem, validation = (_problem(trial, case, rows) for rows in (train, checks))
    return Regression(problem, validation, normalise, train, trial.rng.get_state())


def _problem(trial: Trial, case: Case, rows: tuple[Array, Array]) -> Problem:
    features = Polynomials(case.degree).bind(trial.train)
    return Problem.from_arrays(*rows, names=features.terms, target_names=trial.system.targets)

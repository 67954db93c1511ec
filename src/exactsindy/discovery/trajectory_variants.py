"""Variants for trajectories: whitened increments, made by alternating between a form and a trial model."""

from __future__ import annotations

from dataclasses import dataclass, replace

from exactsindy.data import Trajectories
from exactsindy.discovery.variant import Variant
from exactsindy.forms import IncrementForm, Smoothed, StartRegression, WeakForm, smooth, smooth_guided
from exactsindy.library import Library
from exactsindy.problem import Problem
from exactsindy.selection import growth_ratio, shared_path
from exactsindy.solver import Path, Settings, Solution

# Terms of saturated trial models, and of those around whose flow states are smoothed: more than laws have, because a
# selected model would confirm itself. Five terms serve better at high noise, eight where laws are long.
SATURATED = 8
GUIDES = (8, 5)
# Times that the weights of a first regression and that guided smoothing are improved: more change the tuning systems'
# answers no further.
_WEIGHT_ROUNDS = 2
_ROUNDS = 3
# Nodes of a trial path: trial models need not be proved, a good support found fast serves.
_TRIAL_NODES = 500


def whitened_increments(
    data: Trajectories, library: Library, settings: Settings, smoothed: Smoothed | None = None
) -> tuple[Variant, ...]:
    """Return the increment forms on measured states and, twice, on states smoothed around a model's flow.

    All need a trial model. The start regression gives the first, the growth ratio of the paths the next ones; guided
    smoothing is around the flow of the saturated end of the path.

    Parameters
    ----------
    data, library
        Where equations are sought.
    settings
        The time limit of each trial.
    smoothed
        What `smooth` returned for the data, if it is known.
    """
    trials = Trials(data, library, settings)
    plain = smooth(data) if smoothed is None else smoothed
    start = trials.start(plain)
    return trials.raw(plain, start), *(trials.guided(plain, start, terms) for terms in GUIDES)


def whitened_windows(data: Trajectories, library: Library, settings: Settings) -> Variant:
    """Return whitened weak rows, for equations that have no increments: those of higher derivatives."""
    form = WeakForm()
    trials = Trials(data, library, settings)
    path = trials.path(form.problem(data, library))
    for _ in range(_WEIGHT_ROUNDS - 1):
        form = replace(form, model=picked(path))
        path = trials.path(form.problem(data, library))
    return Variant.of("windows", replace(form, model=picked(path)), data, library, rows=path.problem.n_samples)


@dataclass(frozen=True)
class Trials:
    """The alternation of form and trial model for one data set and library."""

    data: Trajectories
    library: Library
    settings: Settings

    def path(self, problem: Problem) -> Path:
        """Return the path of a trial, proved only where that is quick."""
        limits = replace(self.settings, nodes=_TRIAL_NODES, threads=1, progress=None)
        return shared_path(problem, min(SATURATED, len(problem.terms)), settings=limits)

    def start(self, smoothed: Smoothed) -> Path:
        """Return the path of the start regression, its rows weighted by the drift of their errors."""
        form = StartRegression(smoothed=smoothed)
        path = self.path(form.problem(self.data, self.library))
        for _ in range(_WEIGHT_ROUNDS):
            ratios = form.drift_ratios(self.data, self.library, saturated(path))
            path = self.path(replace(form, drift_ratio=ratios.tolist()).problem(self.data, self.library))
        return path

    def raw(self, smoothed: Smoothed, start: Path) -> Variant:
        """Return increments with the library on measured states, powers corrected for the bias of noise."""
        polynomial = all(getattr(term, "polynomial", False) for term in start.problem.terms)
        form = IncrementForm("raw", model=picked(start), smoothed=smoothed, hermite=polynomial)
        path = self.path(form.problem(self.data, self.library))
        return self._variant("measured states", replace(form, model=picked(path)), path)

    def guided(self, smoothed: Smoothed, start: Path, terms: int) -> Variant:
        """Return increments with the library on states smoothed around the flow of models of so many terms."""
        path = start
        for _ in range(_ROUNDS):
            smoothed = smooth_guided(self.data, self.library, path[min(terms, len(path) - 1)], start=smoothed)
            form = IncrementForm("guided", model=picked(path), smoothed=smoothed)
            path = self.path(form.problem(self.data, self.library))
        return self._variant(f"smoothed states ({terms}-term flow)", replace(form, model=picked(path)), path)

    def _variant(self, name: str, form: IncrementForm, path: Path) -> Variant:
        return Variant.of(name, form, self.data, self.library, rows=path.problem.n_samples)


def saturated(path: Path) -> Solution:
    """Return the largest model of a path."""
    return path[len(path) - 1]


def picked(path: Path) -> Solution:
    """Return the model that the growth ratio picks from a path."""
    return path.at(growth_ratio(path))

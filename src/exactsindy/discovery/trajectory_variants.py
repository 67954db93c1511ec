"""Rows for trajectories: the alternation of form and trial model that leads to whitened increments."""

from __future__ import annotations

from dataclasses import dataclass, replace

from exactsindy.data import Trajectories
from exactsindy.forms import Form, IncrementForm, Smoothed, StartRegression, WeakForm, smooth, smooth_guided
from exactsindy.library import Library
from exactsindy.problem import Problem
from exactsindy.selection import growth_ratio, shared_path
from exactsindy.solver import Path, Settings, Solution

# Terms of trial models. Those whose flow guides smoothing are saturated: a selected one would confirm itself. Five
# terms serve better at high noise, eight where laws are long.
SATURATED = 8
GUIDES = (8, 5)
_WALK_ROUNDS = 2
_ROUNDS = 3
# Trial models need not be proved: a good support found fast serves.
_TRIAL_NODES = 500


@dataclass(frozen=True)
class Variant:
    """A form that has been resolved on, and its regression."""

    name: str
    form: Form
    problem: Problem


def whitened_increments(data: Trajectories, library: Library, settings: Settings) -> tuple[Variant, ...]:
    """Return the increment forms I (raw states) and M (states smoothed around a model's flow, twice).

    Both need a trial model. The integral form in cosine modes gives the first, the growth ratio of the paths the
    next ones; M smooths around the flow of the saturated end of the path.
    """
    trials = Trials(data, library, settings)
    smoothed = smooth(data)
    start = trials.start(smoothed)
    raw = trials.raw(smoothed, start)
    return raw, *(trials.informed(smoothed, start, terms) for terms in GUIDES)


@dataclass(frozen=True)
class Trials:
    """The alternation for one data set and library."""

    data: Trajectories
    library: Library
    settings: Settings

    def path(self, problem: Problem) -> Path:
        """Return the path of a trial, proved only where that is quick."""
        limits = replace(self.settings, nodes=_TRIAL_NODES, threads=1, progress=None)
        return shared_path(problem, min(SATURATED, len(problem.terms)), settings=limits)

    def start(self, smoothed: Smoothed) -> Path:
        """Return the path of the integral form, its rows weighted by the random walk of their errors."""
        form = StartRegression(smoothed=smoothed)
        path = self.path(form.problem(self.data, self.library))
        for _ in range(_WALK_ROUNDS):
            ratios = form.drift_ratios(self.data, self.library, saturated(path))
            path = self.path(replace(form, drift_ratio=ratios.tolist()).problem(self.data, self.library))
        return path

    def raw(self, smoothed: Smoothed, start: Path) -> Variant:
        """Return form I: the library on measured states, powers corrected for the bias of noise."""
        polynomial = all(getattr(term, "polynomial", False) for term in start.problem.terms)
        form = IncrementForm("raw", model=picked(start), smoothed=smoothed, hermite=polynomial)
        path = self.path(form.problem(self.data, self.library))
        form = replace(form, model=picked(path))
        return Variant("measured states", form, form.problem(self.data, self.library))

    def informed(self, smoothed: Smoothed, start: Path, terms: int) -> Variant:
        """Return form M: the library on states smoothed around the flow of models of so many terms."""
        path = start
        for _ in range(_ROUNDS):
            smoothed = smooth_guided(self.data, self.library, path[min(terms, len(path) - 1)], start=smoothed)
            form = IncrementForm("guided", model=picked(path), smoothed=smoothed)
            problem = form.problem(self.data, self.library)
            path = self.path(problem)
        form = replace(form, model=picked(path))
        return Variant(f"smoothed states ({terms}-term flow)", form, form.problem(self.data, self.library))


def saturated(path: Path) -> Solution:
    """Return the largest model of a path."""
    return path[len(path) - 1]


def picked(path: Path) -> Solution:
    """Return the model that the growth ratio picks from a path."""
    return path.at(growth_ratio(path))


def whitened_windows(data: Trajectories, library: Library, settings: Settings) -> Variant:
    """Return whitened weak rows, for equations that have no increments: those of higher derivatives."""
    form = WeakForm()
    trials = Trials(data, library, settings)
    path = trials.path(form.problem(data, library))
    for _ in range(_WALK_ROUNDS):
        form = replace(form, model=picked(path))
        problem = form.problem(data, library)
        path = trials.path(problem)
    return Variant("windows", form, problem)

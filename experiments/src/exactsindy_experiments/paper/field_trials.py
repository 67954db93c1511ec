"""The published experiments on fields, and ours on the same data."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Field
from exactsindy.solver import Settings
from exactsindy.systems import FieldSystem, find_field_system
from exactsindy_experiments.paper import exact, heuristics
from exactsindy_experiments.paper import field_simulation as simulation
from exactsindy_experiments.paper.exact import Fit
from exactsindy_experiments.paper.outcomes import ours, outcome
from exactsindy_experiments.paper.records import Case, Outcome
from exactsindy_experiments.paper.regression import Regression
from exactsindy_experiments.paper.studies import RELAXATIONS, RIDGES, find_study
from exactsindy_experiments.published_weak_form import PublishedWeakForm

Array = NDArray[np.float64]

#: Windows, points per axis, ridges of our solver, terms dropped by the library ensemble, seconds per equation.
_WEAK = {"kuramoto_sivashinsky": (200, 50), "reaction_diffusion": (400, 36)}
_RIDGES = {"kuramoto_sivashinsky": RIDGES[:-1], "reaction_diffusion": (1e-5,)}
_DROP = {"kuramoto_sivashinsky": 2, "reaction_diffusion": 3}
_SECONDS = {"kuramoto_sivashinsky": 30.0, "reaction_diffusion": 300.0}
#: Length of the mesh that the published code hands to the library (the period of the simulation is 32 pi).
KS_MESH = 100.0


def field_case(case: Case) -> Outcome:
    """Run a case of the experiment on fields."""
    system = find_field_system(case.system)
    names = _library_names(case.system)
    truth = truth_of(system, names)
    known: dict[str, Any]
    if case.protocol == "ours":
        fit, known = ours(noisy_field(case, mesh=None)[0], system.library, names, truth)
    else:
        regression = _regression(replace(case, protocol="published", algorithm="exact"))
        started = time.perf_counter()
        fit = _published(case, regression, truth)
        known = {"seconds": time.perf_counter() - started}
        if case.algorithm == "exact":
            settings = Settings(seconds=_SECONDS[case.system], threads=1)
            known["exact_at_true_k"] = exact.exact_at(regression, truth, settings)
    return outcome(fit, truth, names, tuple(system.truth), **known)


def noisy_field(case: Case, *, mesh: float | None) -> tuple[Field, np.random.RandomState]:
    """Return the noisy field of a trial and the generator where the noise left it.

    ``mesh`` is the length given to Kuramoto-Sivashinsky's axis: the published 100, or None for the true period, with
    which periodic axes are declared.
    """
    noisy, state = _noisy(case.system, case.trial, case.noise)
    rng = np.random.RandomState(case.trial)
    rng.set_state(state)
    if case.system == "kuramoto_sivashinsky":
        values = {"u": noisy}
        length = 32 * np.pi if mesh is None else mesh
        times = simulation.KS_STEP * np.arange(noisy.shape[-1])
        axes = {"x": length * np.arange(len(noisy)) / len(noisy)}
    else:
        values = {"u": noisy[..., 0], "v": noisy[..., 1]}
        length, times = find_field_system(case.system).lengths["x"], simulation.RD_TIMES
        axes = dict.fromkeys(("x", "y"), length * np.arange(len(noisy)) / len(noisy))
    periodic = dict.fromkeys(axes, length) if mesh is None else {}
    found = Field.from_arrays(values, dims=(*axes, "t"), coords={**axes, "t": times}, periodic=periodic)
    return found, rng


@lru_cache(maxsize=1)
def _noisy(name: str, trial: int, noise: float) -> tuple[Array, Any]:
    """Return the noisy samples, kept for the next protocol, and the state of the generator."""
    rng = np.random.RandomState(trial)
    clean = _clean(name, trial)
    scale = float(np.mean(np.sqrt(np.mean(clean**2, axis=0))))
    return clean + rng.normal(0.0, noise * scale, clean.shape), rng.get_state()


@lru_cache(maxsize=1)
def _clean(name: str, trial: int) -> Array:
    simulate = getattr(simulation, name)
    return np.asarray(simulate(np.random.RandomState(trial)))


@lru_cache(maxsize=1)
def _regression(case: Case) -> Regression:
    data, rng = noisy_field(case, mesh=KS_MESH)
    windows, points = _WEAK[case.system]
    form = PublishedWeakForm(domains=windows, seed=rng, points=points)
    problem = form.problem(data, find_field_system(case.system).library)
    return Regression(problem, normalise=True, state=rng.get_state())


@lru_cache(maxsize=2)
def _library_names(name: str) -> tuple[str, ...]:
    system = find_field_system(name)
    axes = {axis: np.arange(4.0) for axis in system.lengths}
    shape = (4,) * len(axes) + (4,)
    empty = {field_name: np.ones(shape) for field_name in system.names}
    data = Field.from_arrays(empty, dims=(*axes, "t"), coords={**axes, "t": np.arange(4.0)})
    return tuple(system.library.bind(data).names)


def truth_of(system: FieldSystem, names: tuple[str, ...]) -> Array:
    """Return the true coefficients over term names."""
    truth = np.zeros((len(system.truth), len(names)))
    for row, terms in enumerate(system.truth.values()):
        for name, value in terms.items():
            truth[row, names.index(name)] = value
    return truth


def _published(case: Case, regression: Regression, truth: Array) -> Fit:
    setup = find_study("pde").setup(case.system)
    sizes = np.count_nonzero(truth, axis=1).tolist()
    score = heuristics.truth_score(truth)
    if case.algorithm == "exact":
        settings = Settings(seconds=_SECONDS[case.system] * len(sizes), threads=1)
        return exact.choose_by_truth(regression, truth, sizes, _RIDGES[case.system], settings)
    if case.algorithm == "ssr":
        return heuristics.ssr_by_truth(regression, RIDGES[:-1], truth)
    if case.algorithm == "sr3":
        return heuristics.sr3(regression, _grid(setup.sr3, RELAXATIONS), score)
    fit = heuristics.stlsq(regression, _grid(setup.stlsq, RIDGES[:-1]), score)
    if case.algorithm == "stlsq":
        return fit
    return heuristics.library_stlsq(regression, fit.choice, sizes, _DROP[case.system])


def _grid(thresholds: Sequence[float], others: Sequence[float]) -> list[tuple[float, float]]:
    """Return the pairs in the published order, which is not that of the other experiments."""
    return [(threshold, other) for other in others for threshold in thresholds]

"""One case in, one outcome out."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.discover import discover
from exactsindy.experiments.paper import exact, heuristics, scoring
from exactsindy.experiments.paper.exact import Fit
from exactsindy.experiments.paper.records import Case, Outcome
from exactsindy.experiments.paper.regression import Regression
from exactsindy.experiments.paper.studies import RIDGES, find_study
from exactsindy.experiments.paper.trajectory_trials import (
    WINDOW_STRONG,
    WINDOW_WEAK,
    strong_regression,
    trial_data,
    weak_regression,
)
from exactsindy.library import Polynomials
from exactsindy.solver import Settings, Status
from exactsindy.systems import find_system

Array = NDArray[np.float64]

#: Limit of one `discover` of the protocol `ours`, its default.
OURS_SECONDS = 60.0


def evaluate(case: Case) -> Outcome:
    """Run a case.

    Examples
    --------
    >>> evaluate(Case("differential-small", "hopf", "published", "exact", 3, 16.0, 0.002, 1)).exact
    True
    """
    return _ROOMS[case.experiment](case)


def outcome(case: Case, fit: Fit, truth: Array, names: tuple[str, ...], seconds: float, **more: Any) -> Outcome:
    """Return the outcome of a fit: its distance from the truth and what else is known."""
    system_targets = more.pop("targets")
    model = {
        target: {names[j]: float(row[j]) for j in np.flatnonzero(row)}
        for target, row in zip(system_targets, fit.coef, strict=True)
    }
    known: dict[str, Any] = {
        **scoring.compare(truth, fit.coef),
        "proved": fit.proved,
        "gap": fit.gap,
        "margin": fit.margin,
        **more,
    }
    for name, value in known.items():
        if isinstance(value, float) and not math.isfinite(value):
            known[name] = None if math.isnan(value) else math.copysign(1e300, value)
    return Outcome(terms=len(names), seconds=seconds, choice=json.dumps(fit.choice), model=json.dumps(model), **known)


@lru_cache(maxsize=1)
def _regression(case: Case) -> Regression:
    return weak_regression(case) if case.experiment == "weak" else strong_regression(case)


def _shared(case: Case) -> Regression:
    """Return the rows of a cell and trial, kept while its algorithms follow one another."""
    return _regression(replace(case, protocol="published", algorithm="exact"))


def trajectory_case(case: Case) -> Outcome:
    """Run a case of the sample-efficiency or weak experiments."""
    system = find_system(case.system)
    names = Polynomials(case.degree).bind(system.states).names
    truth = system.coefficients(names)
    window = WINDOW_WEAK if case.experiment == "weak" else WINDOW_STRONG
    tests = scoring.test_set(case.system, case.trial, case.degree, window)
    if case.protocol == "ours":
        fit, seconds, ceiling = _ours(case, truth)
    else:
        regression = _shared(case)
        started = time.perf_counter()
        fit = _published(case, regression)
        seconds = time.perf_counter() - started
        ceiling = None
        if case.algorithm == "exact":
            ceiling = exact.exact_at(regression, truth, Settings(seconds=exact.SECONDS, threads=1))
    more = {**tests.rmse(fit.coef), "exact_at_true_k": ceiling, "targets": system.targets}
    return outcome(case, fit, truth, names, seconds, **more)


def _published(case: Case, regression: Regression) -> Fit:
    setup = find_study(case.experiment).setup(case.system)
    weak = case.experiment == "weak"
    ridges = RIDGES[:-1] if weak else RIDGES
    score = heuristics.joint_score(regression)
    if case.algorithm == "exact":
        seconds = exact.SECONDS * len(exact.SIZES) * len(regression.train.target_names)
        return exact.choose(regression, ridges, Settings(seconds=seconds, threads=1))
    if case.algorithm == "ssr":
        return heuristics.ssr(regression, ridges)
    if case.algorithm == "sr3":
        tuning = heuristics.ITERATIONS if weak else heuristics.TUNING_ITERATIONS
        return heuristics.sr3(regression, setup.sr3, score, tuning=tuning)
    fit = heuristics.stlsq(regression, setup.stlsq, ridges, score)
    if case.algorithm == "stlsq":
        return fit
    rng = np.random.RandomState(case.trial)
    return heuristics.bagged_stlsq(regression, setup.stlsq, fit.choice["alpha"], score, rng)


def _ours(case: Case, truth: Array) -> tuple[Fit, float, bool | None]:
    """Return what `discover` finds in the training part, and whether its rows give the truth at the true sizes."""
    data = trial_data(case).train
    settings = Settings(seconds=OURS_SECONDS, threads=1)
    started = time.perf_counter()
    found = discover(data, library=Polynomials(case.degree), settings=settings)
    seconds = time.perf_counter() - started
    entries = [(found.solution, i) for i in range(len(found.solution.status))]
    choice = {
        "k": [c.k for c in found.selection.choices],
        "preparation": [c.preparation for c in found.selection.choices],
        "score": [round(c.score, 3) for c in found.selection.choices],
    }
    fit = Fit(found.solution.coef, choice, **exact.evidence(entries))
    sizes = np.count_nonzero(truth, axis=1).tolist()
    best = found.selection.path.at(sizes)
    proved = all(status is Status.OPTIMAL for status in best.status)
    ceiling = bool(((best.coef != 0) == (truth != 0)).all()) if proved else None
    return fit, seconds, ceiling


def _field_case(case: Case) -> Outcome:
    from exactsindy.experiments.paper.field_trials import field_case

    return field_case(case)


def _duffing_case(case: Case) -> Outcome:
    from exactsindy.experiments.paper.duffing import duffing_case

    return duffing_case(case)


def _runtime_case(case: Case) -> Outcome:
    from exactsindy.experiments.paper.timing import timing_case

    return timing_case(case)


_ROOMS: dict[str, Callable[[Case], Outcome]] = {
    "differential": trajectory_case,
    "differential-small": trajectory_case,
    "weak": trajectory_case,
    "pde": _field_case,
    "constraint": _duffing_case,
    "runtime": _runtime_case,
}

"""One case in, one outcome out."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import lru_cache
from itertools import product
from typing import Any

from exactsindy.library import Polynomials
from exactsindy.solver import Settings
from exactsindy.systems import find_system
from exactsindy_experiments.paper import exact, heuristics, scoring
from exactsindy_experiments.paper.duffing import duffing_case
from exactsindy_experiments.paper.exact import Fit
from exactsindy_experiments.paper.field_trials import field_case
from exactsindy_experiments.paper.outcomes import ours, outcome
from exactsindy_experiments.paper.records import Case, Outcome
from exactsindy_experiments.paper.regression import Regression
from exactsindy_experiments.paper.studies import RELAXATIONS, RIDGES, find_study
from exactsindy_experiments.paper.timing import timing_case
from exactsindy_experiments.paper.trajectory_trials import (
    WINDOW_STRONG,
    WINDOW_WEAK,
    strong_regression,
    trial_data,
    weak_regression,
)


def evaluate(case: Case) -> Outcome:
    """Run a case.

    Examples
    --------
    >>> evaluate(Case("differential-small", "hopf", "published", "exact", 3, 16.0, 0.002, 1)).exact
    True
    """
    return _EXPERIMENTS[case.experiment](case)


def run_case(case: Case, evaluation: Callable[[Case], Outcome] = evaluate) -> Outcome:
    """Run a case; what it raises becomes the outcome's error."""
    try:
        return evaluation(case)
    except Exception as error:  # a failing trial is a result and must not stop the others
        return Outcome(error=f"{type(error).__name__}: {error}"[:500])


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Run a case in a worker process."""
    return asdict(run_case(Case(**request)))


def trajectory_case(case: Case) -> Outcome:
    """Run a case of the sample-efficiency or weak experiments."""
    system = find_system(case.system)
    library = Polynomials(case.degree)
    names = library.bind(system.states).names
    truth = system.coefficients(names)
    window = WINDOW_WEAK if case.experiment == "weak" else WINDOW_STRONG
    tests = scoring.test_set(case.system, case.trial, case.degree, window)
    known: dict[str, Any]
    if case.protocol == "ours":
        fit, known = ours(trial_data(case).train, library, names, truth)
    else:
        regression = published_regression(replace(case, protocol="published", algorithm="exact"))
        started = time.perf_counter()
        fit = _published(case, regression)
        known = {"seconds": time.perf_counter() - started}
        if case.algorithm == "exact":
            settings = Settings(seconds=exact.SECONDS, threads=1)
            known["exact_at_true_k"] = exact.exact_at(regression, truth, settings)
    return outcome(fit, truth, names, system.targets, **known, **tests.rmse(fit.coef))


@lru_cache(maxsize=1)
def published_regression(case: Case) -> Regression:
    """Return the rows of a cell and trial, kept while its algorithms follow one another."""
    return weak_regression(case) if case.experiment == "weak" else strong_regression(case)


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
        return heuristics.sr3(regression, product(setup.sr3, RELAXATIONS), score, tuning=tuning)
    fit = heuristics.stlsq(regression, product(setup.stlsq, ridges), score)
    if case.algorithm == "stlsq":
        return fit
    return heuristics.bagged_stlsq(regression, setup.stlsq, fit.choice["alpha"], score)


_EXPERIMENTS: dict[str, Callable[[Case], Outcome]] = {
    "differential": trajectory_case,
    "differential-small": trajectory_case,
    "weak": trajectory_case,
    "pde": field_case,
    "constraint": duffing_case,
    "runtime": timing_case,
}

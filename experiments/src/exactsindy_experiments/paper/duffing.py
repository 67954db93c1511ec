"""The experiment on physical constraints: accelerations of the 2D Duffing oscillator over a library of positions."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.constraints import Linear
from exactsindy.data import Trajectories
from exactsindy.differentiation import FiniteDifference, SmoothedFiniteDifference
from exactsindy.errors import MissingDependency
from exactsindy.library import Polynomials
from exactsindy.problem import Problem
from exactsindy.solver import Settings, Total, solve_path
from exactsindy.systems import add_noise, find_system, noise_scale
from exactsindy_experiments.paper import exact, heuristics, scoring
from exactsindy_experiments.paper.criterion import aicc
from exactsindy_experiments.paper.exact import Fit
from exactsindy_experiments.paper.outcomes import ours, outcome
from exactsindy_experiments.paper.records import Case, Outcome
from exactsindy_experiments.paper.regression import Regression
from exactsindy_experiments.paper.studies import RELAXATIONS, find_study

Array = NDArray[np.float64]

STEP, WINDOW = 0.01, 21
RIDGES = (1e-4, 1e-3, 1e-2)
TOTALS = range(2, 11)
SECONDS = 30.0
POSITIONS, TARGETS = ("x", "y"), ("X'", "Y'")
#: The field of forces has no curl: pairs (coefficient of Y', factor) = (coefficient of X', factor).
CURL_FREE = (
    ("x", 1.0, "y", 1.0),
    ("x^2", 2.0, "x y", 1.0),
    ("x y", 1.0, "y^2", 2.0),
    ("x^3", 3.0, "x^2 y", 1.0),
    ("x^2 y", 1.0, "x y^2", 1.0),
    ("x y^2", 1.0, "y^3", 3.0),
)


def duffing_case(case: Case) -> Outcome:
    """Run a case of the constraint experiment."""
    names = Polynomials(case.degree).bind(POSITIONS).names
    truth = find_system("duffing").coefficients(names, TARGETS)
    known: dict[str, Any]
    if case.protocol == "ours":
        times, states, n = noisy(case)
        data = Trajectories.from_arrays(states[:n], time=times[:n], states=find_system("duffing").states)
        options: dict[str, Any] = {}
        if case.algorithm == "exact-constrained":
            # Constraints that bind equations together share one budget.
            options = {"constraints": constraint_records(), "k_max": Total(max(TOTALS))}
        library = Polynomials(case.degree, of=POSITIONS)
        fit, known = ours(data, library, names, truth, targets=TARGETS, **options)
    else:
        regression = _regression(replace(case, protocol="published", algorithm="exact"))
        started = time.perf_counter()
        fit = _published(case, regression, names)
        known = {"seconds": time.perf_counter() - started}
    known["violation"] = float(np.abs(constraint_rows(names) @ fit.coef.ravel()).mean())
    known |= test_set(case.trial, case.degree).rmse(fit.coef)
    return outcome(fit, truth, names, TARGETS, **known)


def constraint_rows(names: tuple[str, ...]) -> Array:
    """Return the constraints as rows over the coefficients of X', then of Y'."""
    rows = np.zeros((len(CURL_FREE), 2 * len(names)))
    for row, (of_y, a, of_x, b) in zip(rows, CURL_FREE, strict=True):
        row[len(names) + names.index(of_y)] = a
        row[names.index(of_x)] = -b
    return rows


def constraint_records() -> list[Linear]:
    """Return the constraints as records."""
    return [Linear({("Y'", of_y): a, ("X'", of_x): -b}, "==", 0.0) for of_y, a, of_x, b in CURL_FREE]


def noisy(case: Case) -> tuple[Array, Array, int]:
    """Return times, noisy states and the number of training samples; the noise scale is that of the positions."""
    clean = _clean(case.duration, case.trial)
    rng = np.random.RandomState(case.trial)
    scale = noise_scale(clean[:, :2])
    times = np.arange(0, 1.5 * case.duration, STEP)
    return times, add_noise(clean, case.noise, rng, scale=scale), int(case.duration / STEP)


@lru_cache(maxsize=16)  # all durations of a trial
def _clean(duration: float, trial: int) -> Array:
    system = find_system("duffing")
    start = system.initial_condition(np.random.RandomState(trial))
    return system.simulate(start, np.arange(0, 1.5 * duration, STEP))


@lru_cache(maxsize=1)
def _regression(case: Case) -> Regression:
    times, states, n = noisy(case)
    # As published, smoothed before the split.
    slopes = SmoothedFiniteDifference(WINDOW)(states, times)[:, 2:]
    features = Polynomials(case.degree).bind(POSITIONS)
    theta = features.evaluate(states[:, :2])
    train, validation = (
        Problem.from_arrays(theta[part], slopes[part], names=features.terms, target_names=TARGETS)
        for part in (slice(n), slice(n, None))
    )
    return Regression(train, validation)


def _published(case: Case, regression: Regression, names: tuple[str, ...]) -> Fit:
    if case.algorithm.startswith("exact"):
        return _exact(regression, constraint_records() if case.algorithm == "exact-constrained" else [])
    setup = find_study("constraint").setup("duffing")
    theta, targets = regression.for_peers

    def candidates() -> Iterator[tuple[dict[str, Any], Array]]:
        for threshold, nu in product(setup.sr3, RELAXATIONS):
            optimizer = _sr3(threshold, nu, names if case.algorithm == "sr3-constrained" else None)
            yield {"threshold": threshold, "nu": nu}, heuristics.fitted(optimizer, theta, targets).coef_

    return heuristics.best_of(candidates(), heuristics.joint_score(regression))


def _sr3(threshold: float, nu: float, names: tuple[str, ...] | None) -> Any:
    if names is None:
        return heuristics.sr3_optimizer(threshold, nu, False, heuristics.ITERATIONS, unbias=False)
    optimizer = getattr(heuristics.pysindy(), "ConstrainedSR3", None)
    if optimizer is None:
        raise MissingDependency("PySINDy's constrained SR3 needs cvxpy: pip install 'pysindy[cvxpy]'.")
    return optimizer(
        reg_weight_lam=threshold**2 / (2 * nu),
        regularizer="l0",
        relax_coeff_nu=nu,
        tol=1e-5,
        max_iter=heuristics.ITERATIONS,
        constraint_lhs=constraint_rows(names),
        constraint_rhs=np.zeros(len(CURL_FREE)),
        constraint_order="target",
        equality_constraints=True,
    )


def _exact(regression: Regression, constraints: list[Linear]) -> Fit:
    """Return the best of the grid (shared budget, ridge) by the joint AICc; as published not refitted."""
    best: tuple[float, Fit] | None = None
    settings = Settings(seconds=SECONDS * len(TOTALS), threads=1)
    for alpha in RIDGES:
        path = solve_path(regression.train, Total(max(TOTALS)), ridge=alpha, constraints=constraints, settings=settings)
        for k in TOTALS:
            rss, m = regression.validation_rss(path[k].coef)
            score = float(aicc(rss.sum(), m * len(rss), int(np.count_nonzero(path[k].coef))))
            if best is None or score < best[0]:
                proof = exact.evidence((path[k], i) for i in range(len(path[k].status)))
                best = (score, Fit(path[k].coef, {"k": k, "alpha": alpha}, **proof))
    assert best is not None
    return best[1]


@lru_cache(maxsize=2)
def test_set(trial: int, degree: int) -> scoring.TestSet:
    """Return ten clean trajectories; the published code drew other ones for every algorithm and cell."""
    system = find_system("duffing")
    times = np.arange(0, scoring.TEST_DURATION, scoring.TEST_STEP)
    starts = system.initial_conditions(np.random.RandomState(trial + 1), scoring.TEST_COUNT)
    states = np.stack([system.simulate(start, times) for start in starts])
    features = Polynomials(degree).bind(POSITIONS)
    theta = np.stack([features.evaluate(member[:, :2]) for member in states])
    slopes = np.stack([FiniteDifference(2)(member[:, 2:], times) for member in states])
    return scoring.TestSet(theta, slopes, system.right_hand_side(states)[..., 2:])

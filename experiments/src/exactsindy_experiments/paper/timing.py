"""The runtime experiment: one fit at fixed hyperparameters, library and derivatives computed before."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.errors import SolverError
from exactsindy.library import Polynomials
from exactsindy.problem import Problem
from exactsindy.solver import Settings, solve
from exactsindy.systems import find_system
from exactsindy_experiments.instances import Instance, samples
from exactsindy_experiments.paper import exact, heuristics
from exactsindy_experiments.paper.exact import Fit
from exactsindy_experiments.paper.outcomes import outcome
from exactsindy_experiments.paper.records import Case, Outcome
from exactsindy_experiments.paper.studies import find_study

Array = NDArray[np.float64]

ALPHA, RELAXATION = 0.01, 0.1
#: Limit of one equation as published, and the short one of `exact-short`.
SECONDS, SHORT = 30.0, 0.1


def timing_case(case: Case) -> Outcome:
    """Time one fit from library matrix and derivatives to coefficients."""
    system = find_system(case.system)
    theta, targets = _rows(case.system, case.degree, case.duration, case.noise, case.trial)
    names = tuple(Polynomials(case.degree).bind(system.states).names)
    fit, seconds = _timed(case, theta, targets, system.sizes)
    return outcome(fit, system.coefficients(names), names, system.targets, seconds=seconds)


@lru_cache(maxsize=1)
def _rows(name: str, degree: int, duration: float, noise: float, trial: int) -> tuple[Array, Array]:
    x, slopes = samples(Instance(name, degree, duration, trial, noise=noise))
    return Polynomials(degree).bind(find_system(name).states).evaluate(x), slopes


def _timed(case: Case, theta: Array, targets: Array, sizes: tuple[int, ...]) -> tuple[Fit, float]:
    if case.algorithm.startswith("exact"):
        return _exact(case.algorithm, theta, targets, sizes)
    (threshold,) = find_study("runtime").setup(case.system, case.degree).stlsq
    fit = _peer(case, threshold, sizes)
    # What loads late.
    heuristics.quietly_fitted(heuristics.stlsq_optimizer(0.1, 0.0, False), np.eye(4), np.eye(4)[:, :1])
    started = time.perf_counter()
    coef = fit(theta, targets)
    return Fit(coef), time.perf_counter() - started


def _exact(algorithm: str, theta: Array, targets: Array, sizes: tuple[int, ...]) -> tuple[Fit, float]:
    settings = Settings(seconds=SECONDS * len(sizes), threads=1)
    if algorithm == "exact-all-cores":
        settings = Settings(seconds=SECONDS * len(sizes))
    if algorithm == "exact-short":
        settings = Settings(seconds=SHORT, threads=1)
    start = None
    if algorithm == "exact-warm":
        start = _warm(theta, targets, sizes)
    solve(Problem.from_arrays(np.eye(4), np.ones(4)), 1, settings=settings)  # what loads late
    started = time.perf_counter()
    problem = Problem.from_arrays(theta, targets)
    compressed = time.perf_counter() - started
    solution = solve(problem, sizes, ridge=ALPHA, start=start, settings=settings)
    seconds = time.perf_counter() - started
    proof = exact.evidence((solution, i) for i in range(len(solution.status)))
    return Fit(solution.coef, {"compress": round(compressed, 6)}, **proof), seconds


def _warm(theta: Array, targets: Array, sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the member of SSR's path with the wanted number of terms, per equation (its time is not counted)."""
    path = list(heuristics.ssr_path(theta, targets, ALPHA, False))
    found = []
    for i, size in enumerate(sizes):
        member = next((coef[i] for coef in reversed(path) if np.count_nonzero(coef[i]) >= size), path[-1][i])
        largest = np.argsort(-np.abs(member))[:size]
        found.append(tuple(sorted(int(j) for j in largest)))
    return found


def _peer(case: Case, threshold: float, sizes: tuple[int, ...]) -> Callable[[Array, Array], Array]:
    """Return a fit from rows to coefficients; as published without refitting."""
    if case.algorithm == "ssr":
        optimizer: Any = heuristics.pysindy().SSR(alpha=ALPHA, max_iter=10_000, unbias=False)
    elif case.algorithm == "sr3":
        optimizer = heuristics.sr3_optimizer(threshold, RELAXATION, False, heuristics.ITERATIONS, unbias=False)
    elif case.algorithm == "gurobi":
        optimizer = heuristics.pysindy().MIOSR(
            group_sparsity=sizes, target_sparsity=None, alpha=ALPHA, regression_timeout=SECONDS, unbias=False
        )
    else:
        optimizer = heuristics.stlsq_optimizer(threshold, ALPHA, False, unbias=False)
    if case.algorithm == "e-stlsq":
        return lambda theta, targets: _ensemble(optimizer, theta, targets, case.trial)
    return lambda theta, targets: _coef(optimizer, theta, targets)


def _coef(optimizer: Any, theta: Array, targets: Array) -> Array:
    try:
        return np.asarray(heuristics.quietly_fitted(optimizer, theta, targets).coef_)
    except Exception as error:
        if "licen" in str(error).lower():
            raise SolverError("Gurobi's licence does not admit a problem of this size.") from error
        raise


def _ensemble(optimizer: Any, theta: Array, targets: Array, trial: int) -> Array:
    rng = np.random.RandomState(trial)
    models = []
    for _ in range(heuristics.MODELS):
        chosen = rng.choice(len(theta), len(theta), replace=True)
        models.append(heuristics.quietly_fitted(optimizer, theta[chosen], targets[chosen]).coef_)
    return np.asarray(np.median(models, axis=0))

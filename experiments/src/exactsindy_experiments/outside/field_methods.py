"""One method on one noisy field, in a worker process."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any

import numpy as np

from exactsindy.data import Field
from exactsindy.discovery import discover
from exactsindy.problem import Problem
from exactsindy.selection import select
from exactsindy.solver import Settings
from exactsindy_experiments.outside.field_data import SYSTEMS, Array, FieldCase, Law, noisy
from exactsindy_experiments.outside.weak_rows import thresholded, weak_rows
from exactsindy_experiments.outside.whitened_rows import (
    criterion,
    noisy_directions,
    row_covariance,
    sample_noise,
    whitened,
)
from exactsindy_experiments.workers import Json

DEFAULT, EXACT, THRESHOLDED = "discover", "select, published rows", "MSTLS, published rows"
WHITENED = "select, whitened rows"
LIMIT = 900.0
#: Most terms of an equation that are tried, by the number of space axes: 3 more than the longest of these laws has.
K_MAX = {1: 6, 2: 10}
# Rounds of whitening.
_ROUNDS = 2
Found = dict[str, dict[str, float]]
Rows = tuple[Array, Array, list[str]]


def _discover(system: str, field: Field) -> tuple[Found, float | None]:
    found = discover(field, library=SYSTEMS[system].library, seconds=LIMIT, threads=1)
    table = found.model.coefficients
    sure = [found.confidence[target] for target in SYSTEMS[system].law]
    coefficients = {
        target: {term: float(v) for term, v in table[target].items() if v} for target in SYSTEMS[system].law
    }
    return coefficients, None if None in sure else float(np.prod(np.array(sure, dtype=float)))


def _taken_and_largest(theta: Array, target: Array, k_max: int) -> tuple[Array, Array]:
    """Search every size exactly; return what the default rule of `select` takes, and the model of the largest size."""
    norms = np.linalg.norm(theta, axis=0)
    problem = Problem.from_arrays(theta / norms, target)
    chosen = select(problem, k_max=k_max, settings=Settings(seconds=LIMIT, threads=1))
    largest = chosen.path[len(chosen.path) - 1]
    return np.asarray(chosen.solution.coef).ravel() / norms, np.asarray(largest.coef).ravel() / norms


def _select(theta: Array, target: Array, k_max: int) -> Array:
    return _taken_and_largest(theta, target, k_max)[0]


@lru_cache(maxsize=1)
def _rows(case: FieldCase) -> Rows:
    return weak_rows(noisy(case), SYSTEMS[case.system].windows)


def _on_rows(solve: Callable[[Array, Array, int], Array], system: str, rows: Rows) -> tuple[Found, float | None]:
    theta, targets, names = rows
    found: Found = {}
    k_max = K_MAX[2 if system.startswith("rd") else 1]
    for name, target in zip(SYSTEMS[system].law, targets.T, strict=True):
        coefficients = solve(theta, target, k_max)
        found[name] = {names[j]: float(coefficients[j]) for j in np.flatnonzero(coefficients)}
    return found, None


def _on_whitened(system: str, field: Field) -> tuple[Found, float | None]:
    """Search rows without the bias of noise, made independent for what of it a trial model lets through.

    Two first trial models: what `select` takes from the rows before they are whitened, and their largest model. A wrong
    trial can confirm itself: where they lead to different terms, the likelihood of each with its own noise decides.
    """
    windows, (law,) = SYSTEMS[system].windows, SYSTEMS[system].law
    theta, targets, names = weak_rows(field, windows, sample_noise(field))
    target, columns = targets[:, 0], windows.columns(1, 1)

    def covariance(coefficients: Array) -> Array:
        return row_covariance(field, windows, columns, coefficients)

    answers: dict[tuple[int, ...], Array] = {}
    for first in _taken_and_largest(theta, target, K_MAX[1]):
        trial = first
        for _ in range(_ROUNDS):
            trial = _select(*whitened(theta, target, covariance(trial)), K_MAX[1])
        answers.setdefault(tuple(np.flatnonzero(trial).tolist()), trial)
    found = list(answers.values())
    if len(found) > 1:
        _, directions = noisy_directions(covariance(np.zeros(len(names))))
        found.sort(key=lambda trial: criterion(theta, target, trial, covariance(trial), directions))
    return {law: {names[j]: float(found[0][j]) for j in np.flatnonzero(found[0])}}, None


METHODS: Mapping[str, Callable[[str, Any], tuple[Found, float | None]]] = MappingProxyType(
    {
        DEFAULT: _discover,
        EXACT: partial(_on_rows, _select),
        WHITENED: _on_whitened,
        THRESHOLDED: partial(_on_rows, lambda theta, target, _: thresholded(theta, target)),
    }
)


def truth(system: str, method: str) -> Law:
    """Return the law in the terms of a method's library."""
    return SYSTEMS[system].law if method == DEFAULT else SYSTEMS[system].published_law


def suits(system: str, method: str) -> bool:
    """Return True if a method takes a system: rows are whitened for one field over one axis."""
    return method != WHITENED or (len(SYSTEMS[system].law) == 1 and not system.startswith("rd"))


def answer(request: Json) -> Json:
    """Run a method on a field; return how right it is and its cost."""
    case = FieldCase(request["system"], request["noise"], request["draw"])
    # What is timed is the search; for `discover` that includes its preparation of the data.
    ready: Any = noisy(case) if request["method"] in (DEFAULT, WHITENED) else _rows(case)
    begin = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, confidence = METHODS[request["method"]](case.system, ready)
    except Exception as error:
        return {"failure": f"{type(error).__name__}: {error}", "cpu": round(time.process_time() - begin, 3)}
    told = judged(found, truth(case.system, request["method"]))
    return {**told, "confidence": confidence, "failure": "", "cpu": round(time.process_time() - begin, 3)}


def judged(found: Found, law: Law) -> Json:
    """Return true positivity ratio and largest relative error of the true coefficients, as published.

    Examples
    --------
    >>> told = judged({"u_t": {"u_xx": 0.9, "u": 1.0}}, {"u_t": {"u_xx": 1.0}})
    >>> told["tpr"], round(told["error"], 3), told["right"]
    (0.5, 0.1, False)
    """
    own = {(target, term) for target, terms in found.items() for term, value in terms.items() if value}
    true = {(target, term): value for target, terms in law.items() for term, value in terms.items()}
    errors = [abs(found[target].get(term, 0.0) - value) / abs(value) for (target, term), value in true.items()]
    text = "; ".join(
        f"{target} = " + " ".join(f"{value:+.4g} {term}" for term, value in list(terms.items())[:12])
        for target, terms in found.items()
    )
    ratio = len(own & true.keys()) / len(own | true.keys())
    return {"tpr": ratio, "right": ratio == 1.0, "error": max(errors), "found": text}

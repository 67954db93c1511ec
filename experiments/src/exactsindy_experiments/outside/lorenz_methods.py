"""One method on one draw of the Lorenz experiment, in a worker process."""

from __future__ import annotations

import resource
import time
import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from exactsindy.discovery import discover
from exactsindy_experiments.outside.lorenz_data import LIBRARY, STATES, TRUTH, Array, LorenzCase, samples
from exactsindy_experiments.outside.pysindy_methods import METHODS as PYSINDY
from exactsindy_experiments.workers import Json

OURS = "discover"
#: Limit of one call, generous: on a busy machine a short one would end searches early.
LIMIT = 900.0
Coefficients = dict[str, dict[str, float]]


def _ours(times: Array, states: Array) -> tuple[Coefficients, Json]:
    found = discover(states, times, states=STATES, library=LIBRARY, seconds=LIMIT, threads=1)
    table = found.model.coefficients
    coefficients = {target: {term: float(v) for term, v in table[target].items() if v} for target in TRUTH}
    sure = [found.confidence[target] for target in TRUTH]
    return coefficients, {"confidence": None if None in sure else float(np.prod(np.array(sure, dtype=float)))}


METHODS: Mapping[str, Callable[[Array, Array], tuple[Coefficients, Json]]] = MappingProxyType({OURS: _ours, **PYSINDY})


def answer(request: Json) -> Json:
    """Run a method on a draw; return whether it is right, its errors and its cost."""
    case = LorenzCase(request["noise"], request["duration"], request["draw"])
    times, states = samples(case)
    blank = {"right": False, "wrong_terms": -1, "error": float("nan"), "confidence": None, "found": "", "failure": ""}
    begin = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            coefficients, extra = METHODS[request["method"]](times, states)
    except Exception as error:  # a peer may fail in any way; that is a row too
        return {**blank, **_cost(begin), "failure": f"{type(error).__name__}: {error}"}
    return {**blank, **judged(coefficients), **extra, **_cost(begin)}


def _cost(begin: float) -> Json:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cpu": round(time.process_time() - begin, 3), "memory": round(peak, 1)}


def judged(coefficients: Coefficients) -> Json:
    """Return how far equations are from the true ones.

    ``wrong_terms`` counts terms that are missing or too many in all equations, ``error`` is the norm of the error of
    all coefficients as a share of theirs, as published.
    """
    wrong, missed, size = 0, 0.0, 0.0
    for target, law in TRUTH.items():
        own = {term: value for term, value in coefficients[target].items() if value}
        wrong += len(own.keys() ^ law.keys())
        missed += sum((own.get(term, 0.0) - law.get(term, 0.0)) ** 2 for term in own.keys() | law.keys())
        size += sum(value**2 for value in law.values())
    text = "; ".join(
        f"{target} = " + " ".join(f"{value:+.4g} {term}" for term, value in list(own.items())[:12])
        for target, own in coefficients.items()
    )
    return {"right": wrong == 0, "wrong_terms": wrong, "error": float(np.sqrt(missed / size)), "found": text}

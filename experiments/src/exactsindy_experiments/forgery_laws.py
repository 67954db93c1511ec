"""Honest run folders of laws of every kind: second order, maps, rational, inner constants, parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from scipy.integrate import solve_ivp

import exactsindy as es
from exactsindy._types import Array
from exactsindy.discovery import Discovery

_NOISE = 1e-3
_STEP = 0.05


def _measured(slope: Callable[[float, Array], list[float]], start: list[float], length: float) -> tuple[Array, Array]:
    """Return times and samples with noise."""
    times = np.arange(0.0, length, _STEP)
    solution = solve_ivp(slope, (0.0, length), start, t_eval=times, rtol=1e-9, atol=1e-10)
    return times, solution.y.T + _NOISE * np.random.default_rng(3).normal(size=solution.y.T.shape)


def _second_order() -> Discovery:
    times, x = _measured(lambda t, y: [y[1], -1.7 * y[0] - 0.2 * y[1]], [1.0, 0.0], 8.0)
    return es.discover(x[:, :1], times, states=("x",), targets="x''", library=es.Polynomials(2), k_max=3)


def _map() -> Discovery:
    counts = [0.3]
    for _ in range(80):
        counts.append(3.8 * counts[-1] * (1.0 - counts[-1]))
    return es.discover(np.array(counts), states=("n",), form="map", library=es.Polynomials(3), k_max=3)


def _rational() -> Discovery:
    times, s = _measured(lambda t, y: [-1.2 * y[0] / (0.5 + y[0])], [2.0], 6.0)
    library = es.Rational(es.Polynomials(2), es.Polynomials(1))
    return es.discover(s, times, states=("S",), library=library, k_max=3)


def _inner_constants() -> Discovery:
    times, x = _measured(lambda t, y: [y[1], -np.sin(1.7 * y[0])], [1.0, 0.0], 12.0)
    library = es.Polynomials(1) + es.Terms(["sin(w*x)"], w=(0.5, 3.0))
    return es.discover(x, times, states=("x", "v"), library=library, k_max=3)


def _parameters() -> Discovery:
    rates = (0.2, 0.5, 0.9)
    runs = [_measured(lambda t, y, rate=rate: [-rate * y[0]], [1.0], 6.0) for rate in rates]  # type: ignore[misc]
    library = es.Polynomials(2) * es.Parameters(1)
    samples = [x for _, x in runs]
    return es.discover(samples, runs[0][0], states=("x",), parameters={"mu": rates}, library=library, k_max=3)


def _default_library() -> Discovery:
    times, x = _measured(lambda t, y: [y[1], -y[0]], [1.0, 0.0], 12.0)
    return es.discover(x, times, states=("x", "v"), k_max=3)


#: From the name of a kind of law to a function that discovers one.
LAWS: Mapping[str, Callable[[], Discovery]] = {
    "second order": _second_order,
    "map": _map,
    "rational": _rational,
    "inner constants": _inner_constants,
    "parameters": _parameters,
    "default library": _default_library,
}

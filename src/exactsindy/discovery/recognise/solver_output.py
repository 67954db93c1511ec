"""Recognise samples that an ODE solver interpolated between its steps: their errors look like a law, not like noise."""

from __future__ import annotations

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Notice, Trajectories

#: The interpolant of an explicit Runge-Kutta pair of order 5 is a polynomial of this degree in each step.
DEGREE = 4
# What a sample departs from the polynomial through its neighbours is rounding if it is below this multiple of the
# machine precision times the largest sample; that of one degree less must exceed that by the second factor, or the
# samples are too close to tell.
_ROUNDING, _PRESENT = 2000.0, 30.0
# Share of the windows that must be on polynomials. Finely sampled exact solutions have none.
_SHARE = 0.3


def solver_output_notices(data: Trajectories) -> tuple[Notice, ...]:
    """Return a notice if the samples are pieces of polynomials, as the output of a solver between its steps is."""
    if not any(piece.derivatives is None and _is_piecewise(piece.times, piece.states) for piece in data):
        return ()
    text = "The samples are pieces of polynomials of time, as solve_ivp returns them between its steps"
    cause = "With its default tolerances its errors exceed what laws leave, and look like missing terms"
    return (Notice("simulated", f"{text}. {cause}. Simulate again with rtol=1e-9, atol=1e-9."),)


def _is_piecewise(times: Array, states: Array) -> bool:
    """Return True if many windows of six samples of a state lie on a polynomial of degree 4, and not all."""
    if len(states) <= 2 * DEGREE:
        return False
    inside, upper, level = _windows(times, states)
    return bool(((inside.mean(axis=0) > _SHARE) & (upper.max(axis=0) > _PRESENT * level)).any())


def on_polynomials(times: Array, states: Array) -> Array:
    """Return for every window of six samples whether all states lie on polynomials of degree 4 there, one of them bent.

    Nowhere if no sample departs from such polynomials.
    """
    if len(states) <= 2 * DEGREE:
        return np.zeros(0, dtype=bool)
    inside, upper, level = _windows(times, states)
    departs = (upper > _PRESENT * level).any()
    return np.asarray((upper < level).all(axis=1) & inside.any(axis=1) & departs)


def _windows(times: Array, states: Array) -> tuple[Array, Array, Array]:
    """Return whether each window lies on a polynomial (windows x states), its departure from that, and rounding."""
    level = _ROUNDING * np.finfo(float).eps * np.abs(states).max(axis=0)
    lower, upper = _differences(times, states, DEGREE), _differences(times, states, DEGREE + 1)
    return (upper < level) & (lower[:-1] > _PRESENT * level), upper, level


def _differences(times: Array, states: Array, order: int) -> Array:
    """Return differences of an order in every window; at unequal steps divided ones, in units of the mean step."""
    steps = np.diff(times)
    step = float(steps.mean())
    if np.ptp(steps) < 1e-6 * step:
        return np.abs(np.diff(states, order, axis=0))
    values, factor = states, 1.0
    for k in range(1, order + 1):
        values, factor = np.diff(values, axis=0) / (times[k:] - times[:-k])[:, None], factor * k * step
    return np.abs(values) * factor

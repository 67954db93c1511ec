"""Recognise samples that an ODE solver interpolated between its steps: their errors look like a law, not like noise."""

from __future__ import annotations

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Notice, Trajectories

# The interpolant of an explicit Runge-Kutta pair of order 5 is a polynomial of this degree in each step.
_DEGREE = 4
# Differences of the next order are rounding if they are below this multiple of the machine precision times the
# largest sample; those of this order must exceed that by the second factor, or the samples are too close to tell.
_ROUNDING, _PRESENT = 2000.0, 30.0
# Share of the differences that must be rounding. Finely sampled exact solutions have none.
_SHARE = 0.3


def solver_output_notices(data: Trajectories) -> tuple[Notice, ...]:
    """Return a notice if the samples are pieces of polynomials, as the output of a solver between its steps is."""
    if not any(_is_piecewise(piece.states) for piece in data):
        return ()
    text = "The samples are pieces of polynomials of time, as solve_ivp returns them between its steps"
    cause = "With its default tolerances its errors exceed what laws leave, and look like missing terms"
    return (Notice("simulated", f"{text}. {cause}. Simulate again with rtol=1e-9, atol=1e-9."),)


def _is_piecewise(states: Array) -> bool:
    """Return True if most stretches of six equally spaced samples lie on a polynomial of degree 4, and not all."""
    if len(states) <= 2 * _DEGREE:
        return False
    level = _ROUNDING * np.finfo(float).eps * np.abs(states).max(axis=0)
    lower = np.abs(np.diff(states, _DEGREE, axis=0))
    upper = np.abs(np.diff(states, _DEGREE + 1, axis=0))
    inside = (upper < level) & (lower[:-1] > _PRESENT * level)
    return bool(((inside.mean(axis=0) > _SHARE) & (upper.max(axis=0) > _PRESENT * level)).any())

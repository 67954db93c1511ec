"""Errors of states that are no measurement noise: what lies between samples, and the tolerance of a simulation."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.data import Trajectory

#: The cubic through four samples errs by 11/720 of the step times the fourth difference of the rate; added up along a
# trajectory that is this share of the fourth difference of the state.
CUBIC = 11 / 720
# Samples of a fourth difference, and the root of its squared weights on equal steps.
_STENCIL, _GAIN = 5, math.sqrt(70.0)
# Differences of long data that are formed at once.
_SECTION = 1 << 13
# Safety factor of the estimate: differences do not see what is narrower than a step. On ten tuning systems the median
# ratio of true to estimated errors is 1, the largest 7.5 at 25 samples per period. With factor 1 spurious terms follow
# the errors of the integrals (`exactsindy bench first-contact --part clean --half tuning`).
_SAFETY = 3.0
# Share of the root mean square of a state that whoever simulated the data may have erred by: solvers with a tolerance
# of 1e-6 err by up to 1.3e-5. Measurements are noisier than this.
SIMULATION_TOLERANCE = 1e-5


def unresolved_errors(pieces: Sequence[Trajectory]) -> Array:
    """Return for each state the size of its errors that are no measurement noise (d,).

    The sum of squares of two parts: errors of integrals between samples, estimated by fourth differences, and 1e-5 of
    the size of the state for data that were simulated. White noise of standard deviation s adds 0.4 s at most, so that
    noisy data are not concerned.
    """
    squares = sum((piece.states**2).sum(axis=0) for piece in pieces) / sum(map(len, pieces))
    total, count = np.zeros(pieces[0].states.shape[1]), 0
    for piece in pieces:
        for start in range(0, len(piece) - _STENCIL + 1, _SECTION):
            go_on()
            rows = slice(start, start + _SECTION + _STENCIL - 1)
            differences = _fourth_differences(piece.times[rows], piece.states[rows])
            total, count = total + (differences**2).sum(axis=0), count + len(differences)
    between = _SAFETY * CUBIC * np.sqrt(total / count)
    return np.asarray(np.hypot(between, SIMULATION_TOLERANCE * np.sqrt(squares)))


def unresolved(samples: Array, differences: Array) -> float:
    """Return the size of the errors of equally spaced samples that are no measurement noise, by fourth differences."""
    between = _SAFETY * CUBIC * float(np.sqrt(np.mean(differences**2)))
    return math.hypot(between, SIMULATION_TOLERANCE * float(np.sqrt(np.mean(samples**2))))


def _fourth_differences(times: Array, states: Array) -> Array:
    """Return fourth differences (samples - 4 x states), on unequal steps with the noise that equal ones have.

    Divided differences of unequal steps are scaled to the root of 70 squared weights of equal steps, so that close
    samples do not magnify noise.
    """
    nodes = np.lib.stride_tricks.sliding_window_view(times, _STENCIL)
    scaled = (nodes - nodes.mean(axis=1, keepdims=True)) / (nodes[:, -1:] - nodes[:, :1])
    gaps = scaled[:, :, None] - scaled[:, None, :] + np.eye(_STENCIL)
    weights = 1.0 / gaps.prod(axis=2)
    weights *= _GAIN / np.sqrt((weights**2).sum(axis=1, keepdims=True))
    windows = np.lib.stride_tricks.sliding_window_view(states, _STENCIL, axis=0)
    return np.asarray(np.einsum("nk,njk->nj", weights, windows))

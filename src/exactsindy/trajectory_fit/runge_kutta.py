"""Runge-Kutta steps of eighth order for many starts at once, with derivatives by starts and coefficients."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from exactsindy._types import Array

# Right-hand sides (arrays like the states) at states and at the share of the interval that has passed.
RightHandSide = Callable[[Array, float], Array]


def advance(right_hand_side: RightHandSide, states: Array, length: Array, substeps: int) -> Array:
    """Return the states (any axes, the last one the starts) after ``length`` (starts,), in so many equal steps.

    The method is that of Dormand and Prince of order 8. Derivatives of states are states, too: what a step does to them
    is then the exact derivative of what it does to the states.
    """
    nodes, rows, weights = tableau()
    step = length / substeps
    slopes = np.empty((len(nodes), *states.shape))
    flat = slopes.reshape(len(nodes), -1)
    for k in range(substeps):
        for s, (node, row) in enumerate(zip(nodes, rows, strict=True)):
            moved = states if s == 0 else states + step * (row[:s] @ flat[:s]).reshape(states.shape)
            slopes[s] = right_hand_side(moved, (k + node) / substeps)
        states = states + step * (weights @ flat).reshape(states.shape)
    return states


@lru_cache(maxsize=1)
def tableau() -> tuple[list[float], Array, Array]:
    """Return the nodes, the rows of the stages and the weights of the method of Dormand and Prince of order 8."""
    from scipy.integrate import DOP853  # loaded when needed: importing it is slow

    return DOP853.C.tolist(), DOP853.A, DOP853.B

"""What fitting an orbit asks of a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Support = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class GaussNewtonStep:
    """A Gauss-Newton step, and the least misfit as a function of changed coefficients dp.

    It is ``constant - 2 slope' dp + dp' curvature dp``. ``moves`` says whether the changes of states and coefficients
    are defined: not if terms are dependent.
    """

    states: Array
    coef: Array
    curvature: Array
    slope: Array
    moves: bool


class Flow(Protocol):
    """A model of given terms as the equations of states in units of their noise."""

    def rates(self, states: Array, coef: Sequence[Array]) -> Array:
        """Return the right-hand sides (samples x states that have an equation)."""

    def step(self, states: Array, coef: Sequence[Array], precision: float, damping: float) -> GaussNewtonStep | None:
        """Return the change that minimises the linearised misfit; None where the model overflows.

        ``precision`` is one over the squared tolerance of the equations.
        """

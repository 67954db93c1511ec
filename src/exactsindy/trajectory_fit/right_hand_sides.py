"""Right-hand sides of all equations between samples, and what they do to derivatives of the states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.trajectory_fit.dynamics import Dynamics
from exactsindy.trajectory_fit.intervals import Intervals
from exactsindy.trajectory_fit.protocols import offsets
from exactsindy.trajectory_fit.runge_kutta import RightHandSide


@dataclass(frozen=True, eq=False)
class _Group:
    """Equations that share a library: their states, where their coefficients begin, and weights of its outputs."""

    dynamics: Dynamics
    own: NDArray[np.int64]
    first: NDArray[np.int64]
    coef: Array  # equations x terms in use
    slopes: Array  # equations times states x derivatives of terms

    def add(self, inputs: Sequence[Array], states: Array, rates: Array) -> None:
        """Fill the rates of the equations' states, and those of their derivatives if there are any."""
        terms, d = self.dynamics.terms, len(states)
        program, count = terms.both if states.shape[1] > 1 else terms.values, len(terms.columns)
        table = np.empty((len(program.outputs), states.shape[2]))
        program.run(inputs[: len(program.inputs)], table)
        rates[self.own, 0] = self.coef @ table[:count]
        if states.shape[1] == 1:
            return
        jacobian = (self.slopes @ table[count:]).reshape(len(self.own), d, -1)
        for j, (state, first, rows) in enumerate(zip(self.own, self.first, terms.rows, strict=True)):
            for variable in self.dynamics.reach[j]:
                rates[state, 1:] += jacobian[j, variable] * states[variable, 1:]
            rates[state, 1 + d + first : 1 + d + first + len(rows)] += table[rows]


@dataclass(frozen=True, eq=False)
class RightHandSides:
    """The right-hand sides of all equations for given coefficients.

    States (states x columns x points) have derivatives by the first states and by coefficients in the columns after the
    first, or none.
    """

    intervals: Intervals
    groups: tuple[_Group, ...]

    @classmethod
    def of(
        cls, intervals: Intervals, dynamics: Sequence[Dynamics], own: NDArray[np.int64], coef: Sequence[Array]
    ) -> RightHandSides:
        """Return the right-hand sides of equations, of the states ``own``, with these coefficients."""
        groups, at, first = [], 0, 0
        for part in dynamics:
            which = slice(at, at + len(part.supports))
            weights = np.zeros((len(part.supports), len(part.terms.columns)))
            for row, xi, places in zip(weights, coef[which], part.terms.rows, strict=True):
                row[places] = xi
            begins = offsets(part.supports)
            groups.append(_Group(part, own[which], first + begins[:-1], weights, part.slope_weights(coef[which])))
            at, first = which.stop, first + int(begins[-1])
        return cls(intervals, tuple(groups))

    def within(self, which: NDArray[np.intp]) -> RightHandSide:
        """Return the right-hand sides within some of the intervals, as a function of states and the share passed."""
        cubic, begin = self.intervals.controls[:, :, which], self.intervals.begin[which]
        length = self.intervals.length[which]

        def evaluate(states: Array, share: float) -> Array:
            controls = ((cubic[3] * share + cubic[2]) * share + cubic[1]) * share + cubic[0]
            inputs, rates = [*states[:, 0], *controls, begin + share * length], np.zeros_like(states)
            for group in self.groups:
                group.add(inputs, states, rates)
            return rates

        return evaluate

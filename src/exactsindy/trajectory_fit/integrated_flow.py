"""Equations integrated from sample to sample by sub-steps, with derivatives by states and coefficients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy import _native
from exactsindy._types import Array
from exactsindy.trajectory_fit.dynamics import Dynamics
from exactsindy.trajectory_fit.intervals import Intervals
from exactsindy.trajectory_fit.polynomial_flow import PolynomialFlow
from exactsindy.trajectory_fit.protocols import GaussNewtonStep, free_columns, offsets
from exactsindy.trajectory_fit.right_hand_sides import RightHandSides
from exactsindy.trajectory_fit.runge_kutta import advance

# Largest error of a state at the end of an interval, in units of its noise: a third of what the equations may err.
_ACCURACY = 3e-3
# Largest number of sub-steps of an interval.
_MOST = 16
# Intervals are integrated together as long as their states and derivatives are at most so many numbers, which stay in
# the second-level cache with those of twelve stages; but not fewer than so many intervals.
_NUMBERS, _LEAST_BLOCK = 1 << 14, 64


@dataclass(frozen=True, eq=False)
class IntegratedFlow:
    """One equation per state, integrated over every interval from the sample at which it begins.

    ``substeps`` (intervals,) are the steps of the Runge-Kutta method of eighth order in each; ``noise`` is that of the
    states, ``own`` the state whose rate each equation gives, ``samples`` are the measured states in units of the noise,
    ``observed`` tells which states have samples.
    """

    intervals: Intervals
    dynamics: tuple[Dynamics, ...]
    samples: Array
    noise: Array
    own: NDArray[np.int64]
    observed: NDArray[np.bool_]
    substeps: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        intervals: Intervals,
        dynamics: Sequence[Dynamics],
        samples: Array,
        noise: Array,
        own: NDArray[np.int64],
        observed: NDArray[np.bool_],
    ) -> IntegratedFlow:
        """Return the model with one sub-step in every interval."""
        once = np.ones(len(intervals.starts), dtype=np.int64)
        return cls(intervals, tuple(dynamics), samples, noise, own, observed, once)

    @cached_property
    def polynomial(self) -> PolynomialFlow | None:
        """Return the equations for the native integration; None if one is no polynomial."""
        return PolynomialFlow.of(self.dynamics, self.own, self.samples.shape[1], self.intervals.controls.shape[1])

    def defects(self, states: Array, coef: Sequence[Array]) -> Array:
        """Return the state at the end of each interval less the integrated one (intervals x equations)."""
        ends = self._ends(states, coef, self.substeps)
        return np.asarray((states[self.intervals.starts + 1] - ends)[:, self.own])

    def errors(self, states: Array, coef: Sequence[Array]) -> Array:
        """Return how much twice as many sub-steps change the integrated states (intervals x equations)."""
        change = self._ends(states, coef, self.substeps) - self._ends(states, coef, 2 * self.substeps)
        return np.asarray(change[:, self.own])

    def refined(self, states: Array, coef: Sequence[Array]) -> IntegratedFlow:
        """Return the model with as many sub-steps as these states and coefficients ask for, at least those now."""
        substeps = self.substeps.copy()
        open_, ends = np.arange(len(substeps)), self._ends(states, coef, substeps)
        while len(open_ := open_[substeps[open_] < _MOST]):
            finer = self._ends(states, coef, 2 * substeps, open_)
            # A difference that is not a number is not accurate, either.
            with np.errstate(invalid="ignore"):
                rough = ~(np.abs(finer[open_] - ends[open_]).max(axis=1) <= _ACCURACY)
            open_, ends = open_[rough], finer
            substeps[open_] *= 2
        return self if (substeps == self.substeps).all() else replace(self, substeps=substeps)

    def step(
        self, states: Array, coef: Sequence[Array], precision: float, damping: float, held: frozenset[int] = frozenset()
    ) -> GaussNewtonStep | None:
        """Return the change that minimises the linearised misfit; None where the model overflows."""
        d = states.shape[1]
        first = offsets([support for part in self.dynamics for support in part.supports])
        p = int(first[-1])
        columns = np.empty((len(self.substeps), d, 1 + d + p))
        with np.errstate(all="ignore"):
            for which, ends in self._advance(states, coef, self.substeps, p):
                columns[which] = ends.transpose(2, 0, 1)
            columns /= self.noise[:, None]
            columns[:, :, 1 : 1 + d] *= self.noise
        if not np.isfinite(columns).all():
            return None
        defect = states[self.intervals.starts + 1] - columns[:, :, 0]
        forward, slopes = np.ascontiguousarray(columns[:, :, 1 : 1 + d]), np.ascontiguousarray(columns[:, :, 1 + d :])
        free, _ = free_columns(coef, held)
        q = len(free)
        outputs = (np.empty_like(states), np.empty(q), np.empty((q, q)), np.empty(q))
        inputs = (
            self.samples - states,
            self.observed.astype(float),
            defect,
            self.intervals.starts,
            forward,
            np.ascontiguousarray(slopes[:, :, free]),
        )
        profiled, moves = _native.integrated_step(*inputs, precision, damping, *outputs)
        return GaussNewtonStep(*outputs, moves).spread(free, p) if profiled else None

    def _ends(
        self,
        states: Array,
        coef: Sequence[Array],
        substeps: NDArray[np.int64],
        which: NDArray[np.intp] | None = None,
    ) -> Array:
        """Return the integrated states (intervals x states, in units of the noise); those not asked for are 0."""
        ends = np.zeros((len(substeps), states.shape[1]))
        with np.errstate(all="ignore"):
            for members, values in self._advance(states, coef, substeps, None, which):
                ends[members] = values[:, 0].T
            return ends / self.noise

    def _advance(
        self,
        states: Array,
        coef: Sequence[Array],
        substeps: NDArray[np.int64],
        coefficients: int | None,
        which: NDArray[np.intp] | None = None,
    ) -> Iterator[tuple[NDArray[np.intp], Array]]:
        """Yield intervals and what they end with, in physical units: states x 1, or x (1 + states + coefficients).

        The columns beyond the first are derivatives, by the state at which the interval begins and by coefficients.
        """
        d = states.shape[1]
        among = np.arange(len(substeps)) if which is None else which
        if self.polynomial is not None:
            start = states[self.intervals.starts] * self.noise
            ends = self.polynomial.ends(self.intervals, among, start, coef, substeps, coefficients is not None)
            yield among, ends.transpose(1, 2, 0)
            return
        width = 1 if coefficients is None else 1 + d + coefficients
        block = max(_NUMBERS // (d * width), _LEAST_BLOCK)
        rates = RightHandSides.of(self.intervals, self.dynamics, self.own, coef)
        for count in np.unique(substeps[among]).tolist():
            members = among[substeps[among] == count]
            for at in range(0, len(members), block):
                part = members[at : at + block]
                start = np.zeros((d, width, len(part)))
                start[:, 0] = (states[self.intervals.starts[part]] * self.noise).T
                if coefficients is not None:
                    start[np.arange(d), 1 + np.arange(d)] = 1.0
                yield part, advance(rates.within(part), start, self.intervals.length[part], count)

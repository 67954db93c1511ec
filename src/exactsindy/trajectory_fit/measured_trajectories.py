"""Trajectories in units of their noise, and models of given terms as the equations of their states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy import _native
from exactsindy._types import Array
from exactsindy.data import Target
from exactsindy.forms import (
    CUBIC,
    SIMULATION_TOLERANCE,
    EquationGroup,
    Smoothed,
    integrate_intervals,
    interval_weights,
    trajectory_inputs,
)
from exactsindy.library import Features, Term
from exactsindy.trajectory_fit.dynamics import Dynamics
from exactsindy.trajectory_fit.integrated_flow import IntegratedFlow
from exactsindy.trajectory_fit.intervals import Intervals
from exactsindy.trajectory_fit.phase_flow import PhaseFlow
from exactsindy.trajectory_fit.protocols import (
    Flow,
    GaussNewtonStep,
    RateModel,
    Support,
    by_group,
    defects,
    free_columns,
    quadrature_errors,
)


@dataclass(frozen=True, eq=False)
class MeasuredTrajectories:
    """Trajectories cut at gaps, end to end, in units of the noise of each state, and their equations.

    ``hidden`` are states without samples: x' where only x was measured and the equation is for x''. That the rate of x
    is x' is known; it is an equation of the model, whose coefficient is held at 1.
    """

    smoothed: Smoothed
    equations: tuple[EquationGroup, ...]
    # Whether equations are integrated between samples; otherwise their integrals are those of local cubics.
    integrated: bool = False
    hidden: tuple[str, ...] = ()
    # What makes the right-hand sides of a group of equations: sums of terms, unless quotients are fitted.
    rate_models: Callable[[EquationGroup, tuple[Support, ...]], RateModel] = Dynamics

    @cached_property
    def samples(self) -> Array:
        """Return the measured states (samples x states)."""
        return np.vstack([piece.states for piece in self.smoothed.pieces]) / self.smoothed.noise

    @cached_property
    def guess(self) -> Array:
        """Return the smoothed states, or the measured ones where samples are too coarse to be smoothed."""
        if self.integrated and not self.hidden:
            return self.samples
        return np.asarray(np.vstack(self.smoothed.values) / self.smoothed.noise)

    @cached_property
    def least_tolerance(self) -> float:
        """Return how large errors between smoothed samples are, in units of the noise."""
        states = replace(self, integrated=False).guess
        size = SIMULATION_TOLERANCE * np.sqrt(np.mean(states**2, axis=0))
        pieces = np.split(states, np.cumsum([len(times) for times in self.times])[:-1])
        bent = [np.diff(piece, 4, axis=0) for piece in pieces]
        return float(np.max(np.hypot(size, CUBIC * np.sqrt(np.mean(np.vstack(bent) ** 2, axis=0)))))

    @property
    def times(self) -> tuple[Array, ...]:
        """Return the times of every piece."""
        return tuple(piece.times for piece in self.smoothed.pieces)

    @cached_property
    def weights(self) -> Array:
        """Return the weights of the integrals over intervals; rows between two pieces are 0."""
        gap = np.zeros((1, 4))
        parts = [part for times in self.times for part in (interval_weights(times), gap)]
        return np.vstack(parts[:-1])

    @cached_property
    def own(self) -> NDArray[np.int64]:
        """Return the state whose rate each equation gives: x for x', x' for x''."""
        return np.array([self._names.index(target.integral) for target in self._targets], dtype=np.int64)

    @property
    def _names(self) -> tuple[str, ...]:
        return self.smoothed.pieces[0].names

    @property
    def _targets(self) -> list[Target]:
        return [target for group in self.equations for target in group.targets]

    @cached_property
    def observed(self) -> NDArray[np.bool_]:
        """Return which states have samples (states,)."""
        return np.array([name not in self.hidden for name in self._names])

    def columns_of(self, equation: int) -> NDArray[np.int64]:
        """Return the measured state that an equation is for."""
        return np.array([self._names.index(self._targets[equation].state)], dtype=np.int64)

    @cached_property
    def complete(self) -> MeasuredTrajectories:
        """Return the same with the equations that are known, those of rates without samples; itself without any."""
        given = {target.integral for target in self._targets}
        rates = [Target(name[:-1]) for name in self.hidden if name[:-1] not in given]
        variables = self.equations[0].features.variables
        known = [EquationGroup(Features(variables, (Term.variable(rate.name),)), (rate,)) for rate in rates]
        return replace(self, equations=(*self.equations, *known)) if known else self

    def flow(self, supports: tuple[Support, ...]) -> Flow:
        """Return the model with these terms in its equations."""
        if self.complete is not self:
            known = len(self.complete.own) - len(self.own)
            return PhaseFlow(self.complete.flow((*supports, *[(0,)] * known)), len(supports), known)
        if not self.integrated:
            return TrajectoryFlow(self, supports)
        dynamics = [Dynamics(group, terms) for group, terms, _ in by_group(self, supports)]
        noise = self.smoothed.noise
        return IntegratedFlow.of(self.intervals, dynamics, self.samples, noise, self.own, self.observed)

    def with_noise_of(self, states: Array) -> MeasuredTrajectories:
        """Return the samples in units of what fitted states leave of them, where that is less than the present noise.

        Smoothing takes what it cannot follow for noise, so its estimate is too large for coarse samples. A fit that
        leaves more than it is a bad fit, and must stay one.
        """
        left = np.minimum(np.sqrt(np.mean((self.samples - states) ** 2, axis=0)), 1.0)
        for name in self.hidden:  # in the unit of its position
            left[self._names.index(name)] = left[self._names.index(name.rstrip("'"))]
        size = self.smoothed.noise * np.sqrt(np.mean(self.samples**2, axis=0))
        # Integrated equations leave no errors between samples.
        floor = np.maximum(SIMULATION_TOLERANCE * size, np.finfo(float).eps * self.smoothed.noise)
        return replace(self, smoothed=replace(self.smoothed, measured_noise=left * self.smoothed.noise, floor=floor))

    @property
    def can_integrate(self) -> bool:
        """Return True if every state has an equation: only then its path between samples is known."""
        return sorted(self.complete.own.tolist()) == list(range(self.samples.shape[1]))

    @cached_property
    def intervals(self) -> Intervals:
        """Return the intervals between samples of all pieces, and the controls within them."""
        return Intervals.of(self.smoothed.pieces)


@dataclass(frozen=True, eq=False)
class TrajectoryFlow:
    """One equation per state; each Gauss-Newton step is one banded solve."""

    measured: MeasuredTrajectories
    supports: tuple[Support, ...]

    @cached_property
    def _parts(self) -> tuple[tuple[RateModel, slice], ...]:
        """Return the equations of every group, and which they are."""
        parts, make = by_group(self.measured, self.supports), self.measured.rate_models
        return tuple((make(group, supports), equations) for group, supports, equations in parts)

    @cached_property
    def _noise(self) -> Array:
        """Return the noise of the state of each equation."""
        return np.asarray(self.measured.smoothed.noise[self.measured.own])

    @cached_property
    def _beside(self) -> tuple[Array, ...]:
        """Return for each group the inputs of its library that are no states (inputs x samples), all pieces at once."""
        pieces, count = self.measured.smoothed.pieces, self.measured.samples.shape[1]
        nothing = [np.zeros((len(piece), count)) for piece in pieces]
        return tuple(
            np.vstack(
                [
                    trajectory_inputs(part.group.features, piece, states, 0, len(piece))[:, count:]
                    for piece, states in zip(pieces, nothing, strict=True)
                ]
            ).T
            for part, _ in self._parts
        )

    def _inputs(self, states: Array) -> list[list[Array]]:
        """Return the inputs of the library of each group, in physical units, at all samples."""
        columns = list((states * self.measured.smoothed.noise).T)
        return [[*columns, *beside] for beside in self._beside]

    def rates(self, states: Array, coef: Sequence[Array]) -> Array:
        """Return the right-hand sides (samples x equations), in units of the noise."""
        parts = zip(self._parts, self._inputs(states), strict=True)
        return np.hstack([part.rates(inputs, coef[which]).T for (part, which), inputs in parts]) / self._noise

    def defects(self, states: Array, coef: Sequence[Array]) -> Array:
        """Return what states leave of their equations (intervals x equations), in units of the noise."""
        return defects(self.measured, states, self.rates(states, coef))

    def errors(self, states: Array, coef: Sequence[Array]) -> Array:
        """Return how much local cubics err (intervals x equations), in units of the noise."""
        return quadrature_errors(self.measured, self.rates(states, coef))

    def refined(self, states: Array, coef: Sequence[Array]) -> TrajectoryFlow:
        """Return the model itself: local cubics are as accurate as they are."""
        return self

    def step(
        self, states: Array, coef: Sequence[Array], precision: float, damping: float, held: frozenset[int] = frozenset()
    ) -> GaussNewtonStep | None:
        """Return the change that minimises the linearised misfit; None where the model overflows."""
        free, first = free_columns(coef, held)
        m, p = self.measured, len(free)
        with np.errstate(all="ignore"):
            parts = [np.ascontiguousarray(part) for part in self._linear(states, coef)]
        if not all(np.isfinite(part).all() for part in parts):
            return None
        defect, integrals, slopes = parts
        outputs = (np.empty_like(states), np.empty(p), np.empty((p, p)), np.empty(p))
        columns = np.ascontiguousarray(integrals[:, free])
        inputs = (m.samples - states, m.observed.astype(float), defect, m.weights, slopes, columns, m.own, first)
        profiled, moves = _native.trajectory_step(*inputs, precision, damping, *outputs)
        return GaussNewtonStep(*outputs, moves).spread(free, integrals.shape[1]) if profiled else None

    def _linear(self, states: Array, coef: Sequence[Array]) -> tuple[Array, Array, Array]:
        """Return the defects, the integrated terms (intervals x coefficients) and the slopes, in units of the noise."""
        m = self.measured
        rates, slopes = [], []
        terms: list[Array] = []
        for (part, equations), inputs in zip(self._parts, self._inputs(states), strict=True):
            rate, columns, slope = part.linear(inputs, coef[equations])
            rates.append(rate.T)
            terms += columns
            slopes.append(slope.transpose(2, 0, 1))
        table = np.vstack([theta / noise for theta, noise in zip(terms, self._noise, strict=True)])
        scaled = np.concatenate(slopes, axis=1) * (m.smoothed.noise / self._noise[:, None])
        return defects(m, states, np.hstack(rates) / self._noise), integrate_intervals(m.weights, table.T), scaled

"""Trajectories in units of their noise, and models of given terms as the equations of their states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy import _native
from exactsindy._types import Array
from exactsindy.data import Trajectory
from exactsindy.forms import EquationGroup, Smoothed, integrate_intervals, interval_weights, trajectory_inputs
from exactsindy.library import Program, Variable
from exactsindy.trajectory_fit.compiled_terms import CompiledTerms
from exactsindy.trajectory_fit.protocols import Flow, GaussNewtonStep, Support, by_group, by_piece, defects, offsets


@dataclass(frozen=True, eq=False)
class MeasuredTrajectories:
    """Trajectories cut at gaps, end to end, in units of the noise of each state, and their equations."""

    smoothed: Smoothed
    equations: tuple[EquationGroup, ...]

    @cached_property
    def samples(self) -> Array:
        """Return the measured states (samples x states)."""
        return np.vstack([piece.states for piece in self.smoothed.pieces]) / self.smoothed.noise

    @cached_property
    def guess(self) -> Array:
        """Return the smoothed states."""
        return np.vstack(self.smoothed.values) / self.smoothed.noise

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
        """Return the state whose rate each equation gives."""
        names = self.smoothed.pieces[0].names
        return np.array([names.index(t.state) for group in self.equations for t in group.targets], dtype=np.int64)

    def columns_of(self, equation: int) -> NDArray[np.int64]:
        """Return the state whose rate an equation gives."""
        return self.own[[equation]]

    def flow(self, supports: tuple[Support, ...]) -> Flow:
        """Return the model with these terms in its equations."""
        return TrajectoryFlow(self, supports)


@dataclass(frozen=True, eq=False)
class TrajectoryFlow:
    """One equation per state; each Gauss-Newton step is one banded solve."""

    measured: MeasuredTrajectories
    supports: tuple[Support, ...]

    @cached_property
    def _parts(self) -> tuple[tuple[Dynamics, slice], ...]:
        """Return the equations of every group, and which they are."""
        parts = by_group(self.measured, self.supports)
        return tuple((Dynamics(group, supports), equations) for group, supports, equations in parts)

    @cached_property
    def _noise(self) -> Array:
        """Return the noise of the state of each equation."""
        return np.asarray(self.measured.smoothed.noise[self.measured.own])

    def _pieces(self, states: Array) -> list[Array]:
        """Return the states piece by piece in physical units."""
        return by_piece(self.measured, states * self.measured.smoothed.noise)

    def rates(self, states: Array, coef: Sequence[Array]) -> Array:
        """Return the right-hand sides (samples x equations), in units of the noise."""
        both = list(zip(self.measured.smoothed.pieces, self._pieces(states), strict=True))
        rates = [np.vstack([part.rates(*pair, coef[which]) for pair in both]) for part, which in self._parts]
        return np.hstack(rates) / self._noise

    def step(self, states: Array, coef: Sequence[Array], precision: float, damping: float) -> GaussNewtonStep | None:
        """Return the change that minimises the linearised misfit; None where the model overflows."""
        m, p = self.measured, sum(map(len, coef))
        with np.errstate(all="ignore"):
            parts = [np.ascontiguousarray(part) for part in self._linear(states, coef)]
        if not all(np.isfinite(part).all() for part in parts):
            return None
        defect, integrals, slopes = parts
        outputs = (np.empty_like(states), np.empty(p), np.empty((p, p)), np.empty(p))
        inputs = (m.samples - states, defect, m.weights, slopes, integrals, m.own, offsets(self.supports))
        profiled, moves = _native.trajectory_step(*inputs, precision, damping, *outputs)
        return GaussNewtonStep(*outputs, moves) if profiled else None

    def _linear(self, states: Array, coef: Sequence[Array]) -> tuple[Array, Array, Array]:
        """Return the defects, the integrated terms (intervals x coefficients) and the slopes, in units of the noise."""
        m, pieces = self.measured, self._pieces(states)
        rates, slopes = [], []
        terms: list[Array] = []
        for part, equations in self._parts:
            linear = [part.linear(*both, coef[equations]) for both in zip(m.smoothed.pieces, pieces, strict=True)]
            rate, columns, slope = zip(*linear, strict=True)
            rates.append(np.vstack(rate))
            terms += map(np.hstack, zip(*columns, strict=True))
            slopes.append(np.vstack(slope))
        table = np.vstack([theta / noise for theta, noise in zip(terms, self._noise, strict=True)])
        scaled = np.concatenate(slopes, axis=1) * (m.smoothed.noise / self._noise[:, None])
        return defects(m, states, np.hstack(rates) / self._noise), integrate_intervals(m.weights, table.T), scaled


@dataclass(frozen=True, eq=False)
class Dynamics:
    """The right-hand sides of one group of equations as functions of states and coefficients."""

    group: EquationGroup
    supports: tuple[Support, ...]

    @cached_property
    def _terms(self) -> CompiledTerms:
        features = self.group.features
        return CompiledTerms(features, self.supports, tuple(map(Variable, features.variables.states)))

    def _table(self, program: Program, piece: Trajectory, states: Array) -> Array:
        inputs = trajectory_inputs(self.group.features, piece, states, 0, len(piece))
        table = np.empty((len(program.outputs), len(piece)))
        program.run(list(inputs.T), table)
        return table

    def rates(self, piece: Trajectory, states: Array, coef: Sequence[Array]) -> Array:
        """Return the right-hand sides (samples x equations)."""
        table = self._table(self._terms.values, piece, states)
        return np.column_stack([xi @ table[rows] for xi, rows in zip(coef, self._terms.rows, strict=True)])

    def linear(self, piece: Trajectory, states: Array, coef: Sequence[Array]) -> tuple[Array, list[Array], Array]:
        """Return right-hand sides, terms by equation (terms x samples), slopes (samples x equations x states)."""
        table = self._table(self._terms.both, piece, states)
        terms = [table[rows] for rows in self._terms.rows]
        rates = np.column_stack([xi @ theta for xi, theta in zip(coef, terms, strict=True)])
        derivatives = table[len(self._terms.columns) :]
        slopes = np.zeros((len(self.supports), states.shape[1], len(piece)))
        for s in self._terms.summands:
            slopes[s.equation, s.variable] += (coef[s.equation][s.term] * s.factor) * derivatives[s.output]
        return rates, terms, np.ascontiguousarray(slopes.transpose(2, 0, 1))

"""The low modes of a field in units of their noise, and models of given terms as the equations of these modes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.data import Field
from exactsindy.forms import EquationGroup, SmoothedField, integrate_intervals, interval_weights
from exactsindy.library import Variable
from exactsindy.trajectory_fit.block_banded import profile_states
from exactsindy.trajectory_fit.compiled_terms import CompiledTerms
from exactsindy.trajectory_fit.modal_grid import Complex, ModalGrid, states_per_field
from exactsindy.trajectory_fit.protocols import (
    Flow,
    GaussNewtonStep,
    Support,
    by_group,
    defects,
    free_columns,
    quadrature_errors,
)


@dataclass(frozen=True, eq=False)
class MeasuredModes:
    """The modes of a periodic field that hold signal, as states: real and imaginary parts, field after field.

    Waves are scaled so that white noise of the field is white noise of size 1 of every state. The modes beyond
    the cutoff are taken for zero.
    """

    data: Field
    smoothed: SmoothedField
    equations: tuple[EquationGroup, ...]

    @property
    def per_field(self) -> int:
        """Return the number of states of each field."""
        return states_per_field(self.smoothed)

    @property
    def work(self) -> float:
        """Return the cost of a step: times x states^3."""
        return len(self.data.times) * float(self.per_field * len(self.data.names)) ** 3

    @property
    def numbers(self) -> int:
        """Return how many numbers the library has on the grid, slopes aside."""
        each = (len(grid.group.features.terms) * int(np.prod(grid.points)) for grid in self.grids)
        return len(self.data.times) * max(each)

    @cached_property
    def grids(self) -> tuple[ModalGrid, ...]:
        """Return the grid of every group of equations."""
        return tuple(ModalGrid(self.data, self.smoothed, group) for group in self.equations)

    @cached_property
    def samples(self) -> Array:
        """Return the measured modes (times x states)."""
        return self._states(self.smoothed.measured)

    @cached_property
    def guess(self) -> Array:
        """Return the smoothed modes."""
        return self._states(self.smoothed.values)

    @property
    def times(self) -> tuple[Array, ...]:
        """Return the times: one piece."""
        return (self.data.times,)

    @cached_property
    def weights(self) -> Array:
        """Return the weights of the integrals over intervals."""
        return interval_weights(self.data.times)

    @cached_property
    def fields(self) -> tuple[int, ...]:
        """Return the field whose rate each equation gives."""
        return tuple(self.data.names.index(t.state) for group in self.equations for t in group.targets)

    @cached_property
    def own(self) -> NDArray[np.int64]:
        """Return the modes that have an equation, in its order."""
        return np.concatenate([self.columns_of(i) for i in range(len(self.fields))])

    @property
    def observed(self) -> NDArray[np.bool_]:
        """Return which states have samples: all."""
        return np.ones(self.samples.shape[1], dtype=bool)

    def columns_of(self, equation: int) -> NDArray[np.int64]:
        """Return the modes of the field whose rate an equation gives."""
        return self.fields[equation] * self.per_field + np.arange(self.per_field, dtype=np.int64)

    def flow(self, supports: tuple[Support, ...]) -> Flow:
        """Return the model with these terms in its equations."""
        return ModalFlow(self, supports)

    def _states(self, modes: Complex) -> Array:
        states = []
        for field, noise in zip(modes, self.smoothed.noise, strict=True):
            scaled = field[:, self.smoothed.kept] * (self.smoothed.scale / noise)
            states += [scaled.real, scaled.imag[:, ~self.smoothed.constant]]
        return np.hstack(states)


@dataclass(frozen=True, eq=False)
class ModalFlow:
    """Right-hand sides on a grid, projected on the modes in use (Galerkin); modes of a field share coefficients."""

    measured: MeasuredModes
    supports: tuple[Support, ...]

    @cached_property
    def _parts(self) -> tuple[_GroupFlow, ...]:
        parts = zip(self.measured.grids, by_group(self.measured, self.supports), strict=True)
        return tuple(_GroupFlow(grid, supports, equations) for grid, (_, supports, equations) in parts)

    def rates(self, states: Array, coef: Sequence[Array]) -> Array:
        """Return the right-hand sides (times x modes that have an equation), in units of the noise."""
        return np.hstack([part.rates(states, coef[part.equations]) for part in self._parts])

    def defects(self, states: Array, coef: Sequence[Array]) -> Array:
        """Return what states leave of their equations (intervals x modes that have an equation)."""
        return defects(self.measured, states, self.rates(states, coef))

    def errors(self, states: Array, coef: Sequence[Array]) -> Array:
        """Return how much local cubics err (intervals x modes that have an equation), in units of the noise."""
        return quadrature_errors(self.measured, self.rates(states, coef))

    def refined(self, states: Array, coef: Sequence[Array]) -> ModalFlow:
        """Return the model itself: local cubics are as accurate as they are."""
        return self

    def step(
        self, states: Array, coef: Sequence[Array], precision: float, damping: float, held: frozenset[int] = frozenset()
    ) -> GaussNewtonStep | None:
        """Return the change that minimises the linearised misfit; None where the model overflows."""
        free, _ = free_columns(coef, held)
        m = self.measured
        with np.errstate(all="ignore"):
            rates, tables, parts = zip(*(p.linear(states, coef[p.equations]) for p in self._parts), strict=True)
            slopes, terms = np.concatenate(parts, axis=1), [theta for group in tables for theta in group]
            defect = defects(m, states, np.hstack(rates))
        if not all(np.isfinite(part).all() for part in (defect, slopes, *terms)):
            return None
        integrals = np.zeros((len(states) - 1, len(m.own), sum(map(len, coef))))
        row = column = 0
        for theta in terms:
            rows, columns = slice(row, row + theta.shape[1]), slice(column, column + theta.shape[2])
            integrals[:, rows, columns] = integrate_intervals(m.weights, theta)
            row, column = rows.stop, columns.stop
        moved, count = np.ascontiguousarray(integrals[:, :, free]), integrals.shape[2]
        step = profile_states(m.samples - states, defect, m.weights, slopes, moved, m.own, precision, damping)
        return None if step is None else step.spread(free, count)


@dataclass(frozen=True, eq=False)
class _GroupFlow:
    """The right-hand sides of one group of equations as functions of modes and coefficients."""

    grid: ModalGrid
    supports: tuple[Support, ...]
    equations: slice

    @cached_property
    def _terms(self) -> CompiledTerms:
        return CompiledTerms(self.grid.group.features, self.supports, tuple(self.grid.waves))

    def rates(self, states: Array, coef: Sequence[Array]) -> Array:
        """Return the right-hand sides (times x modes of all equations)."""
        table = self.grid.table(self._terms.values, states)
        sums = (np.tensordot(xi, table[rows], 1) for xi, rows in zip(coef, self._terms.rows, strict=True))
        return np.hstack([total @ self.grid.onto / self.grid.noise(j) for j, total in enumerate(sums)])

    def linear(self, states: Array, coef: Sequence[Array]) -> tuple[Array, list[Array], Array]:
        """Return right-hand sides, terms by equation (times x modes x terms), slopes (times x modes x states)."""
        table = self.grid.table(self._terms.values, states)
        terms = [
            np.ascontiguousarray((table[rows] @ self.grid.onto / self.grid.noise(j)).transpose(1, 2, 0))
            for j, rows in enumerate(self._terms.rows)
        ]
        rates = np.hstack([theta @ xi for theta, xi in zip(terms, coef, strict=True)])
        derivatives = self.grid.table(self._terms.slopes, states)
        local: dict[tuple[int, Variable], Array] = {}
        for s in self._terms.summands:
            key = s.equation, self._terms.variables[s.variable]
            local[key] = local.get(key, 0.0) + (coef[s.equation][s.term] * s.factor) * derivatives[s.output]
        size = states_per_field(self.grid.smoothed)
        slopes = np.zeros((len(states), len(self.supports) * size, states.shape[1]))
        for (j, variable), values in local.items():
            onto = self.grid.onto.T / self.grid.noise(j)
            block = np.matmul(onto, values[:, :, None] * self.grid.waves[variable])
            slopes[:, j * size : (j + 1) * size, self.grid.columns(variable)] += block
        return rates, terms, slopes

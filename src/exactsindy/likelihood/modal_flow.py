"""A model of a field as the equations of its modes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy.form.equations import Group
from exactsindy.form.modal_library import ModalLibrary
from exactsindy.form.quadrature import integrate_intervals
from exactsindy.library.calculus import differentiate
from exactsindy.library.program import Program, compile_terms
from exactsindy.library.term import Term, Variable
from exactsindy.likelihood.block_banded import profile_states
from exactsindy.likelihood.measured import defects
from exactsindy.likelihood.measured_modes import MeasuredModes
from exactsindy.likelihood.step import Step, Support

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ModalFlow:
    """Right-hand sides on a grid, projected on the modes in use (Galerkin); modes of a field share coefficients.

    Parameters
    ----------
    measured
        The modes.
    supports
        Per equation the columns of its terms.
    """

    measured: MeasuredModes
    supports: tuple[Support, ...]

    @cached_property
    def _parts(self) -> tuple[_Part, ...]:
        found, at = [], 0
        for group in self.measured.equations:
            mine = slice(at, at + len(group.targets))
            found.append(_Part(self.measured, group, self.supports[mine], mine))
            at = mine.stop
        return tuple(found)

    def rates(self, states: Array, coef: Sequence[Array]) -> Array:
        """Return the right-hand sides (times x modes that have an equation), in units of the noise."""
        return np.hstack([part.rates(states, coef[part.mine]) for part in self._parts])

    def step(self, states: Array, coef: Sequence[Array], precision: float, damping: float) -> Step | None:
        """Return the change that minimises the linearised misfit; None where the model overflows."""
        m = self.measured
        with np.errstate(all="ignore"):
            found = [part.linear(states, coef[part.mine]) for part in self._parts]
            rates = np.hstack([r for r, _, _ in found])
            slopes = np.concatenate([s for _, _, s in found], axis=1)
            terms = [theta for _, columns, _ in found for theta in columns]
            defect = defects(m, states, rates)
        if not all(np.isfinite(part).all() for part in (defect, slopes, *terms)):
            return None
        integrals = np.zeros((len(states) - 1, len(m.own), sum(map(len, coef))))
        row = column = 0
        for theta in terms:
            rows, columns = slice(row, row + theta.shape[1]), slice(column, column + theta.shape[2])
            integrals[:, rows, columns] = integrate_intervals(m.weights, theta)
            row, column = rows.stop, columns.stop
        return profile_states(m.samples - states, defect, m.weights, slopes, integrals, m.own, precision, damping)


@dataclass(frozen=True, eq=False)
class _Part:
    """The equations of one group."""

    measured: MeasuredModes
    group: Group
    supports: tuple[Support, ...]
    mine: slice

    @cached_property
    def _library(self) -> ModalLibrary:
        return ModalLibrary(self.measured.data, self.measured.smoothed, self.group)

    @cached_property
    def _waves(self) -> dict[Variable, Array]:
        """Return the matrix (points x modes of its field) of each input that is a field or a derivative."""
        m, noise = self.measured, self.measured.smoothed.noise
        return {
            v: m.waves(factor, self._library.points) * noise[m.data.names.index(v.name)]
            for v, factor in self._library.factors.items()
        }

    @cached_property
    def _onto(self) -> Array:
        """Return the projection of a field on the grid to modes (points x modes), before units of the noise."""
        box = self.measured.smoothed.box
        one = np.ones([len(index) for index in box.indices], dtype=complex)
        points = self._library.points
        return self.measured.waves(one, points) * (np.prod(box.sizes) / np.prod(points))

    def _columns(self, variable: Variable) -> slice:
        s, f = self.measured.per_field, self.measured.data.names.index(variable.name)
        return slice(f * s, (f + 1) * s)

    @cached_property
    def _terms(self) -> tuple[int, ...]:
        return tuple(sorted({j for support in self.supports for j in support}))

    @cached_property
    def _rows(self) -> list[NDArray[np.intp]]:
        place = {column: i for i, column in enumerate(self._terms)}
        return [np.array([place[j] for j in support], dtype=np.intp) for support in self.supports]

    @cached_property
    def _values(self) -> Program:
        features = self.group.features
        return compile_terms([features.terms[j] for j in self._terms], features.inputs)

    @cached_property
    def _slopes(self) -> tuple[Program, list[tuple[int, Variable, int, float, int]]]:
        """Return the program of all slopes, and its summands: equation, variable, term, factor, output."""
        features = self.group.features
        place: dict[Term, int] = {}
        summands = []
        for j, support in enumerate(self.supports):
            for variable in self._waves:
                for q, column in enumerate(support):
                    for factor, term in differentiate(features.terms[column], variable).parts:
                        summands.append((j, variable, q, factor, place.setdefault(term, len(place))))
        return compile_terms(tuple(place), features.inputs), summands

    def _table(self, program: Program, states: Array) -> Array:
        """Return the outputs of a program on the grid (outputs x times x points)."""
        fixed = self._fixed
        inputs = [
            (states[:, self._columns(v)] @ self._waves[v].T).ravel() if v in self._waves else fixed[i]
            for i, v in enumerate(self.group.features.inputs)
        ]
        n, points = len(states), len(self._onto)
        table = np.empty((len(program.outputs), n * points))
        if len(table):
            program.run(inputs, table)
        return table.reshape(len(table), n, points)

    @cached_property
    def _fixed(self) -> Array:
        """Return the inputs on the grid at the first guess: those that are time or place never change."""
        return self._library.inputs(slice(0, len(self.measured.data.times)))

    def _noise(self, j: int) -> float:
        return float(self.measured.smoothed.noise[self.measured.fields[self.mine][j]])

    def rates(self, states: Array, coef: Sequence[Array]) -> Array:
        """Return the right-hand sides (times x modes of all equations)."""
        table = self._table(self._values, states)
        found = [
            np.tensordot(xi, table[rows], 1) @ self._onto / self._noise(j)
            for j, (xi, rows) in enumerate(zip(coef, self._rows, strict=True))
        ]
        return np.hstack(found)

    def linear(self, states: Array, coef: Sequence[Array]) -> tuple[Array, list[Array], Array]:
        """Return the right-hand sides, the terms of each equation (times x modes x terms), and the slopes.

        Slopes are (times x modes of all equations x states).
        """
        table = self._table(self._values, states)
        terms = [
            np.ascontiguousarray((table[rows] @ self._onto / self._noise(j)).transpose(1, 2, 0))
            for j, rows in enumerate(self._rows)
        ]
        rates = np.hstack([theta @ xi for theta, xi in zip(terms, coef, strict=True)])
        program, summands = self._slopes
        beyond = self._table(program, states)
        local: dict[tuple[int, Variable], Array] = {}
        for j, variable, q, factor, row in summands:
            local[j, variable] = local.get((j, variable), 0.0) + (coef[j][q] * factor) * beyond[row]
        size = self.measured.per_field
        slopes = np.zeros((len(states), len(self.supports) * size, states.shape[1]))
        for (j, variable), values in local.items():
            onto = self._onto.T / self._noise(j)
            block = np.matmul(onto, values[:, :, None] * self._waves[variable])
            slopes[:, j * size : (j + 1) * size, self._columns(variable)] += block
        return rates, terms, slopes

"""A model of given terms as functions of its coefficients: rates, their slopes, and the terms, at samples of states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Trajectory
from exactsindy.form.equations import Group, trajectory_inputs
from exactsindy.library.calculus import differentiate
from exactsindy.library.program import Program, compile_terms
from exactsindy.library.term import Term, Variable

Array = NDArray[np.float64]
# Coefficient, factor and row of the table: one summand of a slope.
Summand = tuple[int, float, int]


@dataclass(frozen=True, eq=False)
class Dynamics:
    """Equations of one group with chosen terms.

    Parameters
    ----------
    group
        Equations that share a library.
    supports
        Per equation the columns of its terms.
    """

    group: Group
    supports: tuple[tuple[int, ...], ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of coefficients of each equation."""
        return tuple(len(support) for support in self.supports)

    @cached_property
    def _terms(self) -> tuple[int, ...]:
        return tuple(sorted({j for support in self.supports for j in support}))

    @cached_property
    def _slopes(self) -> tuple[tuple[Term, ...], dict[tuple[int, int], tuple[Summand, ...]]]:
        """Return the terms that slopes need, and the summands of each (equation, state)."""
        features = self.group.features
        place: dict[Term, int] = {}
        summands: dict[tuple[int, int], tuple[Summand, ...]] = {}
        for j, support in enumerate(self.supports):
            for state, name in enumerate(features.variables.states):
                found = []
                for q, column in enumerate(support):
                    for factor, term in differentiate(features.terms[column], Variable(name)).parts:
                        found.append((q, factor, place.setdefault(term, len(place))))
                summands[j, state] = tuple(found)
        return tuple(place), summands

    @cached_property
    def _program(self) -> Program:
        terms = [self.group.features.terms[j] for j in self._terms]
        return compile_terms((*terms, *self._slopes[0]), self.group.features.inputs)

    @cached_property
    def _values(self) -> Program:
        return compile_terms([self.group.features.terms[j] for j in self._terms], self.group.features.inputs)

    def _table(self, program: Program, piece: Trajectory, states: Array) -> Array:
        inputs = trajectory_inputs(self.group.features, piece, states, 0, len(piece))
        table = np.empty((len(program.outputs), len(piece)))
        program.run(list(inputs.T), table)
        return table

    def rates(self, piece: Trajectory, states: Array, coef: Sequence[Array]) -> Array:
        """Return the right-hand sides (samples x equations)."""
        table = self._table(self._values, piece, states)
        return np.column_stack([xi @ table[rows] for xi, rows in zip(coef, self._rows, strict=True)])

    def linear(self, piece: Trajectory, states: Array, coef: Sequence[Array]) -> tuple[Array, list[Array], Array]:
        """Return the right-hand sides, the terms of each equation (terms x samples), and the slopes.

        Slopes are (samples x equations x states).
        """
        table = self._table(self._program, piece, states)
        terms = [table[rows] for rows in self._rows]
        rates = np.column_stack([xi @ theta for xi, theta in zip(coef, terms, strict=True)])
        beyond = table[len(self._terms) :]
        slopes = np.zeros((len(self.supports), states.shape[1], len(piece)))
        for (j, state), summands in self._slopes[1].items():
            for q, factor, row in summands:
                slopes[j, state] += (coef[j][q] * factor) * beyond[row]
        return rates, terms, np.ascontiguousarray(slopes.transpose(2, 0, 1))

    @cached_property
    def _rows(self) -> list[NDArray[np.intp]]:
        place = {column: i for i, column in enumerate(self._terms)}
        return [np.array([place[j] for j in support], dtype=np.intp) for support in self.supports]

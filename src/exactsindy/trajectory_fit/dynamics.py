"""A model of given terms as functions of its coefficients: rates, their slopes, and the terms, at samples of states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Trajectory
from exactsindy.forms import EquationGroup, trajectory_inputs
from exactsindy.library import Program, Variable
from exactsindy.trajectory_fit.compiled_terms import ChosenTerms
from exactsindy.trajectory_fit.protocols import Support

Array = NDArray[np.float64]


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

    group: EquationGroup
    supports: tuple[Support, ...]

    @cached_property
    def _chosen(self) -> ChosenTerms:
        features = self.group.features
        return ChosenTerms(features, self.supports, tuple(map(Variable, features.variables.states)))

    def _table(self, program: Program, piece: Trajectory, states: Array) -> Array:
        inputs = trajectory_inputs(self.group.features, piece, states, 0, len(piece))
        table = np.empty((len(program.outputs), len(piece)))
        program.run(list(inputs.T), table)
        return table

    def rates(self, piece: Trajectory, states: Array, coef: Sequence[Array]) -> Array:
        """Return the right-hand sides (samples x equations)."""
        table = self._table(self._chosen.values, piece, states)
        return np.column_stack([xi @ table[rows] for xi, rows in zip(coef, self._chosen.rows, strict=True)])

    def linear(self, piece: Trajectory, states: Array, coef: Sequence[Array]) -> tuple[Array, list[Array], Array]:
        """Return the right-hand sides, the terms of each equation (terms x samples), and the slopes.

        Slopes are (samples x equations x states).
        """
        table = self._table(self._chosen.both, piece, states)
        terms = [table[rows] for rows in self._chosen.rows]
        rates = np.column_stack([xi @ theta for xi, theta in zip(coef, terms, strict=True)])
        beyond = table[len(self._chosen.columns) :]
        slopes = np.zeros((len(self.supports), states.shape[1], len(piece)))
        for s in self._chosen.summands:
            slopes[s.equation, s.variable] += (coef[s.equation][s.term] * s.factor) * beyond[s.output]
        return rates, terms, np.ascontiguousarray(slopes.transpose(2, 0, 1))

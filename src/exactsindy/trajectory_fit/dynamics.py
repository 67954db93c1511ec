"""The right-hand sides of equations that share a library, and their slopes, at any values of its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from exactsindy._types import Array
from exactsindy.forms import EquationGroup
from exactsindy.library import Program, Variable
from exactsindy.trajectory_fit.compiled_terms import CompiledTerms
from exactsindy.trajectory_fit.protocols import Support


@dataclass(frozen=True, eq=False)
class Dynamics:
    """The right-hand sides of one group of equations as functions of states and coefficients.

    Points are the last axis of all arrays; inputs are one array for each input of the library.
    """

    group: EquationGroup
    supports: tuple[Support, ...]
    # Names of the inputs that slopes are taken by; the states if there are none.
    by: tuple[str, ...] = ()

    @cached_property
    def terms(self) -> CompiledTerms:
        """Return the terms of the equations and their derivatives by the states, compiled."""
        features = self.group.features
        return CompiledTerms(features, self.supports, tuple(map(Variable, self.by or features.variables.states)))

    @cached_property
    def reach(self) -> tuple[tuple[int, ...], ...]:
        """Return the states that each right-hand side depends on."""
        summands = self.terms.summands
        return tuple(
            tuple(sorted({s.variable for s in summands if s.equation == j})) for j in range(len(self.supports))
        )

    def rates(self, inputs: Sequence[Array], coef: Sequence[Array]) -> Array:
        """Return the right-hand sides (equations x points)."""
        table = _run(self.terms.values, inputs)
        return np.vstack([xi @ table[rows] for xi, rows in zip(coef, self.terms.rows, strict=True)])

    def linear(self, inputs: Sequence[Array], coef: Sequence[Array]) -> tuple[Array, list[Array], Array]:
        """Return right-hand sides, terms by equation (terms x points), slopes (equations x states x points)."""
        table = _run(self.terms.both, inputs)
        terms = [table[rows] for rows in self.terms.rows]
        rates = np.vstack([xi @ theta for xi, theta in zip(coef, terms, strict=True)])
        count = len(self.terms.columns)
        slopes = self.slope_weights(coef) @ table[count:]
        return rates, terms, slopes.reshape(len(self.supports), -1, slopes.shape[1])

    def slope_weights(self, coef: Sequence[Array]) -> Array:
        """Return the weights of the derivatives in the slopes (equations times states x derivatives)."""
        states = len(self.terms.variables)
        weights = np.zeros((len(self.supports) * states, len(self.terms.slopes.outputs)))
        for s in self.terms.summands:
            weights[s.equation * states + s.variable, s.output] += coef[s.equation][s.term] * s.factor
        return weights


def _run(program: Program, inputs: Sequence[Array]) -> Array:
    """Return the outputs of a program (outputs x points)."""
    table = np.empty((len(program.outputs), len(inputs[0])))
    program.run(inputs, table)
    return table

"""Right-hand sides p + M / D whose coefficients, those of D among them, are fitted with the states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Target
from exactsindy.forms import EquationGroup
from exactsindy.library import (
    Expression,
    Features,
    Group,
    Program,
    Term,
    Variable,
    Variables,
    compile_terms,
    differentiate,
)
from exactsindy.trajectory_fit.protocols import Support


@dataclass(frozen=True)
class Quotient:
    """The candidate terms of one equation: of p, of M, and of D, whose term ``first`` has the coefficient 1.

    Coefficients are those of p, then of M, then of D without ``first``. Without terms of M there is no D.
    """

    plain: tuple[Term, ...]
    over: tuple[Term, ...] = ()
    under: tuple[Term, ...] = ()
    first: int = 0

    @property
    def free(self) -> tuple[Term, ...]:
        """Return the terms of D whose coefficients are fitted."""
        return tuple(term for j, term in enumerate(self.under) if j != self.first)

    def group(self, variables: Variables, target: Target) -> EquationGroup:
        """Return the equation with one column per coefficient.

        The columns have the names and inputs of terms, x/(1) standing for x divided by any D and x/(1)^2 for what a
        term of D changes; their values are those of `QuotientDynamics`, at the coefficients of the moment.
        """
        one = Group(Expression.constant(1.0))
        below = [term * Term(((one, -1),)) for term in self.over]
        changes = [term * Term(((one, -2),)) for term in self.free]
        return EquationGroup(Features(variables, (*self.plain, *below, *changes)), (target,))


@dataclass(frozen=True)
class Quotients:
    """The quotients of every equation by name; called with a group and its supports it makes their right-hand side."""

    by_equation: Mapping[str, Quotient]

    def __call__(self, group: EquationGroup, supports: tuple[Support, ...]) -> QuotientDynamics:
        """Return the right-hand side of the only equation of a group."""
        (support,), (target,) = supports, group.targets
        return QuotientDynamics(group, self.by_equation[target.name], support)


@dataclass(frozen=True, eq=False)
class QuotientDynamics:
    """One right-hand side p + M / D as a function of states and coefficients; points are the last axis."""

    group: EquationGroup
    quotient: Quotient
    support: Support

    @cached_property
    def _columns(self) -> tuple[list[int], list[int], list[int]]:
        """Return the columns of p, M and free terms of D in use, each counted from its own first."""
        plain, over = len(self.quotient.plain), len(self.quotient.over)
        return (
            [j for j in self.support if j < plain],
            [j - plain for j in self.support if plain <= j < plain + over],
            [j - plain - over for j in self.support if j >= plain + over],
        )

    @cached_property
    def _terms(self) -> tuple[tuple[Term, ...], tuple[Term, ...], tuple[Term, ...]]:
        """Return the terms of p, of M, and of D, the normalised one first."""
        plain, over, under = self._columns
        q = self.quotient
        below = (q.under[q.first], *(q.free[j] for j in under)) if over else ()
        return tuple(q.plain[j] for j in plain), tuple(q.over[j] for j in over), below

    @cached_property
    def _slopes(self) -> tuple[tuple[Term, ...], list[tuple[int, int, int, int, float]]]:
        """Return terms, and summands of slopes: part (p, M, D), term, variable, place among the terms, factor."""
        place: dict[Term, int] = {}
        summands = []
        for part, terms in enumerate(self._terms):
            for q, term in enumerate(terms):
                for v, name in enumerate(self.group.features.variables.states):
                    for factor, derivative in differentiate(term, Variable(name)).parts:
                        summands.append((part, q, v, place.setdefault(derivative, len(place)), factor))
        return tuple(place), summands

    @cached_property
    def _programs(self) -> tuple[Program, Program]:
        """Return the programs of the terms, and of terms and slopes."""
        terms = tuple(term for part in self._terms for term in part)
        inputs = self.group.features.inputs
        return compile_terms(terms, inputs), compile_terms((*terms, *self._slopes[0]), inputs)

    def rates(self, inputs: Sequence[Array], coef: Sequence[Array]) -> Array:
        """Return the right-hand side (1 x points)."""
        p, m, d = self._values(_run(self._programs[0], inputs))
        a, b, c = self._coefficients(coef[0])
        total = a @ p
        if len(m):
            total = total + (b @ m) / self._denominator(c, d)
        return np.asarray(total)[None]

    def linear(self, inputs: Sequence[Array], coef: Sequence[Array]) -> tuple[Array, list[Array], Array]:
        """Return the right-hand side, its slopes by coefficients (coefficients x points), and those by states."""
        table = _run(self._programs[1], inputs)
        p, m, d = self._values(table)
        a, b, c = self._coefficients(coef[0])
        count = len(p) + len(m) + len(d)
        changes = self._weights((a, b, np.concatenate([[1.0], c]) if len(m) else c)) @ table[count:]
        states = len(self.group.features.variables.states)
        by_part = changes.reshape(3, states, -1)
        if not len(m):
            return (a @ p)[None], [p], by_part[:1]
        bottom = self._denominator(c, d)
        fraction = (b @ m) / bottom
        terms = np.vstack([p, m / bottom, -d[1:] * (fraction / bottom)])
        slopes = by_part[0] + by_part[1] / bottom - by_part[2] * (fraction / bottom)
        return (a @ p + fraction)[None], [terms], slopes[None]

    def _values(self, table: Array) -> tuple[Array, Array, Array]:
        plain, over, under = (len(part) for part in self._terms)
        return table[:plain], table[plain : plain + over], table[plain + over : plain + over + under]

    def _coefficients(self, coef: Array) -> tuple[Array, Array, Array]:
        plain, over = len(self._terms[0]), len(self._terms[1])
        return coef[:plain], coef[plain : plain + over], coef[plain + over :]

    def _weights(self, coef: tuple[Array, Array, Array]) -> Array:
        """Return the weights of the slope terms in the slopes of p, M and D (3 times states x terms)."""
        states = len(self.group.features.variables.states)
        terms, summands = self._slopes
        weights = np.zeros((3 * states, len(terms)))
        for part, q, v, place, factor in summands:
            weights[part * states + v, place] += coef[part][q] * factor
        return weights

    @staticmethod
    def _denominator(coef: Array, terms: Array) -> Array:
        """Return D; not a number anywhere if it changes its sign, so that no fit goes across a pole."""
        values = terms[0] + coef @ terms[1:]
        return np.asarray(values if (values > 0).all() or (values < 0).all() else np.full_like(values, np.nan))


def _run(program: Program, inputs: Sequence[Array]) -> Array:
    """Return the outputs of a program (outputs x points)."""
    table = np.empty((len(program.outputs), len(inputs[0])))
    program.run(inputs, table)
    return table

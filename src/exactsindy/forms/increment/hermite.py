"""Library columns on noisy states without the bias of noise: x^p becomes s^p He_p(x / s)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from exactsindy._types import Array
from exactsindy.library import Features, Term, Variable


@dataclass(frozen=True, eq=False)
class HermiteFeatures:
    """The columns of a library with powers of noisy states replaced by Hermite polynomials.

    E[s^p He_p((x + e) / s)] = x^p for white noise e of standard deviation s: x^2 - s^2, x^3 - 3 s^2 x, ...
    Terms that hold a noisy state inside a function are left as they are.

    Parameters
    ----------
    features
        The library.
    noise
        Standard deviation per state, in the order of the states.

    Examples
    --------
    >>> from exactsindy.library import Polynomials
    >>> plain = Polynomials(2).bind(("x",))
    >>> HermiteFeatures(plain, np.array([0.5])).evaluate(np.array([[2.0]]))
    array([[1.  , 2.  , 3.75]])
    """

    features: Features
    noise: Array

    @cached_property
    def _split(self) -> tuple[Features, tuple[tuple[tuple[int, int], ...], ...]]:
        """Return what multiplies the powers of states in each term, and those powers (state, power)."""
        states = self.features.variables.states
        cofactors, powers = [], []
        for term in self.features.terms:
            own = {
                atom: n
                for atom, n in term.factors
                if isinstance(atom, Variable) and not atom.axes and atom.name in states and n > 1
            }
            cofactor = Term.of({a: n for a, n in term.factors if a not in own})
            nested = {
                v.name for atom, _ in cofactor.factors if not isinstance(atom, Variable) for v in atom.variables()
            }
            if nested & set(states):
                own, cofactor = {}, term
            cofactors.append(cofactor)
            powers.append(tuple((states.index(atom.name), n) for atom, n in own.items()))
        return Features(self.features.variables, tuple(cofactors)), tuple(powers)

    def evaluate(self, values: Array) -> Array:
        """Return the columns (samples x terms) at samples of the library's inputs."""
        cofactors, powers = self._split
        order = [self.features.inputs.index(v) for v in cofactors.inputs]
        columns = cofactors.evaluate(values[:, order])
        tables: dict[int, list[Array]] = {}
        for state, n in {pair for pairs in powers for pair in pairs}:
            table = tables.setdefault(state, [np.ones(len(values)), values[:, state]])
            while len(table) <= n:
                k = len(table) - 1
                table.append(values[:, state] * table[k] - k * self.noise[state] ** 2 * table[k - 1])
        for column, pairs in enumerate(powers):
            for state, n in pairs:
                columns[:, column] *= tables[state][n]
        return columns

"""The terms of some equations, and the derivatives that their slopes are sums of, compiled to programs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy.library import Features, Program, Term, Variable, compile_terms, differentiate
from exactsindy.trajectory_fit.protocols import Support


@dataclass(frozen=True)
class Summand:
    """One summand of the slope of an equation by a variable: coefficient ``term`` times ``factor`` times an output."""

    equation: int
    variable: int
    term: int
    factor: float
    output: int


@dataclass(frozen=True, eq=False)
class CompiledTerms:
    """The terms of equations that share a library, and slopes by variables; what several equations use is shared."""

    features: Features
    supports: tuple[Support, ...]
    variables: tuple[Variable, ...]

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """Return the columns of the library that any equation uses."""
        return tuple(sorted({j for support in self.supports for j in support}))

    @cached_property
    def rows(self) -> tuple[NDArray[np.intp], ...]:
        """Return where in `columns` the terms of each equation are."""
        place = {column: i for i, column in enumerate(self.columns)}
        return tuple(np.array([place[j] for j in support], dtype=np.intp) for support in self.supports)

    @cached_property
    def values(self) -> Program:
        """Return the program that computes `columns`."""
        return compile_terms(self._terms, self.features.inputs)

    @cached_property
    def slopes(self) -> Program:
        """Return the program that computes the outputs of `summands`."""
        return compile_terms(self._derivatives[0], self.features.inputs)

    @cached_property
    def both(self) -> Program:
        """Return the program of `values`, then `slopes`."""
        return compile_terms((*self._terms, *self._derivatives[0]), self.features.inputs)

    @property
    def summands(self) -> tuple[Summand, ...]:
        """Return the summands of the slopes of all equations by all variables."""
        return self._derivatives[1]

    @property
    def _terms(self) -> tuple[Term, ...]:
        return tuple(self.features.terms[j] for j in self.columns)

    @cached_property
    def _derivatives(self) -> tuple[tuple[Term, ...], tuple[Summand, ...]]:
        place: dict[Term, int] = {}
        summands = []
        for j, support in enumerate(self.supports):
            for v, variable in enumerate(self.variables):
                for q, column in enumerate(support):
                    for factor, term in differentiate(self.features.terms[column], variable).parts:
                        summands.append(Summand(j, v, q, factor, place.setdefault(term, len(place))))
        return tuple(place), tuple(summands)

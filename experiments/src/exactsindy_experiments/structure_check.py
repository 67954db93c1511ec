"""Can the terms that were found be the true law? Their coefficients and inner constants are fitted to exact rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Trajectories, Trajectory
from exactsindy.discovery.gauss_newton import fit_constants
from exactsindy.forms import StrongForm
from exactsindy.library import Atom, Expression, Function, Group, OpenTerm, Term, Terms, Variable
from exactsindy.problem import Problem

Array = NDArray[np.float64]
#: Share of the rate (root mean square) below which what a fit leaves is rounding.
EXACT = 1e-6


@dataclass
class _Opened:
    """Terms with their inner numbers replaced by constants, and these numbers.

    ``shared``: equal numbers become one constant, such as those of one denominator below several terms. As constants of
    their own they would make the fit singular.
    """

    shared: bool = False
    values: dict[str, float] = field(default_factory=dict)

    def term(self, term: Term) -> OpenTerm:
        opened = Term(tuple((self._atom(atom), power) for atom, power in term.factors))
        inside = {variable.name for variable in opened.variables()}
        return OpenTerm(opened, tuple(name for name in self.values if name in inside))

    def _atom(self, atom: Atom) -> Atom:
        if isinstance(atom, Function):
            return Function(atom.kind, self._sum(atom.argument))
        return Group(self._sum(atom.content)) if isinstance(atom, Group) else atom

    def _sum(self, expression: Expression) -> Expression:
        parts = []
        for coefficient, term in expression.parts:
            opened = Term(tuple((self._atom(atom), power) for atom, power in term.factors))
            if float(coefficient).is_integer():
                parts.append((coefficient, opened))
            else:
                value = abs(coefficient)
                same = (name for name, known in self.values.items() if self.shared and known == value)
                name = next(same, f"inner{len(self.values)}")
                self.values[name] = value
                parts.append((1.0 if coefficient > 0 else -1.0, Term(((Variable(name), 1),)) * opened))
        return Expression.of(parts)


def is_law(terms: Sequence[Term], states: Array, names: tuple[str, ...], rate: Array) -> bool:
    """Return True if the terms can equal a rate at all samples, and not without one of them.

    Parameters
    ----------
    terms
        The terms found, with numbers for inner constants.
    states, names, rate
        Samples x states, their names, and the exact rate at every sample.
    """
    data = Trajectories(
        [Trajectory(np.arange(float(len(states))), states, names, derivatives=np.outer(rate, np.ones(len(names))))],
        (f"{names[0]}'",),
    )

    def rows(library: Terms) -> Problem:
        return StrongForm().problem(data, library)

    def minimal(shared: bool) -> bool:
        if not _is_exact(terms, rows, rate, shared):
            return False
        return not any(
            _is_exact([t for t in terms if t is not left], rows, rate, shared) for left in terms if len(terms) > 1
        )

    return minimal(False) or minimal(True)


def parameters(terms: Sequence[Term]) -> int:
    """Return the number of coefficients and inner constants of terms."""
    opened = _Opened()
    for term in terms:
        opened.term(term)
    return len(terms) + len(opened.values)


def _is_exact(terms: Sequence[Term], rows: object, rate: Array, shared: bool) -> bool:
    opened = _Opened(shared)
    every = [opened.term(term) for term in terms]
    fit = fit_constants(every, opened.values, rows)  # type: ignore[arg-type]
    return fit is not None and bool(fit.rss <= EXACT**2 * float(rate @ rate))

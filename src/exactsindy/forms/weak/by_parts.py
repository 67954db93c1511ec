"""Integration by parts of library terms: which derivatives go onto the test function, and what is integrated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from exactsindy._types import Array
from exactsindy.library import Atom, Expression, Term, Variable, differentiate, total_derivative


@dataclass(frozen=True)
class Part:
    """``factor`` times the integral of ``integrand`` against the derivative ``orders`` (by dimension) of phi."""

    factor: float
    orders: tuple[int, ...]
    integrand: Term


@dataclass(frozen=True)
class ByParts:
    """Rewrites terms for a weak form; ``axes`` are the names of the space dimensions."""

    axes: tuple[str, ...]
    fields: tuple[str, ...]

    def full(self, term: Term) -> tuple[Part, ...]:
        """Return the term with every derivative moved that can be, others lowered as far as possible.

        u u_x = (u^2)_x / 2 moves entirely; u v_xx becomes -phi_x u v_x - phi u_x v_x, with one derivative
        instead of two on noisy data.
        """
        return _collect(self._moved(1.0, (0,) * len(self.axes), term))

    def _moved(self, factor: float, orders: tuple[int, ...], term: Term) -> Iterator[Part]:
        total = total_derivative(term)
        if total is not None:
            moved = tuple(q + total.axes.count(axis) for q, axis in zip(orders, self.axes, strict=True))
            yield Part(factor * total.factor * (-1.0) ** len(total.axes), moved, total.flux)
            return
        top = max(term.derivatives, key=lambda v: len(v.axes))
        others = Term.of({**term.powers, top: term.powers[top] - 1})
        if not self._lowers(top, others):
            yield Part(factor, orders, term)
            return
        axis = top.axes[-1]
        lower = Term.variable(top.name, top.axes[:-1])
        onto = tuple(q + (name == axis) for q, name in zip(orders, self.axes, strict=True))
        yield from self._moved(-factor, onto, others * lower)
        for coefficient, part in self._along(others, axis).parts:
            yield from self._moved(-factor * coefficient, orders, part * lower)

    def _lowers(self, top: Variable, others: Term) -> bool:
        """Return True if moving one derivative of ``top`` lowers the highest derivative of the data."""
        orders = [len(v.axes) for v in others.variables() if v.name in self.fields]
        return not orders or len(top.axes) - max(orders) >= 2

    def _along(self, term: Term, axis: str) -> Expression:
        """Return the derivative of a term along an axis, by the chain rule."""
        total = Expression()
        for variable in term.variables():
            slope = differentiate(term, variable)
            if variable.name in self.fields:
                grown = tuple(sorted((*variable.axes, axis), key=self.axes.index))
                total = total + slope * Expression(((1.0, Term.variable(variable.name, grown)),))
            elif variable.name == axis:
                total = total + slope
        return total


def _collect(parts: Iterator[Part]) -> tuple[Part, ...]:
    total: dict[tuple[tuple[int, ...], Term], float] = {}
    for part in parts:
        key = (part.orders, part.integrand)
        total[key] = total.get(key, 0.0) + part.factor
    return tuple(Part(factor, *key) for key, factor in total.items() if factor)


@dataclass(frozen=True)
class IntegralPlan:
    """The integrals that terms are made of: every term is a sum of products function x slope x derivative of phi.

    So all integrals of a window are one matrix product, functions (a x points) times weighted slopes
    (points x b). ``slopes`` holds the products of spatial derivatives, ``columns`` the pairs (slope, orders
    of the derivatives of phi); ``mixing`` (terms x a b) combines the integrals into terms.
    """

    functions: tuple[Term, ...]
    slopes: tuple[Term, ...]
    columns: tuple[tuple[int, tuple[int, ...]], ...]
    mixing: Array

    @classmethod
    def of(cls, terms: Sequence[Sequence[Part]], fields: Sequence[str]) -> IntegralPlan:
        """Return the plan for terms, each given by its parts."""
        entries = [(row, part, *_split(part.integrand, fields)) for row, parts in enumerate(terms) for part in parts]
        functions = tuple(dict.fromkeys(function for _, _, function, _ in entries))
        slopes = tuple(dict.fromkeys(slope for _, _, _, slope in entries))
        keys = [(slopes.index(slope), part.orders) for _, part, _, slope in entries]
        columns = tuple(dict.fromkeys(keys))
        mixing = np.zeros((len(terms), len(functions), len(columns)))
        for (row, part, function, _), key in zip(entries, keys, strict=True):
            mixing[row, functions.index(function), columns.index(key)] += part.factor
        return cls(functions, slopes, columns, mixing.reshape(len(terms), -1))

    def orders(self, i: int) -> set[int]:
        """Return the derivatives of phi along space dimension i."""
        return {0, *(orders[i] for _, orders in self.columns)}

    @property
    def derivatives(self) -> tuple[Variable, ...]:
        """Return the derivatives of data that are left in the integrands."""
        return tuple(dict.fromkeys(v for term in (*self.functions, *self.slopes) for v in term.variables() if v.axes))


def _split(term: Term, fields: Sequence[str]) -> tuple[Term, Term]:
    """Return the term as a product of a function and spatial derivatives of fields."""
    slope: dict[Atom, int] = {
        v: n for v, n in term.powers.items() if isinstance(v, Variable) and v.axes and v.name in fields
    }
    return Term.of({a: n for a, n in term.powers.items() if a not in slope}), Term.of(slope)

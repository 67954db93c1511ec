"""Integration by parts of library terms: which derivatives go onto the test function."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import comb, prod

from exactsindy.library import Expression, Term, Variable, differentiate, total_derivative


@dataclass(frozen=True)
class Part:
    """``factor`` times the integral of ``integrand`` against the derivative ``orders`` of the test function.

    ``orders`` has one entry per space dimension, and so has ``differences``, if the samples of the integrand's
    function (all of it but derivatives of fields) are differentiated.
    """

    factor: float
    orders: tuple[int, ...]
    integrand: Term
    differences: tuple[int, ...] = ()


@dataclass(frozen=True)
class ByParts:
    """Rewrites terms for a weak form.

    Parameters
    ----------
    axes
        Names of the space dimensions.
    fields
        Names of the fields, which depend on them.
    """

    axes: tuple[str, ...]
    fields: tuple[str, ...]

    def full(self, term: Term) -> tuple[Part, ...]:
        """Return the term with every derivative moved that can be, others lowered as far as possible.

        u u_x = (u^2)_x / 2 moves entirely; u v_xx becomes -phi_x u v_x - phi u_x v_x, with one derivative
        instead of two on noisy data.
        """
        return _collect(self._full(1.0, (0,) * len(self.axes), term))

    def _full(self, factor: float, orders: tuple[int, ...], term: Term) -> Iterator[Part]:
        known = total_derivative(term)
        if known is not None:
            moved = tuple(q + known.axes.count(axis) for q, axis in zip(orders, self.axes, strict=True))
            yield Part(factor * known.factor * (-1.0) ** len(known.axes), moved, known.flux)
            return
        top = max(term.derivatives, key=lambda v: len(v.axes))
        rest = Term.of({**term.powers, top: term.powers[top] - 1})
        if not self._worth(top, rest):
            yield Part(factor, orders, term)
            return
        axis = top.axes[-1]
        lower = Term.variable(top.name, top.axes[:-1])
        onto = tuple(q + (name == axis) for q, name in zip(orders, self.axes, strict=True))
        yield from self._full(-factor, onto, rest * lower)
        for coefficient, part in self._along(rest, axis).parts:
            yield from self._full(-factor * coefficient, orders, part * lower)

    def _worth(self, top: Variable, rest: Term) -> bool:
        """Say whether moving one derivative of ``top`` lowers the highest derivative of the data."""
        others = [len(v.axes) for v in rest.variables() if v.name in self.fields]
        return not others or len(top.axes) - max(others) >= 2

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

    def half(self, term: Term) -> tuple[Part, ...]:
        """Return PySINDy's choice: pure derivatives move, of others half the order along each axis.

        Derivatives of the coefficient function are differences of its samples.
        """
        if len(term.derivatives) != 1:
            return (Part(1.0, (0,) * len(self.axes), term),)
        top = term.derivatives[0]
        orders = tuple(top.axes.count(axis) for axis in self.axes)
        if not term.coefficient.factors:
            return (Part((-1.0) ** sum(orders), orders, Term.variable(top.name)),)
        moved = tuple(q // 2 for q in orders)
        kept = Term.variable(top.name, self._word([a - b for a, b in zip(orders, moved, strict=True)]))
        parts = []
        for onto in product(*(range(q + 1) for q in moved)):
            left = tuple(a - b for a, b in zip(moved, onto, strict=True))
            binomial = prod(comb(a, b) for a, b in zip(moved, onto, strict=True))
            factor = (-1.0) ** sum(moved) * binomial
            parts.append(Part(factor, onto, term.coefficient * kept, left if any(left) else ()))
        return tuple(parts)

    def _word(self, orders: list[int]) -> tuple[str, ...]:
        return tuple(axis for axis, n in zip(self.axes, orders, strict=True) for _ in range(n))


def _collect(parts: Iterator[Part]) -> tuple[Part, ...]:
    total: dict[tuple[tuple[int, ...], Term], float] = {}
    for part in parts:
        key = (part.orders, part.integrand)
        total[key] = total.get(key, 0.0) + part.factor
    return tuple(Part(factor, *key) for key, factor in total.items() if factor)

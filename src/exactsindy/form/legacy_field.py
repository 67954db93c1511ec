"""Weak rows of fields as in the published experiments: everything interpolated to points of the window."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy.differentiation import fornberg_weights
from exactsindy.errors import ProblemError
from exactsindy.form.patch import box_of
from exactsindy.form.weak_field import FieldRows, is_product
from exactsindy.library import Features, Term, Variable

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LegacyFieldRows:
    """Pure terms as weights on samples; products of a function and a derivative at interpolated points.

    There, half of the derivative acts on phi times the function and the rest on the field, both by second
    order differences on the points, which wrap round at the ends of the window.

    Parameters
    ----------
    pure
        The rows with zeros in place of the product terms.
    power
        The power of the test function.
    """

    pure: FieldRows
    power: int

    def __len__(self) -> int:
        return len(self.pure)

    @cached_property
    def products(self) -> tuple[tuple[int, Term, Variable], ...]:
        """Return the product terms: their column, function and derivative."""
        found = []
        for j, term in enumerate(self.pure.group.features.terms):
            if not is_product(term):
                continue
            if len(term.derivatives) > 1:
                raise ProblemError(
                    f"WeakForm(quadrature='legacy') has no rule for {term.name!r}; it knows products of a "
                    "function and one derivative. Use quadrature='exact'."
                )
            found.append((j, term.coefficient, term.derivatives[0]))
        return tuple(found)

    def rows(self, low: int, high: int) -> Iterator[tuple[Array, Array]]:
        """Yield (theta, targets) of the windows ``low`` to ``high``."""
        products = self.products
        first = low
        for theta, targets in self.pure.rows(low, high):
            columns = np.array(theta)
            if products:
                for i in range(len(columns)):
                    columns[i, [j for j, _, _ in products]] = self._products(first + i)
            first += len(columns)
            yield columns, targets

    @cached_property
    def _functions(self) -> Features:
        functions = tuple(dict.fromkeys(function for _, function, _ in self.products))
        return Features(self.pure.group.features.variables, functions)

    def _products(self, k: int) -> list[float]:
        starts = [int(axis.starts[k]) for axis in self.pure.windows]
        lengths = [int(axis.lengths[k]) for axis in self.pure.windows]
        tables = [self._interpolation(i, k, starts[i], lengths[i]) for i in range(len(starts))]
        ends = [a + n for a, n in zip(starts, lengths, strict=True)]
        inputs = [self.pure.patches.get(v, starts, lengths) for v in self._functions.inputs]
        sampled = self._functions.rows(inputs).reshape(-1, *lengths)
        functions = {
            term: _onto(values, tables) * self._bump
            for term, values in zip(self._functions.terms, sampled, strict=True)
        }
        names = dict.fromkeys(v.name for _, _, v in self.products)
        fields = {name: _onto(box_of(self.pure.data[name], starts, ends), tables) for name in names}
        memory: dict[tuple[object, tuple[int, ...]], Array] = {}

        def slope(key: object, values: Array, orders: tuple[int, ...]) -> Array:
            if (key, orders) not in memory:
                memory[key, orders] = self._slope(values, orders)
            return memory[key, orders]

        results = []
        for _, function, variable in self.products:
            orders = [variable.axes.count(axis) for axis in self.pure.data.axes]
            moved = tuple(q // 2 for q in orders)
            kept = tuple(q - m for q, m in zip(orders, moved, strict=True))
            left = (-1.0) ** sum(moved) * slope(function, functions[function], moved)
            product = left * slope(variable.name, fields[variable.name], kept)
            results.append(float((product * self._rule).sum()))
        return results

    def _interpolation(self, i: int, k: int, start: int, length: int) -> Array:
        points = self.pure.windows[i].points
        assert points is not None
        position = points[k] - start
        cell = np.minimum(position.astype(np.intp), length - 2)
        share = position - cell
        table = np.zeros((len(position), length))
        rows = np.arange(len(position))
        table[rows, cell] = 1 - share
        table[rows, cell + 1] = share
        return table

    @cached_property
    def _counts(self) -> tuple[int, ...]:
        return tuple(axis.points.shape[1] for axis in self.pure.windows if axis.points is not None)

    @cached_property
    def _spacings(self) -> tuple[float, ...]:
        """Return the distance of the points of a window along each dimension."""
        spacings = []
        for axis, x in zip(self.pure.windows, self.pure.data.coords, strict=True):
            assert axis.points is not None
            ends = np.interp(axis.points[0][[0, -1]], np.arange(len(x)), x)
            spacings.append(float(ends[1] - ends[0]) / (axis.points.shape[1] - 1))
        return tuple(spacings)

    @cached_property
    def _bump(self) -> Array:
        return _outer([(np.linspace(-1.0, 1.0, n) ** 2 - 1) ** self.power for n in self._counts])

    @cached_property
    def _rule(self) -> Array:
        rules = []
        for count, spacing in zip(self._counts, self._spacings, strict=True):
            rule = np.full(count, spacing)
            rule[[0, -1]] /= 2
            rules.append(rule)
        return _outer(rules)

    def _slope(self, values: Array, orders: tuple[int, ...]) -> Array:
        for axis, order in enumerate(orders):
            if order:
                reach = (order + 1) // 2
                weights = fornberg_weights(np.arange(-reach, reach + 1.0), 0.0, order)
                scale = self._spacings[axis] ** order
                values = np.asarray(
                    sum(
                        weight / scale * np.roll(values, reach - m, axis=axis)
                        for m, weight in enumerate(weights)
                        if weight
                    )
                )
        return values


def _onto(values: Array, tables: Sequence[Array]) -> Array:
    """Interpolate a box to the points of the window, axis by axis."""
    for table in tables:
        values = np.tensordot(values, table, axes=(0, 1))
    return values


def _outer(factors: Sequence[Array]) -> Array:
    total = np.ones(())
    for factor in factors:
        total = total[..., None] * factor
    return total

"""Weak rows of fields by the rules of other programs: products of a function and a derivative, half moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product as combinations
from math import comb, prod

import numpy as np

from exactsindy._types import Array
from exactsindy.differentiation import fornberg_weights
from exactsindy.errors import ProblemError
from exactsindy.forms.weak import FieldRows, Part, box_of, product
from exactsindy.library import Features, Term, Variable

# What a function is multiplied with: a field, orders of derivatives that act on the function, and those on the field.
FieldPart = tuple[str, tuple[int, ...], tuple[int, ...]]


def is_product(term: Term) -> bool:
    """Return True if a term is more than a function or one derivative."""
    return len(term.derivatives) > 1 or bool(term.derivatives and term.coefficient.factors)


@dataclass(frozen=True)
class Difference:
    """``factor`` times int D^differences function x slope x D^orders phi, a summand of the term in column ``term``."""

    term: int
    factor: float
    orders: tuple[int, ...]
    differences: tuple[int, ...]
    function: Term
    slope: Variable


def half_moved(column: int, term: Term, axes: Sequence[str]) -> tuple[tuple[Part, ...], tuple[Difference, ...]]:
    """Return PySINDy's choice: pure derivatives move, of others half the order along each axis.

    The second item holds the summands in which the function is differentiated, by differences of its samples.
    """
    if len(term.derivatives) != 1:
        return (Part(1.0, (0,) * len(axes), term),), ()
    top = term.derivatives[0]
    orders = tuple(top.axes.count(axis) for axis in axes)
    if not term.coefficient.factors:
        return (Part((-1.0) ** sum(orders), orders, Term.variable(top.name)),), ()
    moved = tuple(q // 2 for q in orders)
    word = tuple(axis for axis, q, m in zip(axes, orders, moved, strict=True) for _ in range(q - m))
    sign = (-1.0) ** sum(moved)
    differences = []
    for onto in combinations(*(range(q + 1) for q in moved)):
        left = tuple(a - b for a, b in zip(moved, onto, strict=True))
        if any(left):
            factor = sign * prod(comb(a, b) for a, b in zip(moved, onto, strict=True))
            differences.append(Difference(column, factor, onto, left, term.coefficient, Variable(top.name, word)))
    return (Part(sign, moved, term.coefficient * Term.variable(top.name, word)),), tuple(differences)


@dataclass(frozen=True)
class PySindyFieldRows:
    """Rows whose functions are differentiated too; differences act, transposed, on the weighted slopes.

    Parameters
    ----------
    pure
        The rows without the summands in which a function is differentiated.
    differences
        Those summands.
    """

    pure: FieldRows
    differences: tuple[Difference, ...]

    def __len__(self) -> int:
        return len(self.pure)

    def rows(self, low: int, high: int) -> Iterator[tuple[Array, Array]]:
        """Yield (theta, targets) of the windows ``low`` to ``high``."""
        first = low
        for theta, targets in self.pure.rows(low, high):
            columns = np.array(theta)
            if self.differences:
                for i, row in enumerate(columns):
                    self._add(first + i, row)
            first += len(columns)
            yield columns, targets

    @cached_property
    def _functions(self) -> Features:
        functions = tuple(dict.fromkeys(difference.function for difference in self.differences))
        return Features(self.pure.group.features.variables, functions)

    @cached_property
    def _kinds(self) -> tuple[tuple[Variable, tuple[int, ...], tuple[int, ...]], ...]:
        return tuple(dict.fromkeys((d.slope, d.orders, d.differences) for d in self.differences))

    def _add(self, k: int, row: Array) -> None:
        """Add the summands of window k to its row."""
        starts = [int(axis.starts[k]) for axis in self.pure.windows]
        weighted = [self._transposed(k, starts, *kind) for kind in self._kinds]
        low = [min(at[i] for at, _ in weighted) for i in range(len(starts))]
        high = [max(at[i] + values.shape[i] for at, values in weighted) for i in range(len(starts))]
        lengths = [b - a for a, b in zip(low, high, strict=True)]
        table = np.zeros((len(weighted), *lengths))
        for whole, (at, values) in zip(table, weighted, strict=True):
            whole[tuple(slice(a - b, a - b + n) for a, b, n in zip(at, low, values.shape, strict=True))] = values
        inputs = [self.pure.patches.get(v, low, lengths) for v in self._functions.inputs]
        integrals = product(self._functions.rows(inputs), table.reshape(len(table), -1).T)
        for d in self.differences:
            kind = self._kinds.index((d.slope, d.orders, d.differences))
            row[d.term] += d.factor * integrals[self._functions.terms.index(d.function), kind]

    def _transposed(
        self, k: int, starts: Sequence[int], slope: Variable, orders: Sequence[int], differences: Sequence[int]
    ) -> tuple[list[int], Array]:
        """Return the weights of a function's samples, and where they begin."""
        lengths = [int(axis.lengths[k]) for axis in self.pure.windows]
        values = np.array(self.pure.patches.get(slope, starts, lengths))
        for i, (axis, order) in enumerate(zip(self.pure.windows, (*orders, 0), strict=True)):
            values *= axis.weights(k)[order].reshape([-1 if j == i else 1 for j in range(len(starts))])
        at = list(starts)
        for i, order in enumerate(differences):
            if order:
                at[i], values = self.pure.patches.transposed(values, i, order, at[i])
        return at, values


@dataclass(frozen=True)
class PublishedFieldRows:
    """Pure terms as weights on samples; products of a function and a derivative at interpolated points.

    There, half of the derivative acts on phi times the function and the other half on the field, both by second
    order differences on the points, which wrap round at the ends of the window.

    Parameters
    ----------
    pure
        The rows with zeros in place of the product terms.
    power
        The power of the test function.
    positions
        Per dimension the points of the windows, in samples (windows x points).
    """

    pure: FieldRows
    power: int
    positions: tuple[Array, ...]

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
                    f"PublishedWeakForm has no rule for {term.name!r}; it knows products of a function and one "
                    "derivative. Use WeakForm."
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
                    columns[i, [j for j, _, _ in self._places]] = self._products(first + i)
            first += len(columns)
            yield columns, targets

    @cached_property
    def _functions(self) -> Features:
        functions = tuple(dict.fromkeys(function for _, function, _ in self.products))
        return Features(self.pure.group.features.variables, functions)

    def _products(self, k: int) -> Array:
        """Return the product terms of a window.

        All of it is linear in the functions at the samples: what acts on them is brought over to the fields, which are
        fewer, so that one product of functions and weights remains.
        """
        starts = [int(axis.starts[k]) for axis in self.pure.windows]
        lengths = [int(axis.lengths[k]) for axis in self.pure.windows]
        tables = [self._interpolation(i, k, starts[i], lengths[i]) for i in range(len(starts))]
        ends = [a + n for a, n in zip(starts, lengths, strict=True)]
        boxes = {
            name: box_of(self.pure.data[name], starts, ends)
            for name in dict.fromkeys(name for name, _, _ in self._parts)
        }
        weights = []
        for name, moved, kept in self._parts:
            slopes = [
                self._difference(i, order) @ table for i, (order, table) in enumerate(zip(kept, tables, strict=True))
            ]
            at_points = _along(boxes[name], slopes) * self._rule
            if any(moved):
                back = [(-1.0) ** order * self._difference(i, order).T for i, order in enumerate(moved)]
                at_points = _along(at_points, back)
            weights.append(_along(at_points * self._bump, [table.T for table in tables]))
        inputs = [self.pure.patches.get(v, starts, lengths) for v in self._functions.inputs]
        table = np.stack(weights).reshape(len(weights), -1)
        found = product(self._functions.rows(inputs), table.T)
        return found[self._functions_at, self._parts_at]

    @cached_property
    def _places(self) -> tuple[tuple[int, int, FieldPart], ...]:
        """Return for each product its column, and which function and part it is made of."""
        found = []
        for j, function, variable in self.products:
            orders = (*(variable.axes.count(axis) for axis in self.pure.data.axes), 0)
            moved = tuple(q // 2 for q in orders)
            kept = tuple(q - m for q, m in zip(orders, moved, strict=True))
            found.append((j, self._functions.terms.index(function), (variable.name, moved, kept)))
        return tuple(found)

    @cached_property
    def _parts(self) -> tuple[FieldPart, ...]:
        return tuple(dict.fromkeys(part for _, _, part in self._places))

    @cached_property
    def _functions_at(self) -> list[int]:
        return [function for _, function, _ in self._places]

    @cached_property
    def _parts_at(self) -> list[int]:
        return [self._parts.index(part) for _, _, part in self._places]

    def _interpolation(self, i: int, k: int, start: int, length: int) -> Array:
        position = self.positions[i][k] - start
        cell = np.minimum(position.astype(np.intp), length - 2)
        share = position - cell
        table = np.zeros((len(position), length))
        rows = np.arange(len(position))
        table[rows, cell] = 1 - share
        table[rows, cell + 1] = share
        return table

    @cached_property
    def _counts(self) -> tuple[int, ...]:
        return tuple(points.shape[1] for points in self.positions)

    @cached_property
    def _spacings(self) -> tuple[float, ...]:
        """Return the distance of the points of a window along each dimension."""
        spacings = []
        for points, x in zip(self.positions, self.pure.data.coords, strict=True):
            ends = np.interp(points[0][[0, -1]], np.arange(len(x)), x)
            spacings.append(float(ends[1] - ends[0]) / (points.shape[1] - 1))
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

    def _difference(self, axis: int, order: int) -> Array:
        """Return the matrix of a derivative along an axis of the points, which wraps round."""
        key = axis, order
        if key not in self._differences:
            count, reach = self._counts[axis], (order + 1) // 2
            weights = fornberg_weights(np.arange(-reach, reach + 1.0), 0.0, order) / self._spacings[axis] ** order
            self._differences[key] = np.asarray(
                sum(w * np.roll(np.eye(count), reach - m, axis=0) for m, w in enumerate(weights))
            )
        return self._differences[key]

    @cached_property
    def _differences(self) -> dict[tuple[int, int], Array]:
        return {}


def _along(values: Array, matrices: Sequence[Array]) -> Array:
    """Apply one matrix along each axis."""
    for matrix in matrices:
        values = np.tensordot(values, matrix, axes=(0, 1))
    return values


def _outer(factors: Sequence[Array]) -> Array:
    total = np.ones(())
    for factor in factors:
        total = total[..., None] * factor
    return total

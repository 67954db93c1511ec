"""How noise reaches the weak rows of fields: the covariance of windows that overlap in space and time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.forms.base import Coefficients
from exactsindy.forms.weak.by_parts import ByParts
from exactsindy.forms.weak.window_rows import FieldRows
from exactsindy.library import Features, Term, Variable

Index = NDArray[np.intp]

# Weights held at once, whatever the length of the data: 8 megabytes, and as many indices.
_NUMBERS = 1 << 20


@dataclass(frozen=True)
class FieldNoise:
    """The errors of the rows of equation j of a field under a trial model, noise white with levels ``noise``.

    The model's terms are integrated by parts as the rows are, so to first order the error of a row is the noise
    times derivatives of the test function times slopes of what is left under the integral. Where derivatives of
    the data are left, the transposed difference takes them to the samples.
    """

    rows: FieldRows
    j: int
    model: Coefficients
    noise: Array

    def covariance(self) -> Array:
        """Return the covariance (windows x windows), summed over slabs in time."""
        from scipy.sparse import coo_array  # loaded when needed: importing it is slow

        data, time = self.rows.data, self.rows.windows[-1]
        starts, stops = time.starts, time.starts + time.lengths
        space = int(np.prod(data.shape[:-1]))
        total = np.zeros((len(self.rows), len(self.rows)))
        thick = self._thickness()
        for low in range(0, len(data.times), thick):
            high = min(low + thick, len(data.times))
            meet = np.flatnonzero((starts < high) & (stops > low))
            entries = [
                (np.full(index.size, i), index, value)
                for i, k in enumerate(meet)
                for index, value in self._weights(int(k), low, high)
            ]
            if not entries:
                continue
            row, column, value = (np.concatenate(parts) for parts in zip(*entries, strict=True))
            cells = len(self.noise) * space * (high - low)
            weights = coo_array((value, (row, column)), shape=(len(meet), cells)).tocsr()
            total[np.ix_(meet, meet)] += (weights @ weights.T).toarray()
        return total

    def _thickness(self) -> int:
        time = self.rows.windows[-1]
        at_once = len(self.rows) * float(time.lengths.max()) / max(len(self.rows.data.times), 1)
        box = float(np.prod([float(axis.lengths.max()) for axis in self.rows.windows[:-1]]))
        return max(int(_NUMBERS / (max(at_once, 1.0) * box * (1 + len(self._noisy)))), 1)

    @cached_property
    def _integrated(self) -> tuple[Features, tuple[tuple[int, ...], ...], Array]:
        """Return the model's integrands, the derivatives of phi, and coefficients (derivatives x integrands)."""
        group, data = self.rows.group, self.rows.data
        by_parts = ByParts(data.axes, data.names)
        table: dict[tuple[tuple[int, ...], Term], float] = {}
        for weight, term in zip(self.model.of(group)[self.j], group.features.terms, strict=True):
            for part in by_parts.full(term) if weight else ():
                key = (part.orders, part.integrand)
                table[key] = table.get(key, 0.0) + float(weight) * part.factor
        orders = tuple(dict.fromkeys(order for order, _ in table))
        terms = tuple(dict.fromkeys(term for _, term in table))
        coef = np.zeros((len(orders), len(terms)))
        for (order, term), weight in table.items():
            coef[orders.index(order), terms.index(term)] = weight
        return Features(group.features.variables, terms), orders, coef

    @cached_property
    def _noisy(self) -> tuple[Variable, ...]:
        features, fields = self._integrated[0], self.rows.data.names
        used = (v for term in features.terms for v in term.variables() if v.name in fields)
        return tuple(dict.fromkeys(used))

    def _weights(self, k: int, low: int, high: int) -> Iterator[tuple[Index, Array]]:
        """Yield cells (numbered within times ``low`` to ``high``, field by field) and what their noise counts."""
        windows, data = self.rows.windows, self.rows.data
        starts = [int(axis.starts[k]) for axis in windows]
        lengths = [int(axis.lengths[k]) for axis in windows]
        first, last = max(starts[-1], low), min(starts[-1] + lengths[-1], high)
        inside = slice(first - starts[-1], last - starts[-1])
        starts[-1], lengths[-1] = first, last - first
        times = (low, high)
        target = self.rows.group.targets[self.j]
        own = (-1.0) ** target.order * self._test(k, (0,) * len(data.axes), target.order, inside)
        yield self._spread(Variable(target.state), own, starts, times)
        features, orders, coef = self._integrated
        if not self._noisy:
            return
        inputs = [self.rows.patches.get(v, starts, lengths).reshape(-1) for v in features.inputs]
        slopes = features.jacobian(np.stack(inputs, axis=1), coef, wrt=self._noisy)
        tests = np.stack([self._test(k, order, 0, inside).reshape(-1) for order in orders], axis=1)
        for i, variable in enumerate(self._noisy):
            weights = -(tests * slopes[:, :, i]).sum(axis=1).reshape(lengths)
            yield self._spread(variable, weights, starts, times)

    def _test(self, k: int, orders: tuple[int, ...], time: int, inside: slice) -> Array:
        """Return the weights of a derivative of the test function at the times of a window ``inside``."""
        total = np.ones(())
        for axis, order in zip(self.rows.windows[:-1], orders, strict=True):
            total = np.multiply.outer(total, axis.weights(k)[order])
        return np.multiply.outer(total, self.rows.windows[-1].weights(k)[time][inside])

    def _spread(
        self, variable: Variable, weights: Array, starts: list[int], times: tuple[int, int]
    ) -> tuple[Index, Array]:
        """Return cells and weights of the field itself from those of a derivative of it."""
        data = self.rows.data
        at = list(starts)
        for i, axis in enumerate(data.axes):
            order = variable.axes.count(axis)
            if order:
                at[i], weights = self.rows.patches.transposed(weights, i, order, starts[i])
        f = data.names.index(variable.name)
        index = np.full((1,) * weights.ndim, f, dtype=np.intp)
        for i, (low, count) in enumerate(zip(at, weights.shape, strict=True)):
            size = data.shape[i] if i < len(data.axes) else times[1] - times[0]
            here = np.arange(low, low + count) % size if i < len(data.axes) else np.arange(count) + low - times[0]
            index = index * size + here.reshape([-1 if axis == i else 1 for axis in range(weights.ndim)])
        return index.reshape(-1), self.noise[f] * weights.reshape(-1)

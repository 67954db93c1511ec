"""Boxes of samples cut from fields, with derivatives that see beyond the box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Field
from exactsindy.differentiation import FiniteDifference, fornberg_weights, uniform_step
from exactsindy.library import Variable


@dataclass(frozen=True)
class Patches:
    """Cuts boxes from a field; spatial derivatives are differences of the order of accuracy ``accuracy``.

    They are central, round the period where there is one, and one-sided at the edges of the field.
    """

    data: Field
    accuracy: int

    def get(self, variable: Variable, starts: Sequence[int], lengths: Sequence[int]) -> Array:
        """Return the samples of a variable in the box (space dimensions, then time)."""
        if variable.name in self.data.names:
            return self._derivative(variable, starts, lengths)
        i = self.data.dims.index(variable.name)
        x = self.data.coords[i]
        points = x[np.arange(starts[i], starts[i] + lengths[i]) % len(x)]
        return np.broadcast_to(points.reshape([-1 if k == i else 1 for k in range(len(starts))]), lengths)

    @cached_property
    def _steps(self) -> tuple[float | None, ...]:
        return tuple(uniform_step(x) for x in self.data.coords)

    def _derivative(self, variable: Variable, starts: Sequence[int], lengths: Sequence[int]) -> Array:
        low, high = list(starts), [a + n for a, n in zip(starts, lengths, strict=True)]
        orders = [variable.axes.count(axis) for axis in self.data.dims]
        central = [True] * len(orders)
        for i, order in enumerate(orders):
            if order:
                low[i], high[i], central[i] = self._halo(i, order, low[i], high[i])
        box = box_of(self.data[variable.name], low, high)
        for i, order in enumerate(orders):
            if order and central[i]:
                box = _central(box, i, order, self.accuracy, self._step(i))
            elif order:
                slopes = FiniteDifference(self.accuracy, order)(box, self._where(i, low[i], high[i]), axis=i)
                box = slopes[(slice(None),) * i + (slice(starts[i] - low[i], starts[i] - low[i] + lengths[i]),)]
        return box

    def transposed(self, values: Array, i: int, order: int, start: int) -> tuple[int, Array]:
        """Return D'values for the derivative D along dimension i onto samples from ``start`` on, and where it begins.

        So that  sum_k values_k (D f)_k = sum_k (D'values)_k f_k.
        """
        length = values.shape[i]
        low, high, central = self._halo(i, order, start, start + length)
        if central:
            # The stencil of an odd derivative is antisymmetric, that of an even one symmetric.
            margin = 2 * (start - low)
            padded = np.zeros([n + 2 * margin * (k == i) for k, n in enumerate(values.shape)])
            padded[(slice(None),) * i + (slice(margin, margin + length),)] = values
            return low, (-1.0) ** order * _central(padded, i, order, self.accuracy, self._step(i))
        whole = FiniteDifference(self.accuracy, order)(np.eye(high - low), self._where(i, low, high), axis=0)
        matrix = whole[start - low : start - low + length]
        return low, np.moveaxis(np.tensordot(values, matrix, axes=(i, 0)), -1, i)

    def _halo(self, i: int, order: int, low: int, high: int) -> tuple[int, int, bool]:
        n, reach = self.data.shape[i], FiniteDifference(self.accuracy, order).half_width
        if self.data.periods[i] is not None or (self._steps[i] is not None and low >= reach and high + reach <= n):
            return low - reach, high + reach, True
        reach = self.accuracy + order + 1
        return max(low - reach, 0), min(high + reach, n), False

    def _where(self, i: int, low: int, high: int) -> Array | float:
        step = self._steps[i]
        return self.data.coords[i][low:high] if step is None else step

    def _step(self, i: int) -> float:
        x = self.data.coords[i]
        return float(x[-1] - x[0]) / (len(x) - 1)


def box_of(values: Array, low: Sequence[int], high: Sequence[int]) -> Array:
    """Return a box of an array, round its ends where the bounds lie beyond them; a view where possible."""
    sizes = values.shape
    inside = [a >= 0 and b <= n for a, b, n in zip(low, high, sizes, strict=True)]
    box = values[tuple(slice(a, b) if c else slice(None) for a, b, c in zip(low, high, inside, strict=True))]
    for i, n in enumerate(sizes):
        if not inside[i]:
            cuts = [low[i], *range(n * (low[i] // n + 1), high[i], n), high[i]]
            before = (slice(None),) * i
            box = np.concatenate([box[(*before, slice(a % n, a % n + b - a))] for a, b in pairwise(cuts)], i)
    return box


@lru_cache(maxsize=256)
def _stencil(order: int, accuracy: int) -> tuple[float, ...]:
    """Return the weights of a central difference from its centre outwards."""
    reach = FiniteDifference(accuracy, order).half_width
    weights = fornberg_weights(np.arange(-reach, reach + 1.0), 0.0, order)
    return tuple(float(w) for w in weights[reach:])


def _central(box: Array, axis: int, order: int, accuracy: int, step: float) -> Array:
    """Return a central difference of a box, shorter by the reach of the stencil on both sides."""
    weights = _stencil(order, accuracy)
    reach = len(weights) - 1
    length = box.shape[axis] - 2 * reach

    def shifted(k: int) -> Array:
        return box[(slice(None),) * axis + (slice(reach + k, reach + k + length),)]

    # Odd derivatives are antisymmetric, even ones symmetric: pairs halve the products.
    join = np.subtract if order % 2 else np.add
    total = np.zeros(shifted(0).shape) if order % 2 else shifted(0) * (weights[0] / step**order)
    for k in range(1, reach + 1):
        pair = join(shifted(k), shifted(-k))
        pair *= weights[k] / step**order
        total = pair if order % 2 and k == 1 else np.add(total, pair, out=total)
    return total

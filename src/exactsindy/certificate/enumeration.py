"""Every support of an equation and its value, by elimination with numbers of 320 bits.

The normal equations, scaled by powers of two to diagonals between 1/4 and 1, are rounded to multiples of 2^-320. An
independent support has a determinant above 2^-160 (rule 2 of `judging`), so coefficients are below 2^82 and what
elimination adds to a value by rounding is below 2^-320 times their squares times the number of operations: below
2^-140 of |z|^2. Supports that are surely dependent are left out with everything that contains them, as more columns
only lower the product of distances.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.certificate.judging import BAND, DISTANCE, PRODUCT, Normal

Integers = NDArray[Any]  # of Python's integers
Places = NDArray[np.intp]
#: Called with a support, the columns that may be added to it (one or two per line), and the values of the larger
#: supports as shares, to be read with `Tree.value`.
Visit = Callable[[tuple[int, ...], Places, NDArray[np.float64]], None]

_BITS = 320
#: Values may be off by this share of |z|^2.
ROUNDING = 2.0**-140
_NEAR = [float(threshold * (1 - BAND)) for threshold in (DISTANCE, PRODUCT)]


class Tree:
    """All supports of one equation; `walk` visits them."""

    def __init__(self, normal: Normal) -> None:
        columns = [*normal.equation.usable, normal.target]
        halves = [(normal.product(j, j).bit_length() + 1) // 2 for j in columns]
        count = len(columns)
        scaled = np.zeros((count, count), dtype=object)
        for p in range(count):
            for q in range(p, count):
                shift = _BITS - halves[p] - halves[q]
                value = normal.product(columns[p], columns[q])
                scaled[p, q] = scaled[q, p] = value << shift if shift >= 0 else value >> -shift
        self._columns = np.array(columns[:-1], dtype=np.intp)
        self._matrix, self._load, self._square = scaled[:-1, :-1], scaled[:-1, -1], scaled[-1, -1]
        self._diagonal = self._matrix.diagonal().astype(np.float64)
        self._exponent = 2 * (halves[-1] + normal.exponents[normal.target])

    def value(self, share: float) -> float:
        """Return the value (without the constant) of what `Visit` calls a share; infinite beyond the doubles."""
        try:
            return math.ldexp(share, self._exponent)
        except OverflowError:
            return math.inf

    @property
    def empty(self) -> float:
        """The share of the empty support."""
        return math.ldexp(float(self._square), -_BITS)

    def walk(self, most: int, visit: Visit) -> None:
        """Visit all supports of 1 to ``most`` columns that are not surely dependent."""
        if most > 0 and len(self._columns):
            places = np.arange(len(self._columns), dtype=np.intp)
            self._node((), places, self._matrix, self._load, self._square, 1.0, most, visit)

    def _node(
        self,
        support: tuple[int, ...],
        places: Places,
        matrix: Integers,
        load: Integers,
        square: int,
        product: float,
        left: int,
        visit: Visit,
    ) -> None:
        """Visit what adds one column to a support, and (if ``left`` allows) all that follows from it."""
        pivots = matrix.diagonal()
        products, kept = self._rule(pivots, places, product)
        if not kept.any():
            return
        if not kept.all():
            chosen = np.flatnonzero(kept)
            places, load, matrix = places[chosen], load[chosen], matrix[np.ix_(chosen, chosen)]
            pivots, products = pivots[chosen], products[chosen]
        after = square - load * load // pivots
        columns = self._columns[places]
        visit(support, columns[:, None], _shares(after))
        if left == 1 or len(places) < 2:
            return
        if left == 2:
            self._pairs(support, places, matrix, load, pivots, after, products, visit)
            return
        for p in range(len(places) - 1):
            row = matrix[p, p + 1 :]
            ratio = (row << _BITS) // pivots[p]
            self._node(
                (*support, int(columns[p])),
                places[p + 1 :],
                matrix[p + 1 :, p + 1 :] - (np.multiply.outer(ratio, row) >> _BITS),
                load[p + 1 :] - (ratio * load[p] >> _BITS),
                after[p],
                float(products[p]),
                left - 1,
                visit,
            )

    def _pairs(
        self,
        support: tuple[int, ...],
        places: Places,
        matrix: Integers,
        load: Integers,
        pivots: Integers,
        after: Integers,
        products: NDArray[np.float64],
        visit: Visit,
    ) -> None:
        """Visit everything that adds two columns."""
        first, second = _triangle(len(places))
        entries = matrix[first, second]
        ratio = (entries << _BITS) // pivots[first]
        remaining = pivots[second] - (ratio * entries >> _BITS)
        _, kept = self._rule(remaining, places[second], products[first])
        if not kept.all():
            first, second, ratio, remaining = first[kept], second[kept], ratio[kept], remaining[kept]
        if len(first):
            rest = load[second] - (ratio * load[first] >> _BITS)
            values = after[first] - rest * rest // remaining
            visit(support, self._columns[np.column_stack([places[first], places[second]])], _shares(values))

    def _rule(
        self, pivots: Integers, places: Places, product: float | NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the squared products of relative distances, and which columns are not surely dependent."""
        shares = pivots.astype(np.float64) / self._diagonal[places]
        products = product * shares
        return products, (shares >= _NEAR[0]) & (products >= _NEAR[1])


@cache
def _triangle(count: int) -> tuple[Places, Places]:
    first, second = np.triu_indices(count, 1)
    return first, second


def _shares(values: Integers) -> NDArray[np.float64]:
    return np.maximum(values.astype(np.float64) * 2.0**-_BITS, 0.0)

"""Values of supports in exact arithmetic, for the few decisions that doubles cannot make.

Every double is an integer times a power of two. With one exponent per column, the Gram matrix of a support is
a matrix of integers, and Bareiss elimination (all divisions exact) yields its principal minors and the
least-squares value.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from operator import mul

import numpy as np

from exactsindy._types import Array

#: A column is dependent if its distance to the span of the earlier ones is at most 1e-13 of its norm, or if the product
#: of these relative distances, the volume of the unit columns, is at most 2^-80.
DEPENDENCE = 1e-13
LEAST_VOLUME = 2.0**-80
_INVERSE_SQUARE = 10**26


class ExactEquation:
    """One equation ``min |z - R_S xi|^2 + sum ridge_j xi_j^2`` over the rationals."""

    def __init__(self, theta_factor: Array, z: Array, ridge: Array) -> None:
        scaled = [_integers(column, weight) for column, weight in zip(theta_factor.T, ridge, strict=True)]
        self._columns = [column for column, _, _ in scaled]
        self._ridge = [weight for _, weight, _ in scaled]
        self._exponents = [exponent for _, _, exponent in scaled]
        self._target, _, self._target_exponent = _integers(z, 0.0)
        self._square = sum(map(mul, self._target, self._target))
        self._moments: dict[int, int] = {}
        self._gram: dict[tuple[int, int], int] = {}

    def admissible(self, support: Iterable[int]) -> bool:
        """Return True if no column of the support depends on the earlier ones (and none is zero)."""
        columns = tuple(support)
        return self.reduced(columns) == columns

    def reduced(self, support: Iterable[int]) -> tuple[int, ...]:
        """Return the support without its zero columns and those that depend on earlier ones."""
        kept: tuple[int, ...] = ()
        norms = 1  # product of the squared norms of the kept columns
        for column in sorted(support):
            if not any(self._columns[column]):
                continue
            rows, square = self._eliminate((*kept, column), border=False), self._product(column, column)
            before, minor = rows[-2][-2] if kept else 1, rows[-1][-1]
            if minor * _INVERSE_SQUARE > before * square and minor << 160 > norms * square:
                kept, norms = (*kept, column), norms * square
        return kept

    def within(self, support: tuple[int, ...], limit: float, constant: float) -> bool:
        """Return True if |coefficient| |column| <= limit |target| for all terms of an admissible support.

        ``constant`` is the squared norm of the target outside all columns.
        """
        unit = Fraction(2) ** self._target_exponent
        square = (Fraction(limit) ** 2) * (self._square + Fraction(constant) / unit**2)
        sizes = [self._product(j, j) - self._ridge[j] for j in support]
        return all(x * x * size <= square for x, size in zip(self._solution(support), sizes, strict=True))

    def value(self, support: tuple[int, ...]) -> Fraction:
        """Return the least objective on an admissible support, the constant ``rest_square`` not included."""
        rows = self._eliminate(support, border=True)
        minor = rows[-2][-2] if support else 1
        return Fraction(rows[-1][-1], minor) * Fraction(2) ** (2 * self._target_exponent)

    def coefficients(self, support: tuple[int, ...]) -> tuple[float, ...]:
        """Return the least-squares coefficients on an admissible support, each correctly rounded."""
        return tuple(
            as_float(value * Fraction(2) ** (self._target_exponent - self._exponents[column]))
            for value, column in zip(self._solution(support), support, strict=True)
        )

    def _solution(self, support: tuple[int, ...]) -> list[Fraction]:
        """Return the least-squares coefficients of the integer columns."""
        rows = self._eliminate(support, border=True)
        size = len(support)
        solution = [Fraction(0)] * size
        for i in reversed(range(size)):
            known = sum((rows[i][j] * solution[j] for j in range(i + 1, size)), Fraction(0))
            solution[i] = (rows[i][size] - known) / rows[i][i]
        return solution

    def _eliminate(self, support: tuple[int, ...], *, border: bool) -> list[list[int]]:
        """Eliminate the (bordered) Gram matrix; entry (i, i) becomes its (i+1)-th principal minor."""
        size = len(support)
        rows = [[0] * i + [self._product(support[i], j) for j in support[i:]] for i in range(size)]
        if border:
            for row, column in zip(rows, support, strict=True):
                row.append(self._moment(column))
            rows.append([0] * size + [self._square])
        order, previous = len(rows), 1
        for p in range(order - 1):
            top = rows[p]
            for i in range(p + 1, order):
                for j in range(i, order):
                    rows[i][j] = (rows[i][j] * top[p] - top[i] * top[j]) // previous
            previous = top[p]
        return rows

    def _product(self, i: int, j: int) -> int:
        key = (i, j) if i <= j else (j, i)
        if key not in self._gram:
            product = sum(map(mul, self._columns[i], self._columns[j]))
            self._gram[key] = product + (self._ridge[i] if i == j else 0)
        return self._gram[key]

    def _moment(self, j: int) -> int:
        if j not in self._moments:
            self._moments[j] = sum(map(mul, self._columns[j], self._target))
        return self._moments[j]


def _integers(column: Array, ridge: float) -> tuple[list[int], int, int]:
    """Return integers ``a``, ``p`` and an exponent ``e`` with column = a 2^e and ridge = p 2^(2e)."""
    fractions, powers = np.frexp(column)
    mantissas = [int(value) for value in np.ldexp(fractions, 53)]
    exponents = [int(power) - 53 for power in powers]
    numerator, denominator = float(ridge).as_integer_ratio()
    ridge_exponent = 1 - denominator.bit_length()
    used = [e for m, e in zip(mantissas, exponents, strict=True) if m] + ([ridge_exponent // 2] if ridge else [])
    exponent = min(used, default=0)
    integers = [m << (e - exponent) if m else 0 for m, e in zip(mantissas, exponents, strict=True)]
    return integers, numerator << (ridge_exponent - 2 * exponent) if ridge else 0, exponent


def as_float(value: Fraction) -> float:
    """Round to a double; infinite beyond its range."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")

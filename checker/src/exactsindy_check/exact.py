"""Values and admissibility of single supports in whole numbers: no rounding at all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from exactsindy_check.instance import Equation

_DISTANCE = Fraction(1, 10**13)  # rule 2: least relative distance from the span of the earlier columns
_PRODUCT = Fraction(1, 2**80)  # rule 2: least product of these distances
_EITHER = Fraction(1, 10**6)  # this close to a threshold both answers are accepted


class Verdict(Enum):
    """Whether a support is admissible; EITHER: within a relative 1e-6 of a threshold."""

    YES = "admissible"
    NO = "inadmissible"
    EITHER = "at a threshold"


@dataclass(frozen=True)
class Fit:
    """The exact value f of a support, with |rest|^2, and whether it is admissible."""

    value: Fraction
    verdict: Verdict


@dataclass(frozen=True)
class _Triangle:
    """An eliminated Gram matrix; f is square / volume, but for scale and rest. Pairs are quotients."""

    terms: list[int]
    square: int  # determinant of the bordered matrix
    volume: int  # determinant of the Gram matrix of the independent terms
    distances: list[tuple[int, int]]  # squared and relative, of each column from the span of the earlier ones
    product: tuple[int, int]  # of all distances, if none is zero
    rows: list[list[int]]  # of the independent terms; the last entry belongs to the target
    bounded: bool  # False: the border is not in the span of the columns (only with a border of one's own)


class ExactFits:
    """Exact least squares on the stored doubles of an equation.

    Columns and target become whole numbers by powers of two. Fraction-free elimination of the Gram matrix, bordered by
    the target, gives all leading minors: their quotients are the squared distances of rule 2, the last one is f.
    """

    def __init__(self, equation: Equation, limit: float) -> None:
        self._equation = equation
        self._limit = Fraction(limit) ** 2 * equation.target_square
        self._shift: dict[int, int] = {}
        self._column: dict[int, list[int]] = {}
        self._gram: dict[tuple[int, int], int] = {}
        self._squares: dict[int, int] = {}
        self._target, self._target_shift = _whole(equation.z.tolist(), 0.0)
        self._square = sum(x * x for x in self._target)
        self._scale = 1 << (2 * self._target_shift)

    def exceeds(self, support: Sequence[int], cut: Fraction | None) -> bool:
        """Return whether f of a support, admissible or not, is above the cut (None: infinite)."""
        if cut is None:
            return False
        triangle = self._eliminate(support)
        least = (cut - self._equation.rest_square) * self._scale
        return triangle.square * least.denominator > least.numerator * triangle.volume

    def fit(self, support: Sequence[int]) -> Fit:
        """Return f of a support and whether it is admissible."""
        triangle = self._eliminate(support)
        value = Fraction(triangle.square, triangle.volume * self._scale) + self._equation.rest_square
        return Fit(value, _all([self._independence(triangle), self._limits(triangle)]))

    def independence(self, support: Sequence[int]) -> Verdict:
        """Return whether the terms are independent by rule 2."""
        return self._independence(self._eliminate(support))

    def lowered(self, support: Sequence[int], linear: Mapping[int, Fraction]) -> Fraction | None:
        """Return the least value over all x on the support of the objective plus sum linear_j x_j; None: -infinity."""
        terms = sorted(support)
        slopes = [linear.get(j, Fraction(0)) * self._unit(j) * (1 << self._target_shift) / 2 for j in terms]
        unit = math.lcm(*(slope.denominator for slope in slopes))
        border = [self._products(j, -1) * unit - int(s * unit) for j, s in zip(terms, slopes, strict=True)]
        triangle = self._eliminate(terms, border, self._square * unit**2)
        if not triangle.bounded:
            return None
        return Fraction(triangle.square, triangle.volume * self._scale * unit**2) + self._equation.rest_square

    def product(self, i: int, j: int) -> Fraction:
        """Return the product of two columns (ridge included), or of a column and the target (j = -1)."""
        return Fraction(self._products(i, j)) / (self._unit(i) * (1 << self._target_shift if j < 0 else self._unit(j)))

    def within(self, j: int, x: Fraction) -> bool:
        """Return whether a coefficient is within the limit: |x| |a_j| <= C |y|."""
        return x**2 * self._column_square(j) <= self._limit * self._unit(j) ** 2

    def _unit(self, j: int) -> int:
        self._numbers(j)
        return 1 << self._shift[j]

    def _products(self, i: int, j: int) -> int:
        """Return the Gram entry of two columns (ridge included), or of a column and the target (j = -1)."""
        i, j = (i, j) if j < i else (j, i)
        if (i, j) not in self._gram:
            left = self._numbers(i)
            right = self._target if j < 0 else self._numbers(j)
            entry = sum(x * y for x, y in zip(left, right, strict=False))
            if i == j:
                entry += int(Fraction(self._equation.ridge[i]) * (1 << (2 * self._shift[i])))
            self._gram[i, j] = entry
        return self._gram[i, j]

    def _column_square(self, j: int) -> int:
        if j not in self._squares:
            self._squares[j] = sum(x * x for x in self._numbers(j))
        return self._squares[j]

    def _numbers(self, j: int) -> list[int]:
        if j not in self._column:
            entries = self._equation.a[: j + 1, j].tolist()
            self._column[j], self._shift[j] = _whole(entries, float(self._equation.ridge[j]))
        return self._column[j]

    def _eliminate(self, support: Sequence[int], border: list[int] | None = None, square: int = 0) -> _Triangle:
        """Eliminate the Gram matrix bordered by the target (or another border), without fractions (Bareiss).

        A column that depends exactly on the earlier ones has a row of zeros; it is passed over and changes nothing.
        """
        terms = sorted(support)
        size = len(terms)
        if border is None:
            border, square = [self._products(j, -1) for j in terms], self._square
        m = [[self._products(i, j) for j in terms] + [entry] for i, entry in zip(terms, border, strict=True)]
        m.append([*border, square])
        norms = [m[p][p] for p in range(size)]
        previous, distances, rows, bounded = 1, list[tuple[int, int]](), list[list[int]](), True
        for p in range(size):
            row, pivot = m[p], m[p][p]
            distances.append((pivot, previous * norms[p]))
            if pivot == 0:
                bounded = bounded and row[size] == 0
                continue
            for i in range(p + 1, size + 1):
                left = row[i]
                m[i] = [0] * i + [(m[i][j] * pivot - left * row[j]) // previous for j in range(i, size + 1)]
            rows.append(row)
            previous = pivot
        return _Triangle(terms, m[size][size], previous, distances, (previous, math.prod(norms)), rows, bounded)

    def _independence(self, triangle: _Triangle) -> Verdict:
        if len(triangle.rows) < len(triangle.terms):
            return Verdict.NO
        return _all(
            [_compare(*pair, _DISTANCE**2) for pair in triangle.distances] + [_compare(*triangle.product, _PRODUCT**2)]
        )

    def _limits(self, triangle: _Triangle) -> Verdict:
        """Return whether the coefficients are within the limit (rule 3); whole numbers: x_j times the volume."""
        terms, volume, size = triangle.terms, triangle.volume, len(triangle.terms)
        if len(triangle.rows) < size:
            return Verdict.NO
        x, verdicts = [0] * size, []
        limit = self._limit * self._scale
        for p in reversed(range(size)):
            row = triangle.rows[p]
            x[p] = (row[size] * volume - sum(row[j] * x[j] for j in range(p + 1, size))) // row[p]
            square = x[p] ** 2 * self._column_square(terms[p])
            if square:
                verdicts.append(_compare(limit.numerator * volume**2, limit.denominator * square, Fraction(1)))
        return _all(verdicts)


def _whole(numbers: list[float], ridge: float) -> tuple[list[int], int]:
    """Return numbers * 2**shift as whole numbers, and a shift for which ridge * 4**shift is one too."""
    parts = [x.as_integer_ratio() for x in numbers]
    shift = max([(den.bit_length() - 1) for _, den in parts] or [0])
    shift = max(shift, ridge.as_integer_ratio()[1].bit_length() // 2)
    return [num << (shift - den.bit_length() + 1) for num, den in parts], shift


def _compare(numerator: int, denominator: int, threshold: Fraction) -> Verdict:
    """Return YES if a quotient of squares is above the threshold; EITHER if the roots agree to a relative 1e-6."""
    low, high = threshold * (1 - _EITHER) ** 2, threshold * (1 + _EITHER) ** 2
    if numerator * low.denominator < low.numerator * denominator:
        return Verdict.NO
    return Verdict.YES if numerator * high.denominator > high.numerator * denominator else Verdict.EITHER


def _all(verdicts: list[Verdict]) -> Verdict:
    if Verdict.NO in verdicts:
        return Verdict.NO
    return Verdict.EITHER if Verdict.EITHER in verdicts else Verdict.YES

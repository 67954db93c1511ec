"""Values and admissibility of single supports in whole numbers: no rounding at all."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
        self._target, self._target_shift = _whole(equation.z.tolist(), 0.0)
        self._square = sum(x * x for x in self._target)
        self._scale = 1 << (2 * self._target_shift)

    def value(self, support: Sequence[int]) -> Fraction:
        """Return f of a support, exactly, admissible or not."""
        return self._eliminate(support)[0]

    def fit(self, support: Sequence[int]) -> Fit:
        """Return f of a support and whether it is admissible."""
        value, pivots, rows = self._eliminate(support)
        return Fit(value, _both(self._independence(support, pivots), self._limits(support, rows)))

    def independence(self, support: Sequence[int]) -> Verdict:
        """Return whether the terms are independent by rule 2."""
        return self._independence(support, self._eliminate(support)[1])

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

    def _numbers(self, j: int) -> list[int]:
        if j not in self._column:
            entries = self._equation.a[: j + 1, j].tolist()
            self._column[j], self._shift[j] = _whole(entries, float(self._equation.ridge[j]))
        return self._column[j]

    def _eliminate(self, support: Sequence[int]) -> tuple[Fraction, list[Fraction], list[tuple[int, list[int]]]]:
        """Return f, the squared relative distances of the columns, and the rows of the triangle.

        A column that depends exactly on the earlier ones has a row of zeros; it is passed over and changes nothing.
        """
        terms = sorted(support)
        size = len(terms)
        m = [[self._products(i, j) for j in terms] + [self._products(i, -1)] for i in terms]
        m.append([self._products(j, -1) for j in terms] + [self._square])
        previous, distances, rows = 1, [], []
        for p in range(size):
            pivot = m[p][p]
            distances.append(Fraction(pivot, previous * self._products(terms[p], terms[p])))
            if pivot == 0:
                continue
            for i in range(p + 1, size + 1):
                left = m[i][p]
                m[i] = [0] * (p + 1) + [(m[i][j] * pivot - left * m[p][j]) // previous for j in range(p + 1, size + 1)]
            rows.append((p, m[p]))
            previous = pivot
        value = Fraction(m[size][size], previous * self._scale) + self._equation.rest_square
        return value, distances, rows

    def _independence(self, support: Sequence[int], distances: list[Fraction]) -> Verdict:
        product = math.prod(distances, start=Fraction(1))
        verdict = _compare(product, _PRODUCT**2)
        for distance in distances:
            verdict = _both(verdict, _compare(distance, _DISTANCE**2))
        return verdict

    def _limits(self, support: Sequence[int], rows: list[tuple[int, list[int]]]) -> Verdict:
        """Return whether the coefficients are within the limit (rule 3)."""
        terms = sorted(support)
        if len(rows) < len(terms):
            return Verdict.NO
        x: list[Fraction] = [Fraction(0)] * len(terms)
        verdict = Verdict.YES
        for p, row in reversed(rows):
            x[p] = (row[-1] - sum((row[j] * x[j] for j in range(p + 1, len(terms))), Fraction(0))) / row[p]
            square = sum(c * c for c in self._numbers(terms[p]))
            size = x[p] ** 2 * square / self._scale  # |x_j|^2 |a_j|^2 in the caller's units
            if size > 0:
                verdict = _both(verdict, _compare(self._limit / size, Fraction(1)))
        return verdict


def _whole(numbers: list[float], ridge: float) -> tuple[list[int], int]:
    """Return numbers * 2**shift as whole numbers, and a shift for which ridge * 4**shift is one too."""
    parts = [x.as_integer_ratio() for x in numbers]
    shift = max([(den.bit_length() - 1) for _, den in parts] or [0])
    shift = max(shift, ridge.as_integer_ratio()[1].bit_length() // 2)
    return [num << (shift - den.bit_length() + 1) for num, den in parts], shift


def _compare(have: Fraction, threshold: Fraction) -> Verdict:
    """Return YES if `have` (a square) is above the threshold; EITHER if their roots agree to a relative 1e-6."""
    if threshold * (1 - _EITHER) ** 2 <= have <= threshold * (1 + _EITHER) ** 2:
        return Verdict.EITHER
    return Verdict.YES if have > threshold else Verdict.NO


def _both(one: Verdict, other: Verdict) -> Verdict:
    if Verdict.NO in (one, other):
        return Verdict.NO
    return Verdict.EITHER if Verdict.EITHER in (one, other) else Verdict.YES

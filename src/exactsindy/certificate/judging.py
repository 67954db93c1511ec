"""Whether a support counts, its value and its coefficients: integers from the stored doubles, no rounding anywhere.

A support is admissible if

1. none of its columns is zero;
2. it is independent: in index order, the distance of each column (with its ridge) from the span of the earlier ones,
   relative to its norm, is above 1e-13, and the product of all these is above 2^-80;
3. its least-squares coefficients satisfy |x_j| |a_j| <= C |y|, with the norm of the stored column (no ridge) and of the
   whole target.

Within a relative 1e-6 of a threshold either answer is accepted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from exactsindy.certificate.exact import BLUR, CheckedEquation, as_float
from exactsindy.problem import COEFFICIENT_LIMIT

#: Squares of the thresholds of rule 2.
DISTANCE, PRODUCT = Fraction(1, 10**26), Fraction(1, 2**160)
#: Within this share of a threshold for squares either answer is accepted (1e-6 of the threshold itself).
BAND = Fraction(2, 10**6)

#: Relative error allowed to a coefficient, beside the rounding of residuals.
COEFFICIENT = Fraction(1, 10**12)

DEPENDENT = "are dependent: fewer terms do the same."
NEARLY = "are too close to dependent: the product of their distances is below 2^-80."
LARGE = "have coefficients above the coefficient limit."


@dataclass(frozen=True)
class Judged:
    """A support in exact arithmetic; ``admissible`` is None where both answers are accepted.

    ``value`` is its least objective, ``coef`` the coefficients there, one per column of the support; they are None and
    empty if the columns are exactly dependent or one of them is zero. ``fault`` says which rule is broken.
    """

    admissible: bool | None
    value: Fraction | None
    coef: tuple[Fraction, ...]
    blur: float  # rounding of the residual norm in arithmetic with 106 bits
    fault: str = ""


class Normal:
    """Normal equations of one equation in integers; a number is an integer times a power of two of its column."""

    def __init__(self, equation: CheckedEquation, limit: float = COEFFICIENT_LIMIT) -> None:
        self.equation, self.limit = equation, limit
        self.target = len(equation.columns)
        weight, doubled = _integers([equation.weight])
        if doubled % 2:
            weight, doubled = [2 * weight[0]], doubled - 1
        self._weight, half = weight[0], doubled // 2
        self._columns, self.exponents = [], []
        ridge = [*equation.ridge.tolist(), 0.0]
        self._ridge = [0] * len(ridge)
        for j, values in enumerate([*equation.factor.T.tolist(), equation.z.tolist()]):
            numbers, exponent = _integers(values)
            own = exponent + half
            if ridge[j]:
                square, least = _integers([ridge[j]])
                common = min(own, least // 2)
                numbers, exponent, own = [n << (own - common) for n in numbers], exponent - own + common, common
                self._ridge[j] = square[0] << (least - 2 * common)
            while numbers and numbers[-1] == 0:
                numbers.pop()  # (the factor is triangular)
            self._columns.append(numbers)
            self.exponents.append(own)
        self._products: dict[tuple[int, int], int] = {}

    def product(self, i: int, j: int) -> int:
        """Return <a_i, a_j> with weight and ridge, without the powers of two; ``target`` is the index of z."""
        key = (i, j) if i <= j else (j, i)
        if key not in self._products:
            dot = sum(map(int.__mul__, self._columns[i], self._columns[j]))
            self._products[key] = self._weight * dot + (self._ridge[i] if i == j else 0)
        return self._products[key]

    def judge(self, support: Sequence[int]) -> Judged:
        """Return what the rules say about a support, given as increasing columns of the equation."""
        minors, rows = self._eliminate(support)
        if len(minors) < len(support) or not all(self._columns[j] for j in support):
            return Judged(False, None, (), self._blur(support, ()), DEPENDENT)
        value = Fraction(rows[-1][-1], minors[-1] if minors else 1) * _power(2 * self.exponents[self.target])
        coef = self._solve(support, minors, rows)
        independent, fault = self._independent(support, minors)
        small = self._small(support, coef)
        admissible = False if False in (independent, small) else None if None in (independent, small) else True
        fault = fault if independent is False else LARGE if small is False else ""
        return Judged(admissible, value + self.equation.constant, coef, self._blur(support, coef), fault)

    def distances(self, support: Sequence[int]) -> list[float]:
        """Return the distance of each column of an independent support from the span of all others."""
        whole = self._eliminate(support)[0]
        found = []
        for p, j in enumerate(support):
            others = self._eliminate([*support[:p], *support[p + 1 :]])[0]
            square = Fraction(whole[-1], others[-1] if others else 1) * _power(2 * self.exponents[j])
            found.append(math.sqrt(as_float(square)))
        return found

    def _eliminate(self, support: Sequence[int]) -> tuple[list[int], list[list[int]]]:
        """Return the leading minors up to the first zero, and the rows of elimination without fractions (Bareiss)."""
        order = [*support, self.target]
        rows = [[self.product(i, j) for j in order] for i in order]
        minors: list[int] = []
        before = 1
        for p in range(len(support)):
            top = rows[p]
            pivot = top[p]
            if pivot <= 0:
                return minors, rows
            minors.append(pivot)
            for q in range(p + 1, len(order)):
                row = rows[q]
                left = top[q]
                for r in range(q, len(order)):
                    row[r] = (row[r] * pivot - left * top[r]) // before
            before = pivot
        return minors, rows

    def _solve(self, support: Sequence[int], minors: list[int], rows: list[list[int]]) -> tuple[Fraction, ...]:
        if not minors:
            return ()
        whole, last = minors[-1], len(support)
        scaled = [0] * last  # coefficients times the determinant
        for p in reversed(range(last)):
            known = sum(rows[p][q] * scaled[q] for q in range(p + 1, last))
            scaled[p] = (rows[p][last] * whole - known) // rows[p][p]
        out = self.exponents[self.target]
        powers = [_power(out - self.exponents[j]) for j in support]
        return tuple(Fraction(x, whole) * power for x, power in zip(scaled, powers, strict=True))

    def _independent(self, support: Sequence[int], minors: list[int]) -> tuple[bool | None, str]:
        squares = [self.product(j, j) for j in support]
        before, product, answers = 1, 1, []
        for minor, square in zip(minors, squares, strict=True):
            answers.append(above(minor, square * before, DISTANCE))
            before = minor
            product *= square
        near = above(before, product, PRODUCT)
        if False in answers:
            return False, DEPENDENT
        return (False, NEARLY) if near is False else (None if None in (near, *answers) else True, "")

    def _small(self, support: Sequence[int], coef: Iterable[Fraction]) -> bool | None:
        limit = self._limit_square
        pairs = zip(support, coef, strict=True)
        answers = [above(1, 1, x * x * self.norm_squares[j] / limit) if x else True for j, x in pairs]
        return False if False in answers else None if None in answers else True

    @cached_property
    def _limit_square(self) -> Fraction:
        return Fraction(self.limit) ** 2 * self.equation.target_square

    @cached_property
    def norm_squares(self) -> list[Fraction]:
        """Squared norms of the stored columns: no weight, no ridge."""
        columns = self.equation.factor.T.tolist()
        scaled = [_integers(column) for column in columns]
        return [Fraction(sum(n * n for n in numbers)) * _power(2 * e) for numbers, e in scaled]

    def _blur(self, support: Sequence[int], coef: Iterable[Fraction]) -> float:
        """Return the rounding of the residual norm; coefficients beyond the limit excuse no more than those at it."""
        size, limit = self.equation.target_norm, self.limit * self.equation.target_norm
        terms = [math.sqrt(as_float(x * x * self.norm_squares[j])) for j, x in zip(support, coef, strict=False)]
        return BLUR * math.sqrt(self.equation.weight) * (size + sum(min(term, limit) for term in terms))


def misfits(normal: Normal, support: Sequence[int], judged: Judged, given: Sequence[float]) -> list[tuple[int, float]]:
    """Return which of the coefficients given for a support are not those of its best fit, each with the right one.

    One may be off by 1e-12 of itself, and by what the rounding of residuals in doubles does to it.
    """
    pairs = list(enumerate(zip(given, judged.coef, strict=False)))
    far = [i for i, (x, true) in pairs if abs(Fraction(x) - true) > COEFFICIENT * abs(true)]
    if not far:
        return []
    coef = [0.0] * len(normal.equation.columns)
    for j, true in zip(support, judged.coef, strict=True):
        coef[j] = _rounded(true)
    floor, reach = normal.equation.floor(coef), normal.distances(support)
    return [
        (i, _rounded(judged.coef[i]))
        for i in far
        if as_float(abs(Fraction(given[i]) - judged.coef[i])) * reach[i] > floor
    ]


def _rounded(value: Fraction) -> float:
    return math.copysign(as_float(abs(value)), value)


def above(numerator: int, denominator: int, threshold: Fraction) -> bool | None:
    """Return whether a positive quotient is above a threshold; None within the band around it."""
    left, right = numerator * threshold.denominator, denominator * threshold.numerator
    if left * BAND.denominator > right * (BAND.denominator + BAND.numerator):
        return True
    return False if left * BAND.denominator < right * (BAND.denominator - BAND.numerator) else None


def _integers(values: Iterable[float]) -> tuple[list[int], int]:
    """Return integers n and an exponent e with values = n 2^e."""
    ratios = [float(value).as_integer_ratio() for value in values]
    most = max((denominator for _, denominator in ratios), default=1)
    numbers = [numerator * (most // denominator) for numerator, denominator in ratios]
    zeros = min(((n & -n).bit_length() - 1 for n in numbers if n), default=0)
    return [n >> zeros for n in numbers], zeros - most.bit_length() + 1


def _power(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)

"""The value of every support of a small equation in exact integers: the oracle of `bench torture`.

Nothing here is shared with the solver or with `verify`. Every stored double is an integer times a power of two; with
one power per column the Gram matrix is a matrix of integers, and Bareiss elimination (all divisions are exact) yields
its principal minors. Supports are visited as a tree over increasing columns, so that a prefix is eliminated once for
all supports that begin with it.

A support is admissible if no column is zero, each column keeps a relative distance above 1e-13 from the span of the
earlier ones, the product of these distances is above 2^-80, and its least-squares coefficients satisfy
|x_j| |a_j| <= limit |y|. Within a relative 1e-6 of a threshold the oracle says "either".
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Support = tuple[int, ...]
Admissible = Literal["yes", "no", "either"]

DEPENDENT = 1e-13
LEAST_VOLUME = 2.0**-80
GRAIN = 2.0**-78  # residual norms closer than this share of |z| may count as equal
ZERO = 2.0**-71  # and below this as zero
BAND = 1e-6  # relative distance from a threshold within which either answer is right


@dataclass(frozen=True, slots=True)
class Value:
    """A support with its squared residual ``top / bottom`` (exact, in units of `ExactValues.unit`)."""

    support: Support
    top: int
    bottom: int
    share: float  # of the squared norm of z
    volume: float  # product of the relative distances of its columns, square root included
    independent: Admissible

    def compare(self, other: Value) -> int:
        """Return the sign of the difference of the two values, then of the order of the supports."""
        left, right = self.top * other.bottom, other.top * self.bottom
        if left != right:
            return -1 if left < right else 1
        return -1 if (len(self.support), self.support) < (len(other.support), other.support) else 1

    def ties(self, other: Value) -> bool:
        """Return True if the two values are exactly equal."""
        return self.top * other.bottom == other.top * self.bottom


class ExactValues:
    """``min |z - A_S x|^2 + sum ridge_j x_j^2 + |rest|^2`` for every support S of at most ``size`` terms."""

    def __init__(self, theta: Array, z: Array, rest: Array, ridge: Array, size: int, limit: float) -> None:
        self.size, self.limit = size, limit
        scaled = [_integers(column, weight) for column, weight in zip(theta.T, ridge, strict=True)]
        columns = [column for column, _, _ in scaled]
        target, _, exponent = _integers(z, 0.0)
        self.exponents = [power - exponent for _, _, power in scaled]
        self.unit = Fraction(4) ** exponent
        self.rest = sum((Fraction(float(v)) ** 2 for v in rest), Fraction(0))
        self._plain = [_dot(column, column) for column in columns]
        self._rows = [[_dot(a, b) for b in columns[i:]] + [_dot(a, target)] for i, a in enumerate(columns)]
        for row, (_, weight, _) in zip(self._rows, scaled, strict=True):
            row[0] += weight
        self.square = _dot(target, target)
        whole = self.square * self.unit + self.rest
        self.share_of_rest = float(self.rest / whole) if whole else 0.0
        self._reach = _ratio(whole.numerator, whole.denominator, self.square, self.unit) if self.square else math.inf
        self._most = limit * math.sqrt(self._reach)  # largest |x_j| |a_j| / |z| of an admissible support
        self._by_size: list[list[Value]] = [[] for _ in range(size + 1)]
        self._by_size[0].append(Value((), self.square, 1, 1.0 if self.square else 0.0, 1.0, "yes"))
        self._within: dict[Support, Admissible] = {}
        if size:
            self._walk((), self._rows, self.square, 1, 1, "yes")

    def ascending(self, size: int) -> Iterator[Value]:
        """Yield the values of all supports of this size whose columns are (or may be) independent, in exact order."""
        listed = sorted(self._by_size[size], key=lambda v: v.share)
        start = 0
        while start < len(listed):
            stop = start + 1
            # Shares are rounded quotients: within some units in the last place only the integers decide.
            while stop < len(listed) and listed[stop].share <= listed[stop - 1].share * (1 + 1e-14) + 1e-290:
                stop += 1
            yield from sorted(listed[start:stop], key=functools.cmp_to_key(Value.compare))
            start = stop

    def admissible(self, value: Value) -> Admissible:
        """Say whether a support counts, the limit of its coefficients included."""
        if value.support not in self._within:
            self._within[value.support] = self._within_limit(value)
        within = self._within[value.support]
        return "no" if within == "no" else value.independent if within == "yes" else "either"

    def find(self, support: Support) -> Value | None:
        """Return the value of one support; None if its columns are dependent."""
        size = len(support)
        return next((v for v in self._by_size[size] if v.support == support), None) if size <= self.size else None

    def exact(self, value: Value) -> Fraction:
        """Return the objective of a support, the constant included."""
        return Fraction(value.top, value.bottom) * self.unit + self.rest

    @property
    def worst_resolution(self) -> float:
        """The largest sum of two resolutions that supports of this equation can have, and ties included."""
        return 2.0**-70 + 2.0**-93 * (1.0 + self.size * min(1.7 / LEAST_VOLUME, 1.01 * self._most))

    def resolution(self, value: Value) -> float:
        """Return what the solver's double-double fit may blur a residual norm by, relative to |z|.

        It is promised to tell residual norms apart down to 2^-80 |z| + 2^-96 sum |x_j| |a_j|.
        """
        return GRAIN + 2.0**-94 * (1.0 + len(value.support) * min(1.7 / value.volume, 1.01 * self._most))

    def distance(self, better: Value, worse: Value) -> float:
        """Return the difference of two residual norms relative to |z|, without cancellation."""
        roots = math.sqrt(better.share) + math.sqrt(worse.share)
        top = worse.top * better.bottom - better.top * worse.bottom
        return top / (better.bottom * worse.bottom * self.square) / roots if top > 0 else 0.0

    def counts_as_zero(self, value: Value) -> bool:
        """Return True if the solver may take the residual for zero."""
        return math.sqrt(value.share) <= ZERO + self.resolution(value)

    def coefficients(self, support: Support) -> list[Fraction]:
        """Return the exact least-squares coefficients in the caller's units."""
        tops, bottom = self._solve(support)
        return [Fraction(t, bottom) * Fraction(2) ** -self.exponents[j] for t, j in zip(tops, support, strict=True)]

    def reach(self, column: int) -> Fraction:
        """Return |z| / |a_j|, rounded up to a power of two, in the caller's units."""
        bits = (self.square.bit_length() - self._plain[column].bit_length()) // 2 + 2
        return Fraction(2) ** (bits - self.exponents[column])

    def _walk(
        self, prefix: Support, rows: Sequence[list[int]], square: int, minor: int, norms: int, state: Admissible
    ) -> None:
        """Extend a prefix by each later column; row i holds the eliminated entries (i, i), (i, i+1), ..., (i, y)."""
        depth, count = len(prefix) + 1, len(rows)
        width = len(self._plain)
        first = width - count
        found = self._by_size[depth]
        last = depth == self.size
        for i, row in enumerate(rows):
            column, pivot, moment = first + i, row[0], row[-1]
            diagonal = self._rows[column][0]
            if not self._plain[column] or not pivot:
                continue
            volumes = norms * diagonal
            here = _weakest(state, _above(pivot, minor * diagonal, DEPENDENT), _above(pivot, volumes, LEAST_VOLUME))
            if here == "no":
                continue
            rest = (square * pivot - moment * moment) // minor
            support = (*prefix, column)
            share = rest / (pivot * self.square) if rest else 0.0
            found.append(Value(support, rest, pivot, share, math.sqrt(pivot / volumes), here))
            if last or i + 1 == count:
                continue
            below = []
            if depth + 1 == self.size:  # leaves need their own pivot and moment only
                for other, entry in zip(rows[i + 1 :], row[1:], strict=False):
                    below.append(
                        [
                            (other[0] * pivot - entry * entry) // minor,
                            (other[-1] * pivot - entry * moment) // minor,
                        ]
                    )
            else:
                for at, other in enumerate(rows[i + 1 :], 1):
                    entry = row[at]
                    below.append([(a * pivot - entry * b) // minor for a, b in zip(other, row[at:], strict=True)])
            self._walk(support, below, rest, pivot, volumes, here)

    def _within_limit(self, value: Value) -> Admissible:
        # The smallest singular value of unit columns is at least volume / sqrt(e), and |x| <= |z| / sigma.
        if not value.support or 1.65 / value.volume < 0.5 * self._most:
            return "yes"
        tops, bottom = self._solve(value.support)
        squares = [
            _ratio(t * t * self._plain[j], 1, bottom * bottom * self.square, 1)
            for t, j in zip(tops, value.support, strict=True)
        ]
        largest = math.sqrt(max(squares)) / self._most if self.square else 0.0
        return "either" if abs(largest - 1.0) <= BAND else "yes" if largest < 1.0 else "no"

    def _solve(self, support: Support) -> tuple[list[int], int]:
        """Return integers t and b with coefficients t / b, in units of the integer columns and target."""
        size = len(support)
        rows = [[self._rows[i][j - i] for j in support[at:]] + [self._rows[i][-1]] for at, i in enumerate(support)]
        previous = 1
        for p in range(size - 1):
            top = rows[p]
            for i in range(p + 1, size):
                factor = top[i - p]
                rows[i] = [(a * top[0] - factor * b) // previous for a, b in zip(rows[i], top[i - p :], strict=True)]
            previous = top[0]
        bottom = rows[-1][0] if size else 1
        tops: list[int] = [0] * size
        for i in reversed(range(size)):
            known = sum(map(mul, rows[i][1:-1], tops[i + 1 :]))
            tops[i] = (rows[i][-1] * bottom - known) // rows[i][0]
        return tops, bottom


def _above(top: int, bottom: int, threshold: float) -> Admissible:
    """Say whether sqrt(top / bottom) is above a threshold; the quotient is rounded, which is far inside the band."""
    ratio = math.sqrt(top / bottom) / threshold
    return "either" if abs(ratio - 1.0) <= BAND else "yes" if ratio > 1.0 else "no"


def _weakest(*states: Admissible) -> Admissible:
    return "no" if "no" in states else "either" if "either" in states else "yes"


def _ratio(top: int, bottom: int, other: int, unit: Fraction | int) -> float:
    """Return (top / bottom) / (other * unit), infinite where it is too large for a double."""
    unit = Fraction(unit)
    try:
        return (top * unit.denominator) / (bottom * other * unit.numerator)
    except OverflowError:
        return math.inf


def _dot(a: list[int], b: list[int]) -> int:
    return sum(map(mul, a, b))


def _integers(column: Array, ridge: float) -> tuple[list[int], int, int]:
    """Return integers ``a``, ``p`` and an exponent ``e`` with column = a 2^e and ridge = p 2^(2e)."""
    ratios = [float(v).as_integer_ratio() for v in column]
    powers = [1 - denominator.bit_length() for _, denominator in ratios]
    twos = [power + (abs(n) & -abs(n)).bit_length() - 1 for (n, _), power in zip(ratios, powers, strict=True) if n]
    top, under = float(ridge).as_integer_ratio()
    ridge_power = 1 - under.bit_length()
    if top:
        twos.append((ridge_power + (top & -top).bit_length() - 1) // 2)
    exponent = min(twos, default=0)
    integers = [_shift(n, power - exponent) for (n, _), power in zip(ratios, powers, strict=True)]
    return integers, _shift(top, ridge_power - 2 * exponent), exponent


def _shift(value: int, by: int) -> int:
    return value << by if by >= 0 else value >> -by

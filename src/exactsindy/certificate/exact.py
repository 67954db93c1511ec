"""An equation in rational arithmetic: the recomputation that no rounding can spoil."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy.problem import Problem

#: Relative error allowed to a claimed objective, bound or margin, beside the rounding of the residual norm.
RELATIVE = 1e-9
#: A backward stable least-squares solution stays well below this relative gradient.
GRADIENT = 1e-12
_EPS = float(np.finfo(np.float64).eps)
#: Squared inverse of 1e-13: a column nearer than that to the span of the earlier ones is dependent.
_DEPENDENCE = 10**26


@dataclass(frozen=True)
class CheckedEquation:
    """``weight * (|z - R xi|^2 + |rest|^2) + sum ridge_j xi_j^2`` for one target."""

    name: str
    factor: NDArray[np.float64]
    z: NDArray[np.float64]
    rest: NDArray[np.float64]
    ridge: NDArray[np.float64]
    columns: tuple[int, ...]  # which term of the problem each column of `factor` is
    weight: float = 1.0

    @classmethod
    def of(cls, problem: Problem, j: int, ridge: NDArray[np.float64], weight: float = 1.0) -> CheckedEquation:
        """Return the j-th equation of a problem; ``ridge`` is over all terms of the problem."""
        block, column = problem.locate(j)
        columns = tuple(int(i) for i in problem.columns(block))
        z, rest = block.target(column)
        return cls(problem.target_names[j], block.theta_factor, z, rest, ridge[list(columns)], columns, weight)

    def objective(self, coef: Sequence[float]) -> Fraction:
        """Return the objective of these coefficients (one per column)."""
        residuals, exact = self._residuals(coef), _exact(coef)
        penalty = _dot(_exact(self.ridge), [x * x for x in exact])
        return Fraction(self.weight) * (_dot(residuals, residuals) + self.rest_square) + penalty

    def gradient(self, coef: Sequence[float], support: Sequence[int]) -> float:
        """Return how far from stationary: |A_j'(b - A xi)| / (|A_j| (|b| + sum |A_i| |xi_i|)), the largest.

        A is the factor with the ridge rows below; a backward stable least-squares solution has a few eps here.
        """
        residuals, size, worst = self._residuals(coef), self.size(coef), 0.0
        for j in support:
            if product := self._slope(coef, j, residuals):
                scale = self.norms[j] * size
                worst = max(worst, as_float(abs(product) / Fraction(scale)) if scale else math.inf)
        return worst

    def slope(self, coef: Sequence[float], j: int) -> float:
        """Return A_j'(b - A xi), half the descent of the objective along one coefficient."""
        return float(self._slope(coef, j, self._residuals(coef)))

    def _slope(self, coef: Sequence[float], j: int, residuals: list[Fraction]) -> Fraction:
        product = Fraction(self.weight) * _dot(_exact(self.factor[:, j]), residuals)
        return product - Fraction(float(self.ridge[j])) * Fraction(float(coef[j]))

    def size(self, coef: Sequence[float]) -> float:
        """Return |b| + sum |A_j| |xi_j|: eps times this is the rounding level of a residual norm."""
        terms = [norm * abs(float(x)) for norm, x in zip(self.norms, coef, strict=True) if x]
        return math.fsum([math.sqrt(self.weight) * math.hypot(*self.z, *self.rest), *terms])

    def floor(self, coef: Sequence[float]) -> float:
        """Return a generous bound on the rounding of a residual norm computed in doubles."""
        return 64 * math.sqrt(len(self.columns) + 1) * _EPS * self.size(coef)

    @cached_property
    def rest_square(self) -> Fraction:
        """Squared norm of the target off all columns (not weighted)."""
        rest = _exact(self.rest)
        return _dot(rest, rest)

    @cached_property
    def constant(self) -> float:
        """What no coefficient can change in the objective."""
        return as_float(Fraction(self.weight) * self.rest_square)

    @cached_property
    def norms(self) -> tuple[float, ...]:
        """Norms of the columns with weight and ridge."""
        root = math.sqrt(self.weight)
        columns = zip(self.factor.T, self.ridge, strict=True)
        return tuple(math.hypot(*(root * column), math.sqrt(ridge)) for column, ridge in columns)

    def _residuals(self, coef: Sequence[float]) -> list[Fraction]:
        used = [(j, Fraction(float(x))) for j, x in enumerate(coef) if x]
        rows = ([Fraction(float(row[j])) * x for j, x in used] for row in self.factor)
        return [y - sum(row, Fraction(0)) for y, row in zip(_exact(self.z), rows, strict=True)]


class NormalEquations:
    """Exact values of supports from exact normal equations; products are computed once, when needed."""

    def __init__(self, equation: CheckedEquation) -> None:
        self._equation = equation
        self._columns: dict[int, list[Fraction]] = {}
        self._products: dict[tuple[int, int], Fraction] = {}

    def pivots(self, support: Sequence[int]) -> tuple[list[Fraction], Fraction]:
        """Return the squared distance of each column to the span of the earlier ones, and the value.

        The value leaves out the constant; elimination stops at a distance of zero.
        """
        target = len(self._equation.columns)
        order = [*support, target]
        rows = [[self._product(i, j) for j in order] for i in support]
        value, distances = self._product(target, target), []
        for p, top in enumerate(rows):
            distances.append(top[p])
            if not top[p]:
                break
            value -= top[-1] ** 2 / top[p]
            for row in rows[p + 1 :]:
                ratio = row[p] / top[p]
                row[p:] = [a - ratio * b for a, b in zip(row[p:], top[p:], strict=True)]
        return distances, value

    def independent(self, support: Sequence[int]) -> bool:
        """Return True if no column is zero or nearer than 1e-13 of its norm to the span of the earlier ones."""
        if not all(self._equation.factor[:, j].any() for j in support):
            return False
        distances, _ = self.pivots(support)
        squares = [self._product(j, j) for j in support]
        return len(distances) == len(squares) and all(
            distance * _DEPENDENCE > square for distance, square in zip(distances, squares, strict=True)
        )

    def _product(self, i: int, j: int) -> Fraction:
        key = (min(i, j), max(i, j))
        if key not in self._products:
            value = Fraction(self._equation.weight) * _dot(self._column(i), self._column(j))
            if i == j < len(self._equation.columns):
                value += Fraction(float(self._equation.ridge[i]))
            self._products[key] = value
        return self._products[key]

    def _column(self, j: int) -> list[Fraction]:
        if j not in self._columns:
            equation = self._equation
            values = equation.z if j == len(equation.columns) else equation.factor[:, j]
            self._columns[j] = _exact(values)
        return self._columns[j]


def tolerance(value: float, floor: float, relative: float = RELATIVE) -> float:
    """Return how much a value may be off: 1e-9 of it, and ``floor`` in its square root."""
    return relative * value + 2 * math.sqrt(value) * floor + floor**2


def as_float(value: Fraction) -> float:
    """Round a number >= 0 to a double; infinite beyond its range."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _dot(a: list[Fraction], b: list[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), Fraction(0))


def _exact(values: Iterable[float]) -> list[Fraction]:
    return [Fraction(float(value)) for value in values]

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

#: Relative error allowed to a claimed objective, bound or margin.
RELATIVE = 1e-9
#: A backward stable least-squares solution stays well below this relative gradient.
GRADIENT = 1e-12
#: Residual norms may be off by this share of |y| + sum |xi_j| |theta_j|: the rounding of arithmetic with 106 bits.
BLUR = 2.0**-90
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
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
                scale = Fraction(self.norms[j]) * Fraction(size) if math.isfinite(size) else Fraction(0)
                worst = max(worst, as_float(abs(product) / scale) if scale else math.inf)
        return worst

    def slope(self, coef: Sequence[float], j: int) -> Fraction:
        """Return A_j'(b - A xi), half the descent of the objective along one coefficient."""
        return self._slope(coef, j, self._residuals(coef))

    def _slope(self, coef: Sequence[float], j: int, residuals: list[Fraction]) -> Fraction:
        product = Fraction(self.weight) * _dot(_exact(self.factor[:, j]), residuals)
        return product - Fraction(float(self.ridge[j])) * Fraction(float(coef[j]))

    def size(self, coef: Sequence[float]) -> float:
        """Return |b| + sum |A_j| |xi_j|: eps times this is the rounding level of a residual norm."""
        terms = [norm * abs(float(x)) for norm, x in zip(self.norms, coef, strict=True) if x]
        total = sum([math.sqrt(self.weight) * self.target_norm, *terms])
        return total if math.isfinite(total) else math.inf

    def floor(self, coef: Sequence[float]) -> float:
        """Return a generous bound on the rounding of a residual norm computed in doubles."""
        return 64 * math.sqrt(len(self.columns) + 1) * _EPS * self.size(coef)

    @cached_property
    def target_norm(self) -> float:
        """|y|, the norm of the whole target (not weighted)."""
        return math.hypot(*self.z, *self.rest)

    @cached_property
    def target_square(self) -> Fraction:
        """|y|^2 exactly (not weighted)."""
        z = _exact(self.z)
        return _dot(z, z) + self.rest_square

    @cached_property
    def rest_square(self) -> Fraction:
        """Squared norm of the target off all columns (not weighted)."""
        rest = _exact(self.rest)
        return _dot(rest, rest)

    @cached_property
    def constant(self) -> Fraction:
        """What no coefficient can change in the objective."""
        return Fraction(self.weight) * self.rest_square

    @cached_property
    def norms(self) -> tuple[float, ...]:
        """Norms of the columns with weight and ridge."""
        root = math.sqrt(self.weight)
        columns = zip(self.factor.T, self.ridge, strict=True)
        return tuple(math.hypot(*(root * column), math.sqrt(ridge)) for column, ridge in columns)

    @cached_property
    def usable(self) -> tuple[int, ...]:
        """Columns that are not zero."""
        return tuple(int(j) for j in np.flatnonzero(self.factor.any(axis=0)))

    def _residuals(self, coef: Sequence[float]) -> list[Fraction]:
        used = [(j, Fraction(float(x))) for j, x in enumerate(coef) if x]
        rows = ([Fraction(float(row[j])) * x for j, x in used if row[j]] for row in self.factor)
        return [y - sum(row, Fraction(0)) for y, row in zip(_exact(self.z), rows, strict=True)]


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

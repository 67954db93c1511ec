"""Tests whether a library holds the law of an equation: what its residuals say against that, and how likely it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from exactsindy._types import Array
from exactsindy.selection.trajectory_evidence import SIMPLICITY

# A column of which less than this share is new beside the terms chosen is taken for dependent on them.
_DEPENDENT = 1e-8
# Residual sums of squares below this share of the target's are rounding.
_ROUNDING = 1e-12
# Weights of the constant and of `LackOfFit.features`, fitted on the tuning half of drawn systems inside and outside
# the library, and of the conditions of the selection benchmark. `exactsindy bench selection --tune adequacy` fits them
# again to the former. The last one was set on the same systems beside the others: of 186 equations outside the library
# 2 stay at 90 % or more (10 without it), of 213 inside 158 are right and at 90 % or more (161).
WEIGHTS = (6.94, 5.28, 2.42, 3.71, 6.0)
# Probability below which the library is said not to hold the law.
HELD = 0.5
# Features are 0 up to the first number and grow no more from the second on: laws inside the library reach the first,
# and beyond the second there is nothing left to tell apart. (A term of the true law is worse than a function in its
# place only where the two are nearly the same on the data.) Logarithm of the residual over the noise (coloured noise is
# estimated too small, AR(1) noise of 0.9 by a factor of up to 4.7), and twice log-likelihood ratios.
_RATIO, _ADVANTAGE, _SAVED, _SWAPPED = (1.6, 3.0), (8.0, 40.0), (8.0, 30.0), (0.0, 8.0)
# Twice the log-likelihood ratio from which a function in place of a term is said to fit better than it: a factor of 20.
_BETTER = 6.0
# Correlations beyond this count as this.
_LARGEST_CORRELATION = 0.99
# Data without noise leave errors of integrals and of simulations, which are correlated. Residuals below the first share
# of the changes count less there, because a simulation with a coarse tolerance leaves such ones; and so does a gain
# (twice the log-likelihood ratio per row) below the second number.
_COARSE_SIMULATION, _COARSE_GAIN = 0.05, 1.0


@dataclass(frozen=True)
class Additions:
    """What terms that were not chosen would add to a regression, as twice log-likelihood ratios.

    ``inside`` and ``outside``: the most that one term of the library, and one function outside it, gain beside the
    terms chosen; ``term`` and ``column`` are their columns. ``saved``: how much better than the terms chosen one
    function in place of two of them is by the BIC; ``replacement`` is that function and ``replaced`` the terms. -inf if
    there are no two. ``swapped``: how much better one function in place of one of them is, less what it is more
    complicated; ``other`` and ``out`` are that function and that term.
    """

    inside: float = 0.0
    outside: float = 0.0
    term: int = -1
    column: int = -1
    saved: float = -math.inf
    replacement: int = -1
    replaced: tuple[int, ...] = ()
    swapped: float = -math.inf
    other: int = -1
    out: int = -1

    @property
    def advantage(self) -> float:
        """How much more a function outside the library gains than any term of the library."""
        return self.outside - self.inside

    @property
    def best(self) -> int:
        """The column that gains most."""
        return self.column if self.advantage > 0 else self.term


def additions(
    columns: Array,
    target: Array,
    rest: float,
    support: Sequence[int],
    outside: Sequence[int],
    rows: int,
    floor: float,
    complexity: Sequence[int] = (),
) -> Additions:
    """Return what single columns add to a least-squares fit.

    Parameters
    ----------
    columns, target, rest
        Rows of the regression, or their triangular factor with the sum of squares that it leaves of the target.
    support, outside
        The columns chosen, and those of functions outside the library; all others are terms of the library.
    rows, floor
        Number of rows, and the residual sum of squares that says nothing about terms.
    complexity
        How much is written in each column's term (`Term.complexity`); left out, all are equally complicated.
    """
    scaled = columns / np.maximum(np.linalg.norm(columns, axis=0), np.finfo(float).tiny)
    chosen = list(support)
    basis = np.linalg.qr(scaled[:, chosen])[0]
    residual = target - basis @ (basis.T @ target)
    square = float(residual @ residual) + rest
    least = max(floor, _ROUNDING * (float(target @ target) + rest), np.finfo(float).tiny)
    new = scaled - basis @ (basis.T @ scaled)
    size = (new**2).sum(axis=0)
    gains = np.where(size > _DEPENDENT, (residual @ new) ** 2 / np.maximum(size, _DEPENDENT), 0.0)

    def ratio(left: float) -> float:
        return rows * math.log(max(square, least) / max(left, least))

    others = [j for j in range(scaled.shape[1]) if j not in {*chosen, *outside}]
    term = max(others, key=lambda j: gains[j], default=-1)
    inside = ratio(square - float(gains[term])) if others else 0.0
    if not len(outside):
        return Additions(inside, term=term)
    best = max(outside, key=lambda j: gains[j])
    found = Additions(inside, ratio(square - float(gains[best])), term, best)
    for j in outside:
        if size[j] > _DEPENDENT:
            for left_out, left in _without(scaled[:, [*chosen, j]], target, square - float(gains[j])):
                names = tuple(chosen[a] for a in left_out)
                value = ratio(left) + (len(names) - 1) * math.log(rows)
                if len(names) == 1:
                    value -= SIMPLICITY * (complexity[j] - complexity[names[0]]) if complexity else 0.0
                    if value > found.swapped:
                        found = replace(found, swapped=value, other=j, out=names[0])
                elif len(names) == 2 and value > found.saved:
                    found = replace(found, saved=value, replacement=j, replaced=names)
    return found


def _without(columns: Array, target: Array, square: float) -> list[tuple[tuple[int, ...], float]]:
    """Return the residual sum of squares without one or two columns but the last, from ``square``, that with all."""
    basis, factor = np.linalg.qr(columns)
    inverse = np.linalg.inv(factor)
    covariance, coef = inverse @ inverse.T, inverse @ (basis.T @ target)
    found: list[tuple[tuple[int, ...], float]] = [
        ((a,), square + float(coef[a] ** 2 / max(covariance[a, a], np.finfo(float).tiny)))
        for a in range(columns.shape[1] - 1)
    ]
    for a, b in combinations(range(columns.shape[1] - 1), 2):
        p, q, r = covariance[a, a], covariance[a, b], covariance[b, b]
        volume = p * r - q * q
        if volume <= np.finfo(float).eps * p * r:  # copies of each other: what both explain is not known
            continue
        rise = (r * coef[a] ** 2 - 2 * q * coef[a] * coef[b] + p * coef[b] ** 2) / volume
        found.append(((a, b), square + float(rise)))
    return found


def mean_correlation(residual: Array, lags: Sequence[int] = (1, 2, 3, 4)) -> float:
    """Return the mean correlation of residuals that are some samples apart, the mean not subtracted."""
    square = max(float(residual @ residual), float(np.finfo(float).tiny))
    return float(np.mean([residual[lag:] @ residual[:-lag] for lag in lags])) / square


@dataclass(frozen=True)
class LackOfFit:
    """What speaks against the law of an equation being in the library.

    ``ratio``: residual in units of the noise, estimated without the model; ``share``: residual as a share of the
    changes that the equation has to explain; ``advantage``: how much more a ``function`` outside the library gains than
    any term of it, ``saved``: how much better a ``replacement`` is in place of two terms (``replaced``), ``swapped``:
    how much better an ``other`` function is in place of one term (``out``), all as twice log-likelihood ratios, the
    last one less what that function is more complicated;
    ``correlation``: of neighbouring residuals with the function added. ``resolved``:
    whether the residual is larger than errors of integrals and simulations may be; if not, nothing speaks against the
    law. ``noisy``: whether the noise is larger than such errors.
    """

    rows: int
    ratio: float
    share: float
    correlation: float
    advantage: float = 0.0
    function: str = ""
    saved: float = -math.inf
    replacement: str = ""
    replaced: tuple[str, ...] = ()
    swapped: float = -math.inf
    other: str = ""
    out: str = ""
    resolved: bool = True
    noisy: bool = True

    def features(self) -> tuple[float, ...]:
        """Return the numbers that the probability is computed from, each 0 where nothing speaks against the law."""
        if not self.resolved:
            return (0.0, 0.0, 0.0, 0.0)
        counts = 1.0 if self.noisy else min(self.share / _COARSE_SIMULATION, 1.0)
        gains = self._independent if self.noisy else min(self.advantage / self.rows / _COARSE_GAIN, 1.0) ** 2
        return (
            counts * _between(math.log(max(self.ratio, 1.0)), _RATIO) * 4,
            _between(gains * self.advantage, _ADVANTAGE) / 4,
            _between(self.saved, _SAVED) / 4,
            _between(self.swapped, _SWAPPED) / 4,
        )

    @property
    def _independent(self) -> float:
        """Share of the rows that is worth an independent one: noise that is correlated in time gives chance gains."""
        correlation = min(max(self.correlation, 0.0), _LARGEST_CORRELATION)
        return (1.0 - correlation) / (1.0 + correlation)

    @property
    def probability(self) -> float:
        """Probability that the library holds the law, 1 if nothing speaks against it.

        The odds before the data are not known. The weights are for as many laws inside as were drawn, so what is
        returned is by how much the tests lower the probability.
        """
        against = float(np.dot(WEIGHTS[1:], self.features()))
        return (1.0 + math.exp(-WEIGHTS[0])) / (1.0 + math.exp(against - WEIGHTS[0]))

    def reason(self) -> str:
        """Return in words what speaks most against the law."""
        values = np.multiply(WEIGHTS[1:], self.features())
        # What would cure it is more useful than how large the misfit is.
        values[1:] *= 2.0
        first = int(np.argmax(values))
        if first == 1:
            return f"{self.function} explains what it leaves, no term of the library does"
        if first == 2:
            well = "better" if self.saved > math.log(self.rows) else "about as well"
            return f"{self.replacement} fits {well} in place of {' and '.join(self.replaced)}"
        if first == 3:
            return f"{self.other} fits {'better' if self.swapped > _BETTER else 'as well'} in place of {self.out}"
        return f"residuals are {self.ratio:.2g} times the noise"


def _between(value: float, limits: tuple[float, float]) -> float:
    return min(max(value, limits[0]), limits[1]) - limits[0]

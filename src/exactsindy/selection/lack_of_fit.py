"""Tests whether a library holds the law of an equation: what its residuals say against that, and how likely it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from exactsindy._types import Array

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
# Largest `LackOfFit.imitation` that is told apart.
_LARGEST_IMITATION = 40.0
# Data without noise leave errors of integrals and of simulations, which are correlated. Residuals below the first share
# of the changes count less there, because a simulation with a coarse tolerance leaves such ones; and so does a gain
# (twice the log-likelihood ratio per row) below the second number.
_COARSE_SIMULATION, _COARSE_GAIN = 0.05, 1.0

# Residuals in units of the noise from which they lower the confidence, and from which the features count them as well.
# Of equations that the tests leave, all inside the library had 1.02 at most on noisy tuning data and 0.94 on clean
# ones. Only noise that is correlated in time leaves more inside it: that and a missing term are taken for equally
# likely beforehand, and the confidence falls to half from the one number to the other.
_UNEXPLAINED = (1.5, 5.0)


def unexplained(ratio: float) -> float:
    """Return the share of its confidence that an equation keeps which leaves so many times the noise.

    Examples
    --------
    >>> [round(unexplained(ratio), 2) for ratio in (1.0, 1.5, 2.5, 5.0, 50.0)]
    [1.0, 1.0, 0.79, 0.5, 0.5]
    """
    low, high = map(math.log, _UNEXPLAINED)
    return 1.0 - 0.5 * _between(math.log(max(ratio, 1.0)), (low, high)) / (high - low)


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
    law. ``noisy``: whether the noise is larger than such errors. ``imitation``, ``imitator``, ``imitated``:
    those of `Additions`.
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
    imitation: float = -math.inf
    imitator: str = ""
    imitated: tuple[str, ...] = ()

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

        Tests notice nothing where monomials imitate a function to within the noise. So on noisy data a law outside the
        library counts beforehand as much as one inside, and all functions tried count alike: what the data leave of
        that is the share of laws that the terms chosen only imitate. (Data without noise leave errors of integrals, of
        which no likelihood is known.)
        """
        return self._tested / (1.0 + self._imitated)

    @property
    def _tested(self) -> float:
        """By how much what the tests notice lowers the probability."""
        against = float(np.dot(WEIGHTS[1:], self.features()))
        return (1.0 + math.exp(-WEIGHTS[0])) / (1.0 + math.exp(against - WEIGHTS[0]))

    @property
    def _imitated(self) -> float:
        """Odds that the terms chosen imitate a function outside the library, as far as single functions tell."""
        if not (self.resolved and self.noisy):
            return 0.0
        return math.exp(min(self.imitation, _LARGEST_IMITATION) / 2)

    def reason(self) -> str:
        """Return in words what speaks most against the law."""
        if self._tested >= HELD and self.imitated:
            return f"as plausible on these data is {self.imitator} in place of {' and '.join(self.imitated)}"
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

"""Evidence of trajectory fits: how their misfits choose between models, and how sure that choice is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from exactsindy.selection.growth import ln_choose

Support = tuple[int, ...]

#: Name of the variant of equations that were chosen by trajectory fits.
TRAJECTORY_FIT = "trajectory fit"

# Weights of the constant and of `features`, fitted on the tuning half of the random systems (400 to 5000 samples, noise
# of 0.5 to 20 %); `exactsindy bench selection --tune trajectories --samples 400,1200` fits such weights again.
WEIGHTS = (2.674, 0.652, 1.978, -1.634, -1.131)
# For modes of fields: `exactsindy bench selection --tune field-trajectories` prints them.
MODE_WEIGHTS = (-0.737, 0.732, 0.702, 0.019, 0.0)
# For maps: fitted to 330 equations of maps that were drawn for it (100 to 2000 samples, noise of 0 to 15 %), of which
# 317 were right; `exactsindy bench maps --drawn tuning` draws them.
MAP_WEIGHTS = (1.09, 1.06, 0.0, 0.0, -0.59)
# Weight gamma of the number of supports in the extended BIC, for at most _MANY candidate terms and for more. With 15 to
# 35 terms 1/2 to 1 serve alike on the tuning systems, with 36 to 84 terms 1 serves better:
# `exactsindy bench selection --tune gamma` prints by how much.
_GAMMA, _MANY_GAMMA, _MANY = 0.5, 1.0, 35
# Each factor of a term costs this much in -2 log likelihood: before data are seen, one factor more makes a term e times
# less plausible. It decides where data cannot: on short or noisy records such terms stand in for one another.
SIMPLICITY = 2.0
# Weight of the regression evidence beside the likelihood, for trajectories and for fields, and the least probability
# that enters it. Both come from the same data: for trajectories nothing is gained by counting them twice, and where
# noise is large the regressions are the worse judge. On drawn fields 0.4 to 0.7 serve alike, and better than less
# (`--tune field-trajectories`).
_TRUST, _MODE_TRUST, _SMALLEST = 0.0, 0.4, 1e-3
# Largest log odds and largest excess misfit (standard deviations) that `features` tells apart, and the range of noises.
_LARGEST_ODDS, _LARGEST_EXCESS, _NOISES = 4.0, 1.0, (0.01, 0.5)


@dataclass(frozen=True)
class Rival:
    """A model (the terms of every equation) that differs from those it is compared with in one equation.

    ``misfit`` is that of its trajectory fit: -2 log likelihood, about 1 per row for the true model; ``share`` is the
    probability of the equation's terms by the regression evidence alone.
    """

    model: tuple[Support, ...]
    equation: int
    misfit: float
    share: float

    @property
    def support(self) -> Support:
        """Return the terms of the equation in question."""
        return self.model[self.equation]


@dataclass(frozen=True)
class TrajectoryEvidence:
    """Compare models by the likelihood of their trajectory fits: the extended BIC, the size of the noise left free.

    To -2 log likelihood = rows ln misfit it adds, for each equation, k ln rows + ln of the number of supports of k
    terms (the extended BIC with gamma = 1/2; twice that, gamma = 1, beyond 35 candidates), and 2 for each factor of a
    term: between supports that the data cannot tell apart, the one of fewer and of lower terms is taken. For fields it
    adds a share of the regression evidence (-2 ln probability) instead.
    """

    rows: int
    terms: tuple[int, ...]  # number of candidates, by equation
    # Share of the rows that is worth an independent one; below 1 if the noise is correlated in time.
    effective: float = 1.0
    # Misfit per row that noise alone leaves; above 1 if coloured noise is larger than estimated.
    level: float = 1.0
    # Share of the rows in k ln rows. Means of m neighbours in place of all samples leave the likelihood as it is, but
    # rows / m: the penalty of a term must not depend on which of the two is given. So rows beyond 100 samples per
    # period do not count.
    counted: float = 1.0
    # Misfits below this are equal: the data are no more accurate than that.
    least: float = 0.0
    # Number of factors of each candidate, by equation; nothing if it is not known or shall not count.
    factors: tuple[tuple[int, ...], ...] = ()
    # Largest noise of a state as a share of its spread; 1 % and less count alike.
    noise: float = 0.01
    weights: tuple[float, ...] = WEIGHTS  # of the probability to be right
    trust: float = _TRUST  # weight of the regression evidence
    gamma: float | None = None  # of the extended BIC; None: by the number of candidate terms

    @classmethod
    def for_modes(cls, rows: int, terms: tuple[int, ...]) -> TrajectoryEvidence:
        """Return the rule for modes of fields."""
        return cls(rows, terms, weights=MODE_WEIGHTS, trust=_MODE_TRUST)

    @classmethod
    def for_maps(
        cls, rows: int, terms: tuple[int, ...], factors: tuple[tuple[int, ...], ...], least: float, noise: float
    ) -> TrajectoryEvidence:
        """Return the rule for samples of maps."""
        return cls(rows, terms, least=least, factors=factors, noise=noise, weights=MAP_WEIGHTS)

    def criterion(self, misfit: float, model: Sequence[Support]) -> float:
        """Return the extended BIC of a model; smaller is better."""
        if not math.isfinite(misfit):
            return math.inf
        worth = max(self.effective * self.rows, 2.0)
        each = math.log(max(min(self.effective, self.counted) * self.rows, 2.0))
        penalties = []
        for i, (support, n) in enumerate(zip(model, self.terms, strict=True)):
            gamma = self.gamma if self.gamma is not None else _GAMMA if n <= _MANY else _MANY_GAMMA
            penalties.append(len(support) * each + 2 * gamma * ln_choose(n, len(support)))
            if self.factors:
                penalties.append(SIMPLICITY * sum(self.factors[i][j] for j in support))
        return worth * math.log(max(misfit, self.least) / self.rows) + sum(penalties)

    def criterion_of(self, rival: Rival) -> float:
        """Return the extended BIC of a model with the regression evidence for its equation in question."""
        return self.criterion(rival.misfit, rival.model) + self.regression_penalty(rival.share)

    def regression_penalty(self, share: float) -> float:
        """Return the penalty of a support of this probability by the regression evidence."""
        return -2 * self.trust * math.log(max(share, _SMALLEST))

    def ranked(self, rivals: Sequence[Rival]) -> list[Rival]:
        """Return models that differ in one equation, the best first."""
        return sorted(rivals, key=lambda rival: (self.criterion_of(rival), rival.support))

    def features(self, rivals: Sequence[Rival], chosen: Support | None = None) -> tuple[float, ...]:
        """Return the numbers that the confidence in the one chosen, or in the best of them, is computed from.

        Its log odds against all others by their criteria, its probability by the regression evidence alone, how far its
        misfit exceeds what noise leaves, in standard deviations, and ln of the noise over 1 %.
        """
        ranked = self.ranked(rivals)
        best = next((rival for rival in ranked if rival.support == chosen), ranked[0])
        others = [rival for rival in ranked if rival is not best]
        least = self.criterion_of(best)
        against = sum(math.exp(0.5 * (least - self.criterion_of(other))) for other in others)
        odds = -math.log(against) if against > 0 else _LARGEST_ODDS
        excess = (best.misfit / (self.level * self.rows) - 1.0) * math.sqrt(self.effective * self.rows / 2)
        noise = math.log(min(max(self.noise, _NOISES[0]), _NOISES[1]) / _NOISES[0])
        return (min(odds, _LARGEST_ODDS), best.share, min(max(excess, 0.0), _LARGEST_EXCESS), noise)

    def confidence(self, rivals: Sequence[Rival], chosen: Support | None = None) -> float:
        """Return the probability that the one chosen, or the best of them, has the right terms."""
        score = float(np.dot(self.weights, (1.0, *self.features(rivals, chosen))))
        return 1.0 / (1.0 + math.exp(-score))

    def share_of_its_size(self, rivals: Sequence[Rival], chosen: Support) -> float:
        """Return the probability of the one chosen among those compared that have as many terms, by their criteria."""
        criteria = {rival.support: self.criterion_of(rival) for rival in rivals if len(rival.support) == len(chosen)}
        if chosen not in criteria:
            return 1.0
        best = min(criteria.values())
        weights = {support: math.exp(0.5 * (best - value)) for support, value in criteria.items()}
        return weights[chosen] / math.fsum(weights.values())

"""Logistic model over path features, the default rule for whitened rows; weights fitted on the tuning systems."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from exactsindy._types import Array
from exactsindy.selection.choices import Candidate, SizeScore
from exactsindy.selection.growth import (
    GrowthRatio,
    first_sizes,
    floors,
    is_empty,
    ln_choose,
    log_gains,
    row_counts,
    term_count,
)
from exactsindy.solver import Path, Total

# What is looked at for each size k, with m rows, gains g and l = ln max(m g, 1).
FEATURES = (
    "l_k - l_{k+1}: the growth ratio",
    "min l up to k - max l after k: the same for the weakest term kept and the best one left out",
    "l_{k+1}: significance of the next term",
    "ln of half the log-likelihood ratio to the next best support of the size",
    "k = 1",
    "the support of k - 1 is part of that of k",
)
# Beside them for modes of fields, where noise rather than errors of the rows often decides: how far terms gain more
# than their penalty p_j in the extended BIC, r_j = ln(m g_j / p_j) between -2 and 2.
SIGNIFICANCE = ("min r up to k", "max r after k")
_LARGEST_RATIO = 2.0
# Fitted on the tuning half of the random systems: `exactsindy bench selection --tune rows --samples 400,1200`.
WEIGHTS = (0.426, 0.502, -1.053, 0.542, -3.545, 1.450)
NONE = 3.566
# For modes of fields, fitted on drawn equations other than the known ones;
# `exactsindy bench selection --tune fields` prints them.
MODE_WEIGHTS = (-1.092, 0.309, -1.571, 1.455, -2.251, -0.613, 1.547, -0.620)
MODE_NONE = -1.551
# Log-likelihood ratios to the next best support are clipped to this range; unknown ones count as the smallest.
_LARGEST_LIKELIHOOD, _SMALLEST_LIKELIHOOD = math.exp(10.0), 0.05
# Where no support reaches the first probability, the smallest of those with at least the second share of the largest
# one is taken: the fewest terms to defend. (A handful of samples: the yearly counts of hare and lynx.)
_UNSURE, _ABOUT = 0.25, 2 / 3


@dataclass(frozen=True)
class PathEvidence:
    """Choose the support with the most regression evidence; its share of all evidence is the confidence.

    For every size k of every path some features are weighed to a score s_k: first of all the growth ratio, then how
    far the weakest term kept stands above the best one left out, how significant the next term is, how far the next
    best support of the same size is, and whether supports are nested. exp(s_k) over the sum of all and of one
    more for "none of them" is the probability of a size; supports found in several variants add up.

    Weights were fitted to random systems whose laws are known, with the noise-whitened rows of
    `discover`: those here for increments of trajectories, those of `for_modes` for modes of fields. For other rows use
    `GrowthRatio`.

    Parameters
    ----------
    weights, none
        Of the features, and the score of "none of them".
    """

    weights: tuple[float, ...] = WEIGHTS
    none: float = NONE

    @classmethod
    def for_modes(cls) -> PathEvidence:
        """Return the rule for whitened modes of fields."""
        return cls(MODE_WEIGHTS, MODE_NONE)

    def features(self, path: Path, entry: int, floor: tuple[float, ...] = ()) -> Array:
        """Return the features that the weights are for (sizes 1 .. k_max - 1 x features) of one equation of a path.

        ``floor`` is that of `Folds`.
        """
        table = features(path, entry, floor)
        return np.hstack([table, significance(path, entry, floor)]) if len(self.weights) > len(FEATURES) else table

    def scores(self, candidate: Candidate) -> tuple[SizeScore, ...]:
        """Return the best size of every equation of a candidate by itself; values are scores s_k."""
        if isinstance(candidate.path[0].k, Total):
            return GrowthRatio().scores(candidate)
        chosen = []
        for entry in range(len(candidate.path[0].status)):
            scores = self.features(candidate.path, entry, candidate.floor) @ np.array(self.weights)
            m = row_counts(candidate.path)[entry]
            first = first_sizes(candidate.path)[entry]
            gains = log_gains(candidate.path, candidate.floor)[:, entry]
            empty = is_empty(gains, m, term_count(candidate.path, entry), first)
            if empty and first:  # the required terms, and none beside them
                scores[first:] = math.nan
            values = (math.nan, *(float(s) for s in scores), math.nan)[: len(candidate.path)]
            if empty or not len(scores):
                chosen.append(SizeScore(first if empty else len(candidate.path) - 1, -math.inf, values))
                continue
            k = int(np.nanargmax(scores)) + 1
            chosen.append(SizeScore(k, float(scores[k - 1]), values))
        return tuple(chosen)

    def resolve(
        self, supports: Sequence[Sequence[frozenset[str]]], scores: Sequence[SizeScore]
    ) -> tuple[int, SizeScore]:
        """Return the candidate and size that one equation is taken from, all candidates weighed together.

        ``supports`` are the terms of every size, and ``scores`` what `scores` returned, for each candidate.
        """
        values = [(value, c, k) for c, score in enumerate(scores) if score.k for k, value in enumerate(score.values)]
        scored = [(value, c, k) for value, c, k in values if k and not math.isnan(value)]
        if not scored:
            return 0, scores[0]
        shares = self.shares((supports[c][k], score) for score, c, k in scored)
        ranked = sorted(shares, key=lambda support: -shares[support])
        if shares[ranked[0]] < _UNSURE:
            about = [support for support in ranked if shares[support] >= _ABOUT * shares[ranked[0]]]
            ranked.sort(key=lambda support: support is not min(about, key=len))
        value, c, k = max(item for item in scored if supports[item[1]][item[2]] == ranked[0])
        rival = len(ranked[1]) if len(ranked) > 1 else None
        return c, SizeScore(k, value, scores[c].values, rival, shares[ranked[0]])

    def shares(self, scored: Iterable[tuple[frozenset[str], float]]) -> dict[frozenset[str], float]:
        """Return the probability of every support, given the scores of the sizes and variants it was found with."""
        pairs = list(scored)
        top = max([self.none, *(score for _, score in pairs)])
        total = math.exp(self.none - top) + sum(math.exp(score - top) for _, score in pairs)
        shares: dict[frozenset[str], float] = {}
        for support, score in pairs:
            shares[support] = shares.get(support, 0.0) + math.exp(score - top) / total
        return shares


def features(path: Path, entry: int, floor: tuple[float, ...] = ()) -> Array:
    """Return the features (sizes 1 .. k_max - 1 x features) of one equation of a path; nan for sizes without answer."""
    m, first = row_counts(path)[entry], first_sizes(path)[entry]
    gains, least = log_gains(path, floor)[:, entry], floors(path, floor)[entry]
    level = np.log(np.maximum(m * gains, 1.0))
    rows = []
    for k in range(1, len(gains)):
        if k < first:
            rows.append((math.nan,) * len(FEATURES))
            continue
        margin = float(path[k].margin[entry])
        likelihood = 0.5 * m * log_ratio(float(path[k].objective[entry]), margin, float(least))
        known = _SMALLEST_LIKELIHOOD if math.isnan(margin) else max(likelihood, _SMALLEST_LIKELIHOOD)
        near = math.log(min(known, _LARGEST_LIKELIHOOD))
        gap = level[_kept(k, first)].min() - level[k:].max()
        nested = set(path[k - 1].support[entry]) <= set(path[k].support[entry])
        rows.append((level[k - 1] - level[k], gap, level[k], near, float(k == 1), float(nested)))
    return np.array(rows, dtype=float).reshape(len(rows), len(FEATURES))


def significance(path: Path, entry: int, floor: tuple[float, ...] = ()) -> Array:
    """Return how far the weakest term kept and the best one left out gain more than their penalty (sizes x 2)."""
    m, terms, first = row_counts(path)[entry], term_count(path, entry), first_sizes(path)[entry]
    gains = log_gains(path, floor)[:, entry]
    ways = [ln_choose(terms, k) for k in range(len(gains) + 1)]
    penalties = math.log(max(m, 2)) + 2 * np.diff(ways)
    worth = np.log(np.maximum(m * gains, 1e-3) / np.maximum(penalties, 1e-3)).clip(-_LARGEST_RATIO, _LARGEST_RATIO)
    rows = [
        (math.nan, math.nan) if k < first else (worth[_kept(k, first)].min(), worth[k:].max())
        for k in range(1, len(gains))
    ]
    return np.array(rows, dtype=float).reshape(len(rows), len(SIGNIFICANCE))


def log_ratio(objective: float, margin: float, floor: float) -> float:
    """Return ln of the next best residual sum of squares over the best, what is below the floor counting as that."""
    if not floor > objective:
        return math.log1p(margin) if margin < math.inf else math.inf
    return math.log(max(objective * (1.0 + margin) / floor, 1.0))


def _kept(k: int, first: int) -> slice:
    """Return the gains that support size k: those of its terms beyond the ``first`` ones, which are required."""
    return slice(first if k > first else max(first - 1, 0), k)

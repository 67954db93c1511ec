"""The growth ratio of a proved path: the size after which more terms stop helping."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from exactsindy._types import Array
from exactsindy.errors import SolverError
from exactsindy.selection.choices import Candidate, SizeScore
from exactsindy.solver import Path, Status, Total, total

# How often the terms chosen were exactly the true ones, by kind of rows: log10 of the growth ratio, and the share of
# equations. Increments: random systems of the tuning half. Modes: eight 1-D equations, Kuramoto-Sivashinsky and
# reaction-diffusion, 5 to 600 % noise.
BANDS = {
    "increments": ((0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0), (0.05, 0.14, 0.33, 0.60, 0.90, 0.98, 0.995)),
    "modes": ((0.0, 0.7, 0.9, 1.3, 1.8, 2.5, 3.5), (0.10, 0.60, 0.77, 0.90, 0.92, 0.99, 0.995)),
}
# Objectives below this share of the objective of no terms are at rounding level.
_ROUNDING = 1e-18


@dataclass(frozen=True)
class GrowthRatio:
    r"""Choose the size with the largest ratio of its gain to the next one's.

    With g_k = ln(RSS_{k-1} / RSS_k) and m rows it is the k that maximises q_k = g_k / max(g_{k+1}, 1/m), 1/m being
    the gain of a regressor of pure noise. What remains after the true terms is systematic, so that spurious terms
    are significant in any test; but they gain far less than the last true one, and a ratio sees that.

    Two exceptions. One dominant term gains so much against RSS_0 = y'y that it hides the others: if k = 1 wins and
    some k >= 2 has q_k >= ``ratio`` and m g_k >= ``gain``, the best of those is taken. And nothing is chosen
    (k = 0) where the extended BIC prefers no size of the path to no terms.

    Constraints that require terms leave the smallest sizes without an answer. Then the smallest size with one takes
    the place of k = 1 and of k = 0 in these exceptions, and its gain is the mean gain per term against RSS_0.

    Parameters
    ----------
    ratio, gain
        The constants of the first exception.
    rows
        Which kind of rows the confidence is for: whitened ``"increments"`` of trajectories or whitened ``"modes"`` of
        fields.

    Notes
    -----
    The largest size of the path is never chosen: let k_max exceed the expected number of terms by 2 or 3.
    """

    ratio: float = 5.0
    gain: float = 50.0
    rows: str = "increments"

    def __post_init__(self) -> None:
        if self.rows not in BANDS:
            raise SolverError(f"GrowthRatio(rows={self.rows!r}): expected one of {', '.join(BANDS)}.")

    def scores(self, candidate: Candidate) -> tuple[SizeScore, ...]:
        """Return the size chosen for every equation of a candidate; values are growth ratios."""
        scores, gains, counts = [], log_gains(candidate.path, candidate.floor), row_counts(candidate.path)
        for entry, (g, m, first) in enumerate(zip(gains.T, counts, first_sizes(candidate.path), strict=True)):
            q = ratios(g, m)
            q[: max(first - 1, 0)] = -math.inf
            k = first if is_empty(g, m, term_count(candidate.path, entry), first) else self.pick(g, q, m, first)
            shown = (float(v) if v > -math.inf else math.nan for v in q)
            values = (math.nan, *shown, *([math.nan] * (len(g) - len(q))))
            compared = 0 < k <= len(q)  # a library of one term has no ratio
            best = float(q[k - 1]) if compared else 0.0
            confidence = _probability(best, self.rows) if compared else math.nan
            scores.append(SizeScore(k, best, values, _rival(q, k), confidence))
        return tuple(scores)

    def pick(self, gains: Array, q: Array, m: int, first: int = 0) -> int:
        """Return the size that the ratios choose, ``first`` being the smallest size with an answer."""
        if not len(q):
            return len(gains)
        k = int(np.argmax(q)) + 1
        least = max(first, 1)
        if k == least:
            others = np.flatnonzero((q[least:] >= self.ratio) & (m * gains[least : len(q)] >= self.gain)) + least
            if len(others):
                return int(others[np.argmax(q[others])]) + 1
        return k


def growth_ratio(path: Path, floor: tuple[float, ...] = ()) -> list[int]:
    """Return the size that `GrowthRatio` picks for each equation of a path; ``floor`` is that of `Folds`."""
    return [score.k for score in GrowthRatio().scores(Candidate("", 0.0, path.problem, (), path, floor=floor))]


def log_gains(path: Path, floor: tuple[float, ...] = ()) -> Array:
    """Return g_k = ln(RSS_{k-1} / RSS_k), (k_max, entries); objectives below a floor count as that floor.

    The floor is rounding level or, if it is given and larger, that of `Folds`. Where constraints leave the sizes below
    b without an answer, the gain of size b against no terms at all is spread evenly over the sizes 1 .. b; see
    `first_sizes`.
    """
    objectives = np.array(path.objectives, dtype=float)
    if not np.isfinite(objectives).all():
        objectives = _filled(path, objectives)
    if (objectives < _ROUNDING * objectives[0]).any():
        objectives = np.maximum(objectives, np.array([solution.floor for solution in path]))
    objectives = np.maximum(objectives, np.maximum(floors(path, floor), np.finfo(float).tiny))
    return np.asarray(np.maximum(-np.diff(np.log(objectives), axis=0), 0.0))


def floors(path: Path, floor: tuple[float, ...]) -> Array:
    """Return the residual sum of squares of each entry of a path below which differences say nothing (entries,)."""
    if not floor:
        return np.zeros(len(path[0].status))
    if isinstance(path[0].k, Total):
        return np.array([np.sum(total(path.problem, path[0].k)[1] * np.array(floor))])
    return np.array(floor)


def first_sizes(path: Path) -> list[int]:
    """Return the smallest size with an answer for each entry: 0, unless constraints require terms; refuse none."""
    known = np.isfinite(np.array(path.objectives, dtype=float))
    last = path[len(path) - 1]
    for entry in np.flatnonzero(~known.any(axis=0)):
        targets = path.problem.target_names
        names = ", ".join(targets) if len(last.status) < len(targets) else targets[int(entry)]
        if last.status[entry] is Status.INFEASIBLE:
            text = f"{names}: no model with at most {len(path) - 1} terms satisfies the constraints."
            raise SolverError(f"{text} Allow more terms (k_max), or drop or loosen a constraint.")
        text = f"{names}: no model that satisfies the constraints was found within the limits."
        raise SolverError(f"{text} Allow more seconds or nodes, or loosen a constraint.")
    return [int(first) for first in np.argmax(known, axis=0)]


def _filled(path: Path, objectives: Array) -> Array:
    """Return objectives with finite numbers at the sizes that have no answer."""
    tiny = np.finfo(float).tiny
    nothing = path.problem.rss(np.zeros_like(path[0].coef))
    if isinstance(path[0].k, Total):
        nothing = np.array([np.sum(total(path.problem, path[0].k)[1] * nothing)])
    filled = objectives.copy()
    for entry, first in enumerate(first_sizes(path)):
        start, end = np.log(np.maximum([nothing[entry], objectives[first, entry]], tiny))
        filled[:first, entry] = np.exp(np.linspace(start, end, first + 1))[:first]
        for k in range(first + 1, len(filled)):  # a limit may leave a size without an answer: the smaller one serves
            if not np.isfinite(filled[k, entry]):
                filled[k, entry] = filled[k - 1, entry]
    return filled


def ratios(gains: Array, m: int) -> Array:
    """Return q_k for k = 1 .. k_max - 1."""
    return np.asarray(gains[:-1] / np.maximum(gains[1:], 1.0 / max(m, 1)))


def row_counts(path: Path) -> list[int]:
    """Return the number of rows behind each entry of the path."""
    rows = [path.problem.n_samples_of(i) for i in range(len(path.problem.target_names))]
    return [sum(rows)] if isinstance(path[0].k, Total) else rows


def term_count(path: Path, entry: int) -> int:
    """Return the number of candidate terms behind an entry of the path."""
    entries = range(len(path.problem.target_names)) if isinstance(path[0].k, Total) else [entry]
    return sum(len(path.problem.locate(i)[0].terms) for i in entries)


def ln_choose(n: int, k: int) -> float:
    """Return the logarithm of the number of supports of k among n terms."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) if 0 <= k <= n else 0.0


def is_empty(gains: Array, m: int, terms: int, first: int = 0) -> bool:
    """Return True if the extended BIC prefers the ``first`` terms alone to every larger size."""
    gained = np.cumsum(gains[first:])
    penalties = [k * math.log(max(m, 2)) + 2 * ln_choose(terms - first, k) for k in range(1, len(gained) + 1)]
    return bool((m * gained <= np.array(penalties)).all())


def _probability(ratio: float, rows: str) -> float:
    """Return the probability that the terms chosen with this growth ratio are exactly the true ones."""
    level, share = BANDS[rows]
    return float(np.interp(np.log10(max(ratio, 1.0)), level, share))


def _rival(q: Sequence[float] | Array, k: int) -> int | None:
    """Return the size with the next largest ratio."""
    order = [int(i) + 1 for i in np.argsort(-np.asarray(q)) if int(i) + 1 != k and q[int(i)] > -math.inf]
    return order[0] if order else None

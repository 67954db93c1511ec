"""The growth ratio of a proved path: the size after which more terms stop helping."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactsindy.errors import SolverError
from exactsindy.problem import Problem
from exactsindy.selection.confidence import BANDS, probability
from exactsindy.selection.record import Candidate, Verdict
from exactsindy.solver import Path, Total

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GrowthRatio:
    r"""Choose the size with the largest ratio of its gain to the next one's.

    With g_k = ln(RSS_{k-1} / RSS_k) and m rows it is the k that maximises q_k = g_k / max(g_{k+1}, 1/m), 1/m being
    the gain of a regressor of pure noise. What remains after the true terms is systematic, so that spurious terms
    are significant in any test; but they gain far less than the last true one, and a ratio sees that.

    Two provisos. One dominant term gains so much against RSS_0 = y'y that it hides the others: if k = 1 wins and
    some k >= 2 has q_k >= ``ratio`` and m g_k >= ``gain``, the best of those is taken. And nothing is chosen
    (k = 0) where no size of the path is worth its terms by the extended BIC.

    Parameters
    ----------
    ratio, gain
        The constants of the first proviso.
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

    def judge(self, candidate: Candidate) -> tuple[Verdict, ...]:
        """Return the verdict on every equation of a candidate."""
        found = []
        gains = log_gains(candidate.path)
        counts = row_counts(candidate.path)
        for entry, (g, m) in enumerate(zip(gains.T, counts, strict=True)):
            q = ratios(g, m)
            k = 0 if is_empty(g, m, term_count(candidate.path, entry)) else self.pick(g, q, m)
            values = (math.nan, *(float(v) for v in q), *([math.nan] * (len(g) - len(q))))
            compared = 0 < k <= len(q)  # a library of one term has no ratio
            best = float(q[k - 1]) if compared else 0.0
            rival = _rival(q, k)
            found.append(Verdict(k, best, values, rival, probability(best, self.rows) if compared else math.nan))
        return tuple(found)

    def pick(self, gains: Array, q: Array, m: int) -> int:
        """Return the size that the ratios choose."""
        if not len(q):
            return len(gains)
        k = int(np.argmax(q)) + 1
        if k == 1:
            others = np.flatnonzero((q[1:] >= self.ratio) & (m * gains[1 : len(q)] >= self.gain)) + 1
            if len(others):
                return int(others[np.argmax(q[others])]) + 1
        return k


def growth_ratio(path: Path) -> list[int]:
    """Return the size that `GrowthRatio` picks for each equation of a path.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> rng = np.random.default_rng(0)
    >>> theta = rng.normal(size=(200, 9))
    >>> y = 2 * theta[:, 3] - theta[:, 7] + 0.1 * rng.normal(size=200)
    >>> growth_ratio(es.solve_path(es.Problem.from_arrays(theta, y), 5))
    [2]
    """
    verdicts = GrowthRatio().judge(Candidate("", 0.0, path.problem, (), path))
    return [verdict.k for verdict in verdicts]


def log_gains(path: Path) -> Array:
    """Return g_k = ln(RSS_{k-1} / RSS_k), (k_max, entries); objectives at rounding level count as that level."""
    objectives = np.array(path.objectives, dtype=float)
    tiny = objectives < 1e-18 * objectives[0]
    if tiny.any():
        floors = np.array([solution.floor for solution in path])
        objectives = np.maximum(objectives, floors)
    objectives = np.maximum(objectives, np.finfo(float).tiny)
    return np.asarray(np.maximum(-np.diff(np.log(objectives), axis=0), 0.0))


def ratios(gains: Array, m: int) -> Array:
    """Return q_k for k = 1 .. k_max - 1."""
    return np.asarray(gains[:-1] / np.maximum(gains[1:], 1.0 / max(m, 1)))


def row_counts(path: Path) -> list[int]:
    """Return the number of rows behind each entry of the path."""
    rows = [path.problem.n_samples_of(i) for i in range(len(path.problem.target_names))]
    return [sum(rows)] if isinstance(path[0].k, Total) else rows


def term_count(path: Path, entry: int) -> int:
    """Return the number of candidate terms behind an entry of the path."""
    sizes = equation_sizes(path.problem)
    return sum(sizes) if isinstance(path[0].k, Total) else sizes[entry]


def equation_sizes(problem: Problem) -> list[int]:
    """Return the number of candidate terms of each equation."""
    return [len(problem.locate(i)[0].terms) for i in range(len(problem.target_names))]


def ln_choose(n: int, k: int) -> float:
    """Return the logarithm of the number of supports of k among n terms."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) if 0 <= k <= n else 0.0


def is_empty(gains: Array, m: int, terms: int) -> bool:
    """Say whether no size is worth its terms: the extended BIC prefers none."""
    total = np.cumsum(gains)
    price = [k * math.log(max(m, 2)) + 2 * ln_choose(terms, k) for k in range(1, len(gains) + 1)]
    return bool((m * total <= np.array(price)).all())


def _rival(q: Sequence[float] | Array, k: int) -> int | None:
    """Return the size with the next largest ratio."""
    order = [int(i) + 1 for i in np.argsort(-np.asarray(q)) if int(i) + 1 != k]
    return order[0] if order else None

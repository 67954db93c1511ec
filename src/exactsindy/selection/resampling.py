"""Rules that draw parts of the data anew: blocked cross-validation and stability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy._limits import is_over
from exactsindy._types import Array
from exactsindy.errors import SolverError
from exactsindy.problem import Problem
from exactsindy.selection.choices import Candidate, SizeScore
from exactsindy.selection.folds import leave_one_out, resamples
from exactsindy.selection.growth import first_sizes
from exactsindy.selection.paths import shared_path
from exactsindy.solver import Deadline, Path, Settings, Total, on_cluster, solve, solve_many, solve_paths

# Resamples from which shares are stated; fewer, where time was short, say too little.
_LEAST_RESAMPLES = 10


@dataclass(frozen=True)
class CrossValidation:
    """Fit on all folds but one, score on that one; take the smallest size within one standard error of the best.

    Folds are contiguous in time and are sums of Problems, so that each costs O(D^3), not O(n D^2).

    Parameters
    ----------
    one_standard_error
        Whether the smallest size within one standard error of the least error is taken, instead of the least.
    """

    one_standard_error: bool = True

    def scores(self, candidate: Candidate) -> tuple[SizeScore, ...]:
        """Return the size chosen for every equation of a candidate; values are mean held-out errors."""
        folds = need_folds(candidate, "CrossValidation")
        table = []
        for fold, path in zip(folds, paths_again(candidate, leave_one_out(folds)), strict=True):
            rows = np.array([fold.n_samples_of(i) for i in range(len(fold.target_names))], dtype=float)
            rss = np.array([fold.rss(solution.coef) for solution in path])
            errors = rss.sum(axis=1, keepdims=True) / rows.sum() if _shared(path) else rss / rows
            table.append(np.where(np.isfinite(path.objectives), errors, np.nan))
        held_out = HeldOutErrors.of(np.array(table))
        if np.isnan(held_out.mean).all(axis=0).any():
            cure = "Use fewer folds, allow more terms (k_max), or loosen a constraint."
            raise SolverError(f"CrossValidation: in some part of the data no model satisfies the constraints. {cure}")
        chosen = held_out.choice(one_standard_error=self.one_standard_error)
        return tuple(
            SizeScore(int(k), -float(column[k]), tuple(map(float, column)), int(best) if best != k else None)
            for column, best, k in zip(held_out.mean.T, held_out.best, chosen, strict=True)
        )


@dataclass(frozen=True)
class HeldOutErrors:
    """Mean squared errors on held-out data, sizes x equations, and their standard errors over the folds."""

    mean: Array
    standard_error: Array

    @classmethod
    def of(cls, errors: Array, weights: Sequence[float] | None = None) -> HeldOutErrors:
        """Return the statistics of errors (folds x sizes x equations), folds weighted equally unless told otherwise."""
        mean = np.average(errors, axis=0, weights=weights)
        spread = np.std(errors, axis=0, ddof=1) if len(errors) > 1 else np.zeros_like(mean)
        return cls(mean, spread / np.sqrt(len(errors)))

    @property
    def best(self) -> NDArray[np.intp]:
        """Return per equation the size of least error."""
        return np.asarray(np.nanargmin(self.mean, axis=0))

    def choice(self, *, one_standard_error: bool = True) -> NDArray[np.intp]:
        """Return per equation the fewest terms whose error is within one standard error of the least (or the least)."""
        best, columns = self.best, np.arange(self.mean.shape[1])
        level = self.mean[best, columns] + self.standard_error[best, columns] * one_standard_error
        return np.asarray(np.argmax(self.mean <= level, axis=0))


@dataclass(frozen=True)
class Stability:
    """Take the largest size whose every term is in the best support of most resamples of the data.

    Parameters
    ----------
    threshold
        Share of the resamples in which a term must be.
    count
        Number of resamples: folds drawn with replacement, solved exactly.
    seed
        Of the draws.
    """

    threshold: float = 0.8
    count: int = 30
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise SolverError(f"Stability(threshold={self.threshold!r}): expected a share above 0 and at most 1.")
        if not (isinstance(self.count, int) and self.count >= 1):
            raise SolverError(f"Stability(count={self.count!r}): expected an integer >= 1, e.g. 30.")

    def scores(self, candidate: Candidate) -> tuple[SizeScore, ...]:
        """Return the size chosen for every equation; values are the share of resamples with the rarest term."""
        folds = need_folds(candidate, "Stability")
        paths = paths_again(candidate, list(resamples(folds, self.count, self.seed)))
        shared = _shared(candidate.path)
        scores = []
        for entry, first in enumerate(first_sizes(candidate.path)):
            values = [1.0] if first == 0 else [np.nan] * first
            for k in range(len(values), len(candidate.path)):
                wanted = members(candidate.path, k, entry, shared)
                seen = [members(path, k, entry, shared) for path in paths]
                values.append(min((float(np.mean([t in s for s in seen])) for t in wanted), default=1.0))
            k = max((i for i, value in enumerate(values) if value >= self.threshold), default=first)
            scores.append(SizeScore(k, float(values[k]), tuple(map(float, values))))
        return tuple(scores)


def inclusion(
    folds: Sequence[Problem],
    solution: Any,
    *,
    count: int = 30,
    seed: int = 0,
    constraints: Sequence[Any] = (),
    settings: Settings = Settings(),  # noqa: B008 - frozen
) -> dict[str, dict[str, float]]:
    """Return ``{equation: {term: share}}``: how often terms are in the best support of the solution's size.

    Blocks of the data (the folds) are drawn with replacement ``count`` times and each resample is solved exactly. Where
    the call ends before all are drawn the shares are those of fewer, or there are none.
    """
    tally: dict[str, dict[str, int]] = {target: {} for target in solution.problem.target_names}
    names, k, ridge = solution.problem.names, solution.k, solution.ridge
    drawn = resamples(folds, count, seed)
    if constraints or isinstance(k, Total) or _one_by_one([solution.problem] * count, settings):
        found = []
        for p in drawn:
            found.append(solve(p, k, ridge=ridge, constraints=constraints, start=solution, settings=settings))
            if is_over():
                break
        if len(found) < min(count, _LEAST_RESAMPLES):
            return {}
        count = len(found)
    else:
        found = solve_many(list(drawn), [k] * count, ridge=ridge, start=[solution] * count, settings=settings)
    for again in found:
        for target, support in zip(tally, again.support, strict=True):
            for j in support:
                tally[target][names[j]] = tally[target].get(names[j], 0) + 1
    return {
        target: {name: seen / count for name, seen in sorted(shares.items(), key=lambda item: -item[1])}
        for target, shares in tally.items()
    }


def paths_again(candidate: Candidate, problems: Sequence[Problem]) -> list[Path]:
    """Return the paths of other data as the candidate's was made: side by side unless each has its own limits."""
    size, budget = len(candidate.path) - 1, candidate.path[0].k
    k_max = Total(size, budget.weights) if isinstance(budget, Total) else size
    ridge, constraints, start = candidate.ridge, candidate.constraints, candidate.path[size]
    settings = candidate.settings
    if not (isinstance(k_max, Total) or constraints or _one_by_one(problems, settings)):
        return solve_paths(problems, k_max, ridge=ridge, start=start, settings=settings)
    clock = Deadline(settings)
    return [
        shared_path(problem, k_max, ridge=ridge, constraints=constraints, start=start, settings=clock.settings(left))
        for left, problem in zip(range(len(problems), 0, -1), problems, strict=True)
    ]


def _one_by_one(problems: Sequence[Problem], settings: Settings) -> bool:
    """Whether settings are for each search alone (its limits, or a function that watches it), and no cluster helps."""
    limited = not (settings.seconds is None and settings.nodes is None and settings.progress is None)
    return limited and not on_cluster(problems, settings)


def members(path: Path, k: int, entry: int, shared: bool) -> set[tuple[int, int]]:
    """Return the terms of a size as (equation, term)."""
    rows = range(len(path[k].support)) if shared else [entry]
    return {(row, j) for row in rows for j in path[k].support[row]}


def need_folds(candidate: Candidate, rule: str) -> tuple[Problem, ...]:
    """Return the folds, refusing a problem that cannot be taken apart."""
    if len(candidate.folds) < 2:
        cure = "pass a list of Problems such as form.folds(data, library, 10)."
        raise SolverError(f"{rule}: needs the data in parts; {cure}")
    return candidate.folds


def _shared(path: Path) -> bool:
    return isinstance(path[0].k, Total)

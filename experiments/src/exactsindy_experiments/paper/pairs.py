"""One trial of ours and the published one on the same data, and why they differ."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from exactsindy.solver import Settings, refit, solve
from exactsindy.systems import find_system
from exactsindy_experiments.paper import exact, scoring
from exactsindy_experiments.paper.records import Case, Outcome, Result
from exactsindy_experiments.paper.trial_files import PublishedTrial

# Coefficients of the same support agree to this (the published ones come from other arithmetic).
_SAME = 1e-5
# Rates closer than this are equal: stores read from CSV have 7 digits.
_EQUAL = 1e-6
_POINT = "Their support is not the optimum of their own grid point, but happens to be nearer to the truth"
_OTHER_POINT = "The criterion picks another grid point from the optima than from their answers"


@dataclass(frozen=True)
class Pair:
    """One trial: ours and theirs."""

    case: Case
    ours: Outcome
    theirs: PublishedTrial

    @property
    def gain(self) -> float:
        """How much our rate exceeds theirs."""
        gain = float(self.ours.tpr or 0.0) - self.theirs.tpr
        return gain if abs(gain) > _EQUAL else 0.0

    @property
    def same(self) -> bool:
        """Whether both found the same model, as far as the files tell."""
        counts = (self.ours.tp, self.ours.fp, self.ours.fn) == (self.theirs.tp, self.theirs.fp, self.theirs.fn)
        return counts and math.isclose(self.ours.coef_l2 or 0.0, self.theirs.coef_l2, rel_tol=_SAME, abs_tol=1e-9)


def pairs_of(rows: Iterable[Result], trials: Mapping[Case, PublishedTrial]) -> list[Pair]:
    """Return the trials under the published protocol that have a counterpart."""
    return [Pair(case, outcome, trials[case]) for case, outcome in rows if not outcome.error and case in trials]


def reason(pair: Pair) -> str:
    """Return why the published answer is nearer to the truth, by solving its own grid point exactly.

    Fields: sizes are given, there is nothing to choose. Duffing: the grid points chosen are compared.
    """
    if pair.case.experiment == "constraint":
        return _POINT if _same_point(pair) else _OTHER_POINT
    if pair.case.experiment == "pde":
        return "Both were asked for the same sizes; the optimum is further from the truth than their answer"
    theirs = _at(pair)
    if theirs is None:
        return "The published grid point could not be solved again"
    if not math.isclose(theirs, pair.theirs.coef_l2, rel_tol=_SAME, abs_tol=1e-9):
        return _POINT
    return (
        "Their support is the optimum of its grid point; the criterion prefers an optimum their solver missed elsewhere"
    )


def _same_point(pair: Pair) -> bool:
    """Return True if both chose the same budget and ridge."""
    ours = json.loads(pair.ours.choice or "{}")
    return (ours.get("k"),) == pair.theirs.sizes and (ours.get("alpha"),) == pair.theirs.ridges


def _at(pair: Pair) -> float | None:
    """Return the error of the coefficients of the optimum at the grid point that the published trial chose."""
    from exactsindy_experiments.paper.evaluate import published_regression

    regression = published_regression(pair.case)
    sizes, ridges = pair.theirs.sizes, pair.theirs.ridges
    count = len(regression.train.target_names)
    if len(sizes) != count or len(ridges) != count:
        return None
    system = find_system(pair.case.system)
    truth = system.coefficients([str(name) for name in regression.train.names])
    coef = np.zeros_like(truth)
    for i, (k, alpha) in enumerate(zip(sizes, ridges, strict=True)):
        target = {name: k if j == i else 0 for j, name in enumerate(regression.train.target_names)}
        settings = Settings(seconds=exact.SECONDS, threads=1)
        solution = solve(regression.train, target, ridge=regression.ridge(alpha), settings=settings)
        support = [solution.support[j] if j == i else () for j in range(count)]
        coef[i] = refit(regression.train, support).coef[i]
    return float(scoring.compare(truth, coef)["coef_l2"])

"""Fits how fast the odds of a choice by rows fall with the samples per period, on the tuning half."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from exactsindy.data import Trajectories
from exactsindy.discovery.read import sampling
from exactsindy.discovery.select import FINE
from exactsindy.discovery.variants import whitened_increments
from exactsindy.forms import smooth
from exactsindy.selection import PathEvidence, select
from exactsindy_experiments.selection_benchmark import SETTINGS
from exactsindy_experiments.selection_conditions import load_condition
from exactsindy_experiments.selection_rows import SelectionCase

# Largest number of terms tried.
_K_MAX = 8
# Powers tried; the grid is finer than what a few dozen equations can tell apart.
_POWERS = np.linspace(0.0, 3.0, 301)


@dataclass(frozen=True)
class RowExample:
    """An equation chosen by rows: log odds before calibration, ln(FINE / samples per period) or 0, and the truth."""

    odds: float
    coarse: float
    right: bool


def row_examples(cases: Sequence[SelectionCase], *, say: Callable[[str], None] = print) -> list[RowExample]:
    """Return the equations of tuning cases, decided by rows alone."""
    found = []
    for i, case in enumerate(cases):
        loaded = load_condition(case)
        assert isinstance(loaded.data, Trajectories)
        assert loaded.library is not None
        smoothed = smooth(loaded.data)
        variants = whitened_increments(loaded.data, loaded.library, SETTINGS, smoothed)
        folds = {variant.name: variant.folds for variant in variants}
        size = min(_K_MAX, len(variants[0].problem.terms))
        result = select(folds, k_max=size, rule=PathEvidence(), settings=SETTINGS)
        coarse = max(math.log(FINE / sampling(smoothed.values, smoothed.noise).per_period), 0.0)
        for choice, true in zip(result.choices, loaded.truth.values(), strict=True):
            if not math.isnan(choice.confidence):
                p = min(max(choice.confidence, 1e-9), 1 - 1e-9)
                right = frozenset(result.solution.terms[choice.equation]) == true
                found.append(RowExample(math.log(p / (1 - p)), coarse, right))
        say(f"[{i + 1}/{len(cases)}] {case.system}, noise {100 * case.noise:g} %")
    return found


def fit_power(data: Sequence[RowExample]) -> float:
    """Return the power of (samples per period / FINE) in the odds that makes the outcomes most likely.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> coarse = rng.uniform(0, 2, 3000)
    >>> right = rng.random(3000) < 1 / (1 + np.exp(2 * coarse - 1.5))
    >>> data = [RowExample(1.5, float(c), bool(r)) for c, r in zip(coarse, right)]
    >>> bool(abs(fit_power(data) - 2) < 0.2)
    True
    """
    odds, coarse = (np.array([getattr(example, name) for example in data]) for name in ("odds", "coarse"))
    sign = np.where([example.right for example in data], 1.0, -1.0)
    loss = [np.logaddexp(0.0, -sign * (odds - power * coarse)).sum() for power in _POWERS]
    return float(_POWERS[int(np.argmin(loss))])

"""Warnings that help: what about the data or the answer should make a reader careful, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Data, Field, Notice
from exactsindy.discovery.sampling import sampling
from exactsindy.errors import DataError
from exactsindy.forms import Smoothed, Whiteness, smooth
from exactsindy.problem import Problem
from exactsindy.selection import Selection
from exactsindy.solver import Pool, Status, Total

# Fewer periods than this are few, fewer samples in one are coarse.
_FEW_PERIODS = 2.0
_COARSE = 20.0
# Correlation of neighbouring residuals beyond which noise is called coloured.
_COLOURED = 0.2
# Residual in units of the noise beyond which something is missing.
_LARGE_RESIDUAL = 1.5
# Ratio of the noise of parts of the data beyond which it is called unequal.
_UNEQUAL = 2.0
# Supports whose log-likelihood differs by less cannot be told apart.
INDISTINGUISHABLE = 2.0


def sampling_notices(data: Data, smoothed: Smoothed | None) -> Iterator[Notice]:
    """Yield what the time axis allows: samples that can be used, periods seen, samples per period."""
    if isinstance(data, Field):
        return
    try:
        known = smooth(data) if smoothed is None else smoothed
        found = sampling(known.values, known.noise)
    except DataError:  # too short to smooth
        return
    lost = data.n_samples - found.samples
    if lost:
        yield Notice("short piece", f"{lost} samples lie in stretches of fewer than 8, too short to smooth: not used.")
    periods = found.periods
    if 0 < periods < _FEW_PERIODS:
        yield Notice(
            "short",
            f"Only about {periods:.1f} periods of data: several laws may fit so short a record. Measure longer.",
        )
    elif found.per_period < _COARSE:
        yield Notice(
            "coarse",
            f"Only about {found.per_period:.0f} samples per period: integrals between samples are inaccurate. "
            "Sample more often if you can.",
        )


def residual_notices(found: Whiteness, folds: Sequence[Problem], coef: Array) -> Iterator[Notice]:
    """Yield what the residuals of the chosen model say about the noise."""
    for name, ratio, lag in zip(found.target_names, found.ratio, found.lag, strict=True):
        if abs(lag) > _COLOURED:
            yield Notice(
                "coloured",
                f"{name}: neighbouring residuals are correlated ({lag:+.2f}): the noise is not white, or a term is "
                "missing. Confidence and standard errors are too optimistic.",
            )
        if ratio > _LARGE_RESIDUAL:
            yield Notice(
                "residual",
                f"{name}: residuals are {ratio:.1f} times the noise: the library may lack a term, or the samples are "
                "too far apart.",
            )
    if len(folds) < 2:
        return
    for i, name in enumerate(found.target_names):
        level = np.array([np.sqrt(fold.rss(coef)[i] / max(fold.n_samples_of(i), 1)) for fold in folds])
        if level.min() > 0 and level.max() > _UNEQUAL * level.min():
            yield Notice(
                "unequal",
                f"{name}: residuals are {level.max() / level.min():.1f} times as large in some parts of the data as in "
                "others: the noise changes, or the law does.",
            )


def ambiguity_notices(pool: Pool) -> Iterator[Notice]:
    """Yield which supports of the chosen size the data cannot tell apart."""
    for i, (target, members) in enumerate(pool.members.items()):
        rows = pool.problem.n_samples_of(i)
        alike = [m for m in members if 0.5 * rows * np.log1p(m.excess) < INDISTINGUISHABLE]
        if len(alike) < 2:
            continue
        common = set.intersection(*(set(m.terms) for m in alike))
        swapped = list(dict.fromkeys(name for m in alike for name in m.terms if name not in common))
        count = f"{len(alike)}" + ("" if len(alike) < len(members) or pool.complete[target] else " or more")
        yield Notice(
            "indistinguishable",
            f"{target}: {_joined(swapped)} stand in for each other here: these {count} supports are indistinguishable "
            f"({'; '.join(', '.join(m.terms) for m in alike[:4])}{'; ...' if len(alike) > 4 else ''}).",
        )


def selection_notices(selection: Selection, k_max: int) -> Iterator[Notice]:
    """Yield what the selection could not settle: nothing found, the largest size, no proof."""
    for choice in selection.choices:
        if choice.k == 0:
            yield Notice(
                "empty", f"{choice.equation}: no term is statistically justified: the right-hand side looks like noise."
            )
        elif choice.k >= k_max - 1 and k_max < len(selection.solution.problem.terms):
            yield Notice(
                "size", f"{choice.equation}: {choice.k} terms, next to the largest size tried; allow more with k_max=."
            )
    solution = selection.solution
    names = [c.equation for c in selection.choices]
    for name, status in zip(names, solution.status, strict=True):
        if status is not Status.OPTIMAL:
            yield Notice("unproved", f"{name}: {status.value}")
    if isinstance(solution.k, Total):
        return
    for i, choice in enumerate(selection.choices):
        proved = (Status.OPTIMAL, Status.INFEASIBLE)
        later = [k for k, s in enumerate(selection.path) if s.status[i] not in proved]
        if later and later[0] == choice.k + 1:
            yield Notice(
                "unproved", f"{choice.equation}: sizes from {later[0]} terms on are not proved within the time limit."
            )


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

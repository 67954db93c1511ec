"""Combinations of supports of single equations, in order of the sum of their values."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from exactsindy.solver.conditions import Conditions, Shares
from exactsindy.solver.outcome import Outcome
from exactsindy.solver.relaxation import SLACK, Relaxation

_MOST_NUMBERS = 20_000_000  # kept while two lists are joined


@dataclass(frozen=True, eq=False)
class Combinations:
    """Supports of all equations with lower bounds of their values, least first; all others are above ``reach``."""

    supports: list[tuple[int, ...]]
    values: NDArray[np.float64]
    reach: float


@dataclass(frozen=True, eq=False)
class _List:
    """Supports of one or more equations: values, numbers of terms, what presence rows and conditions add up to."""

    members: tuple[Sequence[tuple[int, ...]], ...]  # of each equation,
    chosen: NDArray[np.intp]  # and which of them every support consists of: one column per equation
    values: NDArray[np.float64]
    sizes: NDArray[np.intp]
    counts: NDArray[np.float64]
    shares: Shares

    def picked(self, chosen: NDArray[np.intp]) -> _List:
        return _List(
            self.members,
            self.chosen[chosen],
            self.values[chosen],
            self.sizes[chosen],
            self.counts[chosen],
            self.shares[chosen],
        )

    def supports(self) -> list[tuple[int, ...]]:
        parts = [[of[i] for i in rows] for of, rows in zip(self.members, self.chosen.T.tolist(), strict=True)]
        return [tuple(itertools.chain.from_iterable(terms)) for terms in zip(*parts, strict=True)]


def combinations(
    relaxation: Relaxation, pools: Sequence[Sequence[Outcome]], cut: float, sizes: Sequence[int] | None, most: int
) -> Combinations:
    """Combine the pools of all equations: every combination with a sum of at most ``cut``, or the ``most`` first."""
    reach, lists, conditions = cut, [], Conditions.of(relaxation)
    for e, outcomes in enumerate(pools):
        others = relaxation.others(e)
        for s, outcome in enumerate(outcomes):
            if outcome.answers and not outcome.complete:  # the pool holds the best ones only
                last = outcome.answers[-1].objective * relaxation.component.weights[e]
                reach = min(reach, (last + others[s]) * (1 - SLACK))
        lists.append(_listed(relaxation, e, outcomes, conditions))
    outer = _outer(relaxation)
    least = [float(one.values.min()) if len(one.values) else np.inf for one in lists]
    whole = lists[0]
    for j, following in enumerate(lists[1:], 1):
        rest = sum(least[j + 1 :])
        whole, reach = _joined(whole, following, reach, rest, relaxation.total)
    fits = (whole.counts <= relaxation.counts.rhs[outer]).all(axis=1) & (whole.sizes <= relaxation.total)
    fits &= whole.values <= reach * (1 + SLACK)
    if sizes is not None:
        fits &= np.isin(whole.sizes, sizes)
    whole = whole.picked(np.flatnonzero(fits))
    raised = whole.values + conditions.rises(whole.shares)
    whole = replace(whole, values=raised).picked(np.argsort(raised, kind="stable"))
    whole = whole.picked(np.arange(int(np.searchsorted(whole.values, reach * (1 + SLACK), side="right"))))
    if len(whole.values) > most:
        reach = float(whole.values[most]) * (1 - SLACK)
        whole = whole.picked(np.arange(most))
    return Combinations(whole.supports(), whole.values, reach)


def sums(
    lists: Sequence[tuple[Sequence[tuple[int, ...]], Sequence[float], Sequence[int]]], cut: float, most: int
) -> Combinations:
    """Combine lists of supports, values and sizes: every combination of at most ``most`` with a sum up to ``cut``.

    Reach is lowered where there are too many.
    """
    reach, parts = cut, []
    for supports, given, counted in lists:
        values, none = np.array(given), np.zeros((len(given), 0))
        shares, sizes = Shares(none, none, none), np.array(counted, dtype=np.intp)
        part = _List((supports,), _each(supports), values, sizes, none, shares)
        parts.append(part.picked(np.argsort(values, kind="stable")))
    least = [float(part.values[0]) if len(part.values) else np.inf for part in parts]
    whole = parts[0]
    for j, following in enumerate(parts[1:], 1):
        whole, reach = _joined(whole, following, reach, sum(least[j + 1 :]), most)
    whole = whole.picked(np.flatnonzero((whole.values <= reach * (1 + SLACK)) & (whole.sizes <= most)))
    return Combinations(whole.supports(), whole.values, reach)


def _outer(relaxation: Relaxation) -> list[int]:
    """Return the presence rows with terms of several equations: they are checked when all of them are there."""
    place = relaxation.equation_of
    return [r for r, row in enumerate(relaxation.presence.rows) if len({place[v] for v in row.variables}) > 1]


def _listed(relaxation: Relaxation, e: int, outcomes: Sequence[Outcome], conditions: Conditions) -> _List:
    """Return the supports of an equation that satisfy the rows on its own terms, sorted by value."""
    equation, weight, counts = relaxation.equations[e], relaxation.component.weights[e], relaxation.counts
    answers = sorted((a for outcome in outcomes for a in outcome.answers), key=lambda a: a.objective)
    supports = [tuple(equation.variables[list(a.support)].tolist()) for a in answers]
    outer = _outer(relaxation)
    own = np.array([relaxation.equation_of[row.variables[0]] == e for row in relaxation.presence.rows], dtype=np.bool_)
    own[outer] = False
    sums = counts.sums(supports)
    keep = np.flatnonzero((sums[:, own] <= counts.rhs[own]).all(axis=1))
    values = weight * np.array([a.objective for a in answers])
    sizes = np.array([len(s) for s in supports], dtype=np.intp)
    shares = conditions.shares(relaxation, e, answers)
    return _List((supports,), _each(supports), values, sizes, sums[:, outer], shares).picked(keep)


def _each(supports: Sequence[tuple[int, ...]]) -> NDArray[np.intp]:
    return np.arange(len(supports), dtype=np.intp)[:, None]


def _joined(a: _List, b: _List, reach: float, rest: float, total: int) -> tuple[_List, float]:
    """Join two lists sorted by value: every pair with a sum of at most reach - rest; reach is lowered if too many."""
    limit = (reach - rest) * (1 + SLACK)
    counts = np.searchsorted(b.values, limit - a.values, side="right")
    while counts.sum() > _MOST_NUMBERS // (20 + a.counts.shape[1] + 3 * a.shares.give.shape[1]):
        lowest = a.values[0] + b.values[0] + rest
        reach = lowest + (min(reach, a.values[-1] + b.values[-1] + rest) - lowest) * 0.7
        limit = (reach - rest) * (1 + SLACK)
        counts = np.searchsorted(b.values, limit - a.values, side="right")
    left = np.repeat(np.arange(len(a.values)), counts)
    right = np.arange(len(left)) - np.repeat(np.cumsum(counts) - counts, counts)
    fits = a.sizes[left] + b.sizes[right] <= total
    left, right = left[fits], right[fits]
    joined = _List(
        a.members + b.members,
        np.hstack([a.chosen[left], b.chosen[right]]),
        a.values[left] + b.values[right],
        a.sizes[left] + b.sizes[right],
        a.counts[left] + b.counts[right],
        a.shares[left] + b.shares[right],
    )
    order = np.argsort(joined.values, kind="stable")
    return joined.picked(order), reach

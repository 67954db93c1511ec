"""Held-out errors of every number of terms. Folds are problems, and a training set is the sum of the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.errors import SolverError
from exactsindy.interop.centring import Rows
from exactsindy.problem import Problem
from exactsindy.selection import HeldOutErrors
from exactsindy.solver import Settings, Solution, solve

Split = tuple[NDArray[np.intp], NDArray[np.intp]]

# Sizes tried beyond the best one so far.
PATIENCE = 3


def held_out(rows: Rows, splits: Sequence[Split], k_max: int, ridge: Any, settings: Settings) -> HeldOutErrors:
    """Return the errors on the test set of each split of the best models of its training set.

    Sizes up to ``k_max`` are tried until `PATIENCE` in a row have lowered no target's error: in noise, searches get
    costlier with every term and gain nothing.
    """
    folds = [(rows.searched(train), train, test, size) for train, test, size in _problems(rows, splits)]
    if not folds:
        raise SolverError("cv: no split has both training and test samples with a positive weight.")
    sizes = [size for *_, size in folds]
    found: list[Solution | None] = [None] * len(folds)
    table: list[list[Array]] = []
    for k in range(k_max + 1):
        row = []
        for i, (centred, train, test, size) in enumerate(folds):
            solution = solve(centred, k, ridge=ridge, start=found[i], settings=settings)
            row.append(test.rss(rows.with_constant(train, solution.coef)) / size)
            found[i] = solution
        table.append(row)
        means = np.average(table, axis=1, weights=sizes)
        if k - np.argmin(means, axis=0).max() >= PATIENCE:
            break
    return HeldOutErrors.of(np.swapaxes(table, 0, 1), sizes)


def _problems(rows: Rows, splits: Sequence[Split]) -> list[tuple[Problem, Problem, float]]:
    """Return training problem, test problem and weight of the test set; splits without weight are left out."""
    weight = [float(rows.weights[test].sum()) for _, test in splits]
    used = [i for i, (train, _) in enumerate(splits) if weight[i] > 0 and rows.weights[train].any()]
    tests = {i: rows.problem(splits[i][1]) for i in used}
    if _partition(splits, len(rows.x)):
        return [(sum(tests[j] for j in used if j != i), tests[i], weight[i]) for i in used]  # type: ignore[misc]
    return [(rows.problem(splits[i][0]), tests[i], weight[i]) for i in used]


def _partition(splits: Sequence[Split], count: int) -> bool:
    """Say whether the test sets are disjoint and each training set is all the others."""
    everything = np.sort(np.concatenate([test for _, test in splits]))
    if not np.array_equal(everything, np.arange(count)):
        return False
    return all(np.array_equal(np.sort(np.concatenate(split)), everything) for split in splits)

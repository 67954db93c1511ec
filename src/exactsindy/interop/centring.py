"""Regressions with a constant that is free: fitted, never counted as a term, and exact under sums of problems.

The constant is the first column of the problem. Of its triangular factor, everything but the first row and column is
then the factor of the centred data; so folds can be added first and centred afterwards: a training set is the sum of
the other folds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.errors import SolverError
from exactsindy.problem import Block, Problem
from exactsindy.selection import HeldOutErrors
from exactsindy.solver import Settings, Solution, solve

Split = tuple[NDArray[np.intp], NDArray[np.intp]]
# Sizes tried beyond the best one so far.
PATIENCE = 3
_BLOCK_ROWS = 4096
# A centred column that is this much smaller than it was is a constant: what is left of it is rounding.
_CONSTANT = 1e-13


@dataclass(frozen=True)
class Rows:
    """Samples of a regression, shifted so that a large common offset costs no digits."""

    x: Array
    y: Array
    weights: Array
    names: tuple[str, ...]
    intercept: bool

    @cached_property
    def offsets(self) -> tuple[Array, Array]:
        """What is subtracted from the columns of x and y: their means."""
        used = self.weights > 0
        if not self.intercept or not used.any():
            return np.zeros(self.x.shape[1]), np.zeros(self.y.shape[1])
        x, y, weights = (a if used.all() else a[used] for a in (self.x, self.y, self.weights))
        return np.average(x, axis=0, weights=weights), np.average(y, axis=0, weights=weights)

    def problem(self, chosen: NDArray[np.intp] | None = None) -> Problem:
        """Return the regression of all or some samples; with an intercept its first term is the constant."""
        shift_x, shift_y = self.offsets
        targets = ["y"] if self.y.shape[1] == 1 else [f"y{j}" for j in range(self.y.shape[1])]
        index = np.arange(len(self.x)) if chosen is None else chosen

        def chunks() -> Iterator[tuple[Array, Array, Array]]:
            for start in range(0, len(index), _BLOCK_ROWS):
                rows = index[start : start + _BLOCK_ROWS]
                theta = self.x[rows] - shift_x
                constant = [np.ones((len(rows), 1))] if self.intercept else []
                yield np.hstack([*constant, theta]), self.y[rows] - shift_y, self.weights[rows]

        names = (_CONSTANT_NAME, *self.names) if self.intercept else self.names
        return Problem.from_chunks(chunks(), names=names, target_names=targets)

    def searched(self, problem: Problem) -> Problem:
        """Return the problem whose terms compete: that of the centred data, if there is an intercept."""
        return centred(problem) if self.intercept else problem

    def with_constant(self, problem: Problem, coef: Array) -> Array:
        """Return coefficients of `problem` (targets x its terms): the constant is the best for ``coef``."""
        if not self.intercept:
            return coef
        factor, width = problem.blocks[0].factor, coef.shape[1]
        scale = factor[0, 0] if factor[0, 0] > 0 else 1.0
        constant = (factor[0, width + 1 :] - coef @ factor[0, 1 : width + 1]) / scale
        return np.column_stack([constant, coef])

    def original(self, problem: Problem, coef: Array) -> Array:
        """Return the intercepts in the units of the data."""
        if not self.intercept:
            return np.zeros(len(coef))
        shift_x, shift_y = self.offsets
        return np.asarray(shift_y + self.with_constant(problem, coef)[:, 0] - coef @ shift_x)


# No feature can have this name: names of features are not padded.
_CONSTANT_NAME = " 1"


def centred(problem: Problem) -> Problem:
    """Return the regression with the first term projected out of all columns and targets."""
    (block,) = problem.blocks
    factor = np.array(block.factor[1:, 1:])
    before = np.linalg.norm(block.factor[:, 1:], axis=0)
    constant = np.linalg.norm(factor, axis=0) <= _CONSTANT * before
    constant[len(block.terms) - 1 :] = False  # targets keep what little they have
    factor[:, constant] = 0.0
    rows = max(block.n_samples - 1, 0)
    factor[rows:] = 0.0
    return Problem((Block(factor, rows, block.terms[1:], block.target_names),))


def feature_names(names: Sequence[object] | None, count: int) -> tuple[str, ...]:
    """Return names of the columns: the given ones if they are distinct texts, else x0, x1, ..."""
    if names is not None and all(isinstance(n, str) and n == n.strip() and n for n in names):
        given = tuple(str(name) for name in names)
        if len(set(given)) == count:
            return given
    return tuple(f"x{j}" for j in range(count))


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

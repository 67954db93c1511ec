"""Parts of a regression: their sum, all but one of them, and draws with replacement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from exactsindy.problem import Problem


@dataclass(frozen=True, eq=False)
class Folds:
    """Parts of a regression, contiguous in time (one if they cannot be divided), and their sum, computed once.

    ``floor`` holds for each equation the residual sum of squares of the whole below which differences say nothing about
    terms, because the data have errors of that size that are no noise; empty if nothing is known of it.
    """

    parts: tuple[Problem, ...]
    floor: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.parts)

    @cached_property
    def whole(self) -> Problem:
        """The regression of all parts together."""
        return self.parts[0] if len(self.parts) == 1 else weighted_sum(self.parts, [1.0] * len(self.parts))


def leave_one_out(folds: Sequence[Problem]) -> list[Problem]:
    """Return for each fold the sum of the others."""
    ones = np.ones(len(folds))
    return [weighted_sum(folds, np.where(np.arange(len(folds)) == i, 0.0, ones)) for i in range(len(folds))]


def resamples(folds: Sequence[Problem], count: int, seed: int) -> list[Problem]:
    """Return sums of folds drawn with replacement."""
    rng = np.random.default_rng(seed)
    shares = [1 / len(folds)] * len(folds)
    return [weighted_sum(folds, rng.multinomial(len(folds), shares)) for _ in range(count)]


def weighted_sum(folds: Sequence[Problem], weights: ArrayLike) -> Problem:
    """Return sum_i weights[i] * folds[i], with one factorisation per block instead of one per fold."""
    used = [(float(w), fold) for w, fold in zip(np.asarray(weights), folds, strict=True) if w > 0]
    blocks = []
    for b, first in enumerate(folds[0].blocks):
        parts = [(np.sqrt(w), fold.blocks[b]) for w, fold in used]
        stacked = np.vstack([root * block.factor for root, block in parts])
        factor = np.zeros_like(first.factor)
        triangle = np.triu(np.linalg.qr(stacked, mode="r"))
        factor[: len(triangle)] = triangle
        n = sum(block.n_samples for _, block in parts)
        factor[n:] = 0.0  # fewer rows than columns leave rounding below them
        blocks.append(replace(first, factor=factor, n_samples=n))
    return Problem(tuple(blocks))

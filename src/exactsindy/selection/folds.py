"""Parts of a regression: their sum, all but one of them, and draws with replacement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.problem import Problem

# Least diagonal entry of a Cholesky factor in units of the whole at which products lose no more than four digits.
_LEAST_ROOT = 1e-2
# Numbers that products of folds may take: 160 megabytes.
_MOST_NUMBERS = 20_000_000


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


def resamples(folds: Sequence[Problem], count: int, seed: int) -> Iterator[Problem]:
    """Yield sums of folds drawn with replacement."""
    rng = np.random.default_rng(seed)
    shares = [1 / len(folds)] * len(folds)
    numbers = len(folds) * sum(block.factor.size for block in folds[0].blocks)
    fractions = _Fractions.of(folds) if count > 1 and numbers <= _MOST_NUMBERS else None
    for _ in range(count):
        weights = rng.multinomial(len(folds), shares)
        problem = None if fractions is None else fractions.weighted_sum(folds, weights)
        yield weighted_sum(folds, weights) if problem is None else problem


@dataclass(frozen=True, eq=False)
class _Fractions:
    """Folds in units of their sum: for many weighted sums, each by products instead of a factorisation of all rows.

    With R the factor of all folds together and R_f that of one, X_f = R_f / R has X_f'X_f = P_f, and these add up to
    the identity. The factor of a weighted sum is chol(sum_f w_f P_f) R. As in the compression of many rows, products
    lose no digits here that the data have, unless the weighted folds lack what the others hold: then there is none.
    """

    factors: tuple[Array, ...]
    products: tuple[Array, ...]  # of each block, folds x columns x columns

    @classmethod
    def of(cls, folds: Sequence[Problem]) -> _Fractions | None:
        whole = weighted_sum(folds, np.ones(len(folds)))
        products = []
        for b, block in enumerate(whole.blocks):
            if not np.diagonal(block.factor).all():
                return None
            parts = []
            for fold in folds:
                go_on()
                share = np.linalg.solve(block.factor.T, fold.blocks[b].factor.T)
                parts.append(share @ share.T)
            products.append(np.array(parts))
        return cls(tuple(block.factor for block in whole.blocks), tuple(products))

    def weighted_sum(self, folds: Sequence[Problem], weights: ArrayLike) -> Problem | None:
        """Return sum_i weights[i] * folds[i]; None where products would lose digits."""
        drawn, blocks = np.asarray(weights, dtype=float), []
        for b, (factor, products) in enumerate(zip(self.factors, self.products, strict=True)):
            try:
                root = np.linalg.cholesky(np.tensordot(drawn, products, 1))
            except np.linalg.LinAlgError:
                return None
            if np.diagonal(root).min() < _LEAST_ROOT:
                return None
            n = sum(fold.blocks[b].n_samples for fold, w in zip(folds, drawn, strict=True) if w > 0)
            blocks.append(replace(folds[0].blocks[b], factor=np.triu(root.T @ factor), n_samples=n))
        return Problem(tuple(blocks))


def weighted_sum(folds: Sequence[Problem], weights: ArrayLike) -> Problem:
    """Return sum_i weights[i] * folds[i], with one factorisation per block instead of one per fold."""
    used = [(float(w), fold) for w, fold in zip(np.asarray(weights), folds, strict=True) if w > 0]
    blocks = []
    for b, first in enumerate(folds[0].blocks):
        go_on()
        parts = [(np.sqrt(w), fold.blocks[b]) for w, fold in used]
        stacked = np.vstack([root * block.factor for root, block in parts])
        factor = np.zeros_like(first.factor)
        triangle = np.triu(np.linalg.qr(stacked, mode="r"))
        factor[: len(triangle)] = triangle
        n = sum(block.n_samples for _, block in parts)
        factor[n:] = 0.0  # fewer rows than columns leave rounding below them
        blocks.append(replace(first, factor=factor, n_samples=n))
    return Problem(tuple(blocks))

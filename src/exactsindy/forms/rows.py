"""Rows of a form: summed to a problem or to folds of it, and the size and correlation of their residuals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from exactsindy._types import Array
from exactsindy.data import cuts
from exactsindy.errors import DataError
from exactsindy.forms.base import EquationGroup
from exactsindy.problem import Problem


class Rows(Protocol):
    """Rows of some equations in one trajectory or field, sorted by time."""

    def __len__(self) -> int: ...

    def rows(self, low: int, high: int) -> Iterator[tuple[Array, Array]]:
        """Yield (theta, targets) of the rows ``low`` to ``high``."""


def summed(
    equations: Sequence[EquationGroup], sources: Sequence[Sequence[Rows]], count: int | None, what: str
) -> tuple[Problem, ...]:
    """Return the problem of the rows of all equations, member by member, or ``count`` folds of it (of ``what``)."""
    lengths = [min(len(rows) for rows in member) for member in zip(*sources, strict=True)]
    if count is not None:
        check_count(count, sum(lengths), what)
    return tuple(of_ranges(equations, sources, ranges) for ranges in parts(lengths, count or 1))


def of_ranges(
    equations: Sequence[EquationGroup], sources: Sequence[Sequence[Rows]], ranges: Sequence[tuple[int, int, int]]
) -> Problem:
    """Return the problem of ranges (member, start, stop) of the rows of all equations."""
    return Problem.from_blocks(
        Problem.from_chunks(
            (chunk for i, low, high in ranges for chunk in members[i].rows(low, high)),
            names=group.features.terms,
            target_names=group.target_names,
        )
        for group, members in zip(equations, sources, strict=True)
    )


def check_count(count: int, largest: int, what: str) -> None:
    """Refuse a number of folds that leaves one without rows."""
    if not (isinstance(count, int) and 2 <= count <= largest):
        raise DataError(f"folds(count={count!r}): expected an integer from 2 to {largest}, the {what}.")


def parts(lengths: Sequence[int], count: int) -> list[list[tuple[int, int, int]]]:
    """Return for each of ``count`` parts the ranges (member, start, stop) of members laid end to end."""
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    return [
        [
            (i, max(low - start, 0), min(high - start, n))
            for i, (start, n) in enumerate(zip(starts, lengths, strict=True))
            if start < high and start + n > low
        ]
        for low, high in pairwise(cuts(sum(lengths), count))
    ]


@dataclass(frozen=True)
class Whiteness:
    """How far the residuals of whitened rows are from independent noise of the expected size, per equation.

    ``ratio`` is their standard deviation (1 if the noise is as estimated), ``lag`` the correlation of
    neighbours (0 for white measurement noise).
    """

    target_names: tuple[str, ...]
    ratio: Array
    lag: Array

    def __str__(self) -> str:
        lines = (
            f"{name}: residual {ratio:.2f} of the noise, correlation of neighbours {lag:+.2f}"
            for name, ratio, lag in zip(self.target_names, self.ratio, self.lag, strict=True)
        )
        return "\n".join(lines)


def lag_correlation(residuals: Sequence[Array]) -> float:
    """Return the correlation of neighbouring residuals, pooled over stretches (samples, or samples x columns).

    The mean is not subtracted. Residuals that are all zero have correlation 0.
    """
    square = sum(float((part**2).sum()) for part in residuals)
    product = sum(float((part[1:] * part[:-1]).sum()) for part in residuals)
    return product / max(square, float(np.finfo(float).tiny))

"""Shares and their ratios with intervals: whole systems are drawn again, because their equations go together."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Row = TypeVar("Row")

_DRAWS = 2000
_LEVEL = 0.95


@dataclass(frozen=True)
class Share:
    """A share or a ratio of shares, its 95 % interval, and how many rows and systems it is of.

    Examples
    --------
    >>> str(Share(0.5, 0.25, 0.75, 12, 4)), str(Share(float("nan"), 0.0, 0.0, 0, 0))
    ('0.500 (0.25 to 0.75)', '-')
    """

    value: float
    low: float
    high: float
    rows: int
    systems: int

    def __str__(self) -> str:
        return "-" if math.isnan(self.value) else f"{self.value:.3f} ({self.low:.2f} to {self.high:.2f})"


def share(rows: Iterable[Row], hit: Callable[[Row], bool], system: Callable[[Row], Hashable]) -> Share:
    """Return the share of the rows that hit, with the interval of a bootstrap over systems.

    Examples
    --------
    >>> found = share([("a", True), ("a", True), ("b", False), ("b", False)], lambda r: r[1], lambda r: r[0])
    >>> found.value, found.low, found.high, found.systems
    (0.5, 0.0, 1.0, 2)
    """
    members = list(rows)
    sums = _sums(members, [hit, lambda row: True], system)
    return _estimated(sums, lambda s: s[..., 0] / s[..., 1], len(members))


def share_ratio(
    rows: Iterable[Row],
    hit: Callable[[Row], bool],
    system: Callable[[Row], Hashable],
    above: Callable[[Row], bool],
    below: Callable[[Row], bool],
) -> Share:
    """Return the share of hits among the rows ``above`` over that among the rows ``below``, with its interval."""
    members = list(rows)
    tests: list[Callable[[Row], bool]] = [
        lambda row: above(row) and hit(row),
        above,
        lambda row: below(row) and hit(row),
        below,
    ]
    sums = _sums(members, tests, system)
    count = int(sums[:, 1].sum()) if len(sums) else 0
    return _estimated(sums, lambda s: s[..., 0] / s[..., 1] / (s[..., 2] / s[..., 3]), count)


def _sums(rows: Sequence[Row], tests: Sequence[Callable[[Row], bool]], system: Callable[[Row], Hashable]) -> Array:
    """Return how many rows of each system pass each test."""
    groups: dict[Hashable, Array] = {}
    for row in rows:
        groups.setdefault(system(row), np.zeros(len(tests)))
        groups[system(row)] += [test(row) for test in tests]
    return np.array(list(groups.values()))


def _estimated(sums: Array, value: Callable[[Array], Array], rows: int) -> Share:
    if not rows:
        return Share(math.nan, math.nan, math.nan, 0, 0)
    draws = np.random.default_rng(0).integers(len(sums), size=(_DRAWS, len(sums)))
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn, own = value(sums[draws].sum(axis=1)), float(value(sums.sum(axis=0)))
    known = drawn[np.isfinite(drawn)]
    low, high = np.quantile(known, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2]) if len(known) else (math.nan, math.nan)
    return Share(own, float(low), float(high), rows, len(sums))

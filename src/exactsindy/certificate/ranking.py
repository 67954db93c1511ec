"""The two least objectives of every size, by looking at all supports."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from exactsindy.certificate.enumeration import ROUNDING, Places, Tree
from exactsindy.certificate.exact import CheckedEquation, as_float
from exactsindy.certificate.judging import Normal
from exactsindy.problem import COEFFICIENT_LIMIT

#: Libraries with more supports of the asked size are not enumerated.
MOST_SUPPORTS = 1_000_000
#: At most this many supports of one size are judged in exact arithmetic (about 1 ms each).
_MOST_JUDGED = 10_000
_MOST_LISTED = 5_000
#: Values closer than this count as equal here; claims are compared to 1e-9.
_SAME = 1e-13


@dataclass(frozen=True)
class Interval:
    """Where an objective lies: ``high`` counts supports that are surely admissible, ``low`` also those that may be."""

    low: float
    high: float


@dataclass(frozen=True)
class Ranking:
    """For each size 0, 1, ...: the least and the second least objective (fewer if there are fewer supports).

    ``blur`` is the largest rounding of a residual norm among them. ``decided`` is False if so many supports had to be
    judged that some were not.
    """

    sizes: tuple[tuple[Interval, ...], ...]
    blur: float = 0.0
    decided: bool = True


def countable(equation: CheckedEquation, size: int) -> bool:
    """Return True if the supports of this size are few enough to look at all of them."""
    width = len(equation.usable)
    return max(math.comb(width, s) for s in range(min(size, width) + 1)) <= MOST_SUPPORTS


def rank(equation: CheckedEquation, size: int, limit: float = COEFFICIENT_LIMIT) -> Ranking:
    """Return the two least objectives of each size up to ``size`` over all admissible supports."""
    normal = Normal(equation, limit)
    tree = Tree(normal)
    most = min(size, len(equation.usable))
    leaders = [_Leaders(normal, tree) for _ in range(most + 1)]
    leaders[0].add((), np.zeros((1, 0), dtype=np.intp), np.array([tree.empty]))

    def visit(support: tuple[int, ...], columns: Places, shares: NDArray[np.float64]) -> None:
        leaders[len(support) + columns.shape[1]].add(support, columns, shares)

    tree.walk(most, visit)
    blur = max(leader.blur for leader in leaders)
    return Ranking(tuple(leader.two_least() for leader in leaders), blur, all(leader.decided for leader in leaders))


class Rankings:
    """The rankings of equations of one problem: each is enumerated once, for the largest size announced for it."""

    def __init__(self, sizes: Iterable[tuple[CheckedEquation, int, float]]) -> None:
        self._largest: dict[tuple[str, float, bytes, float], int] = {}
        self._known: dict[tuple[str, float, bytes, float], Ranking] = {}
        for equation, size, limit in sizes:
            if countable(equation, size):
                key = _key(equation, limit)
                self._largest[key] = max(size, self._largest.get(key, 0))

    def of(self, equation: CheckedEquation, size: int, limit: float) -> Ranking | None:
        """Return the ranking of an equation up to a size; None if there are too many supports."""
        if not countable(equation, size):
            return None
        key = _key(equation, limit)
        if key not in self._known:
            self._known[key] = rank(equation, max(size, self._largest.get(key, 0)), limit)
        known = self._known[key]
        return Ranking(known.sizes[: size + 1], known.blur, known.decided)


def _key(equation: CheckedEquation, limit: float) -> tuple[str, float, bytes, float]:
    return equation.name, equation.weight, equation.ridge.tobytes(), limit


@dataclass(frozen=True)
class Missing:
    """What a list of supports of one size lacks, and how many there are.

    ``absent`` is one that is surely below the level, None if there is none, or if it is not ``known``. ``admissible``
    counts those that surely are, listed ones included; None says that too many would have to be judged.
    """

    absent: tuple[int, ...] | None
    known: bool
    admissible: int | None


def missing(normal: Normal, size: int, level: float, listed: Collection[tuple[int, ...]], count_to: int) -> Missing:
    """Look for admissible supports of exactly ``size`` columns below a level that are not listed.

    Of those that are not listed, some thousand are judged. Admissible ones are counted up to ``count_to``.
    """
    tree = Tree(normal)
    lower: list[tuple[int, ...]] = []
    others: list[tuple[int, ...]] = []

    def visit(support: tuple[int, ...], columns: Places, shares: NDArray[np.float64]) -> None:
        if len(support) + columns.shape[1] != size:
            return
        for added, share in zip(columns.tolist(), shares.tolist(), strict=True):
            value = as_float(normal.equation.constant) + tree.value(share * (1 + _SAME) + ROUNDING)
            place = lower if value < level else others
            if len(place) < _MOST_LISTED and (*support, *added) not in listed:
                place.append((*support, *added))

    if size:
        tree.walk(size, visit)
    elif () not in listed:
        (lower if as_float(normal.judge(()).value or Fraction(0)) < level else others).append(())
    absent = next((support for support in sorted(lower) if normal.judge(support).admissible), None)
    known = absent is not None or len(lower) < _MOST_LISTED
    count = 0
    for support in (*listed, *lower, *others):
        if count >= count_to:
            break
        count += normal.judge(support).admissible is True
    whole = count >= count_to or max(len(lower), len(others)) < _MOST_LISTED
    return Missing(absent, known, count if whole else None)


def combine(rankings: Sequence[Ranking], size: int) -> Ranking:
    """Return the ranking of a budget shared by several equations (min-plus convolution over the sizes)."""
    joint: tuple[tuple[Interval, ...], ...] = ((Interval(0.0, 0.0),),)
    for ranking in rankings:
        sums: list[list[Interval]] = [[] for _ in range(min(size, len(joint) + len(ranking.sizes) - 2) + 1)]
        for (a, left), (b, right) in itertools.product(enumerate(joint), enumerate(ranking.sizes)):
            if a + b < len(sums):
                sums[a + b] += [Interval(x.low + y.low, x.high + y.high) for x in left for y in right]
        joint = tuple(_order(intervals) for intervals in sums)
    return Ranking(joint, math.hypot(*(r.blur for r in rankings)), all(r.decided for r in rankings))


def _order(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    """Return intervals that hold the least and the second least of numbers known to lie in the given ones."""
    known = list(intervals)
    lows, highs = sorted(i.low for i in known), sorted(i.high for i in known)
    return tuple(Interval(low, high) for low, high in zip(lows[:2], highs[:2], strict=True))


@dataclass
class _Leaders:
    """The supports of one size that are least or second least, and those that may be."""

    normal: Normal
    tree: Tree
    sure: list[tuple[float, float]] = field(default_factory=list)  # share and objective
    maybe: list[tuple[float, float]] = field(default_factory=list)
    level: float = math.inf
    blur: float = 0.0
    judged: int = 0
    decided: bool = True

    def add(self, support: tuple[int, ...], columns: Places, shares: NDArray[np.float64]) -> None:
        """Take in supports with the same beginning."""
        low = np.flatnonzero(shares < self.level)
        for i in low[np.argsort(shares[low], kind="stable")]:
            share = float(shares[i])
            if not share < self.level:
                return  # those before it lowered the level
            if self.judged >= _MOST_JUDGED:
                self.decided = False
                return
            self.judged += 1
            judged = self.normal.judge((*support, *columns[i].tolist()))
            if judged.admissible is False or judged.value is None:
                continue
            entry = (share, as_float(judged.value))
            self.blur = max(self.blur, judged.blur)
            if judged.admissible is None:
                self.maybe.append(entry)
                continue
            self.sure = sorted([*self.sure, entry])[:2]
            if len(self.sure) == 2:
                self.level = max(self.sure[1][0] * (1 - _SAME) - ROUNDING, 0.0)

    def two_least(self) -> tuple[Interval, ...]:
        """Return where the least and the second least objective lie."""
        values = [Interval(value, value) for _, value in self.sure]
        return _order(values + [Interval(value, math.inf) for share, value in self.maybe if share <= self._end()])

    def _end(self) -> float:
        return self.sure[1][0] if len(self.sure) == 2 else math.inf

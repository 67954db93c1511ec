"""The two least objectives of every size, by looking at all supports in plain batches."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactsindy.certificate.exact import CheckedEquation, NormalEquations, as_float

Array = NDArray[np.float64]
Scored = tuple[NDArray[np.intp], Array, Array]
#: Libraries with more supports of the asked size are not enumerated.
MOST_SUPPORTS = 1_000_000
_BATCH = 4096
#: At most this many supports of one size are compared exactly; the others keep their rounding intervals.
_MOST_EXACT = 500
_MOST_KEPT = 10 * _MOST_EXACT
_EPS = float(np.finfo(np.float64).eps)
_DEPENDENCE = 1e-13


@dataclass(frozen=True)
class Interval:
    """Where an objective lies; ``low == high`` where it was computed exactly."""

    low: float
    high: float


#: For each size 0, 1, ...: the least and the second least objective (fewer if there are fewer supports).
Ranking = tuple[tuple[Interval, ...], ...]


def countable(equation: CheckedEquation, size: int) -> bool:
    """Return True if the supports of this size are few enough to look at all of them."""
    width = len(_usable(equation))
    return max(math.comb(width, s) for s in range(min(size, width) + 1)) <= MOST_SUPPORTS


def rank(equation: CheckedEquation, size: int) -> Ranking:
    """Return the two least objectives of each size up to ``size`` over all admissible supports.

    A support is admissible if it has no zero column and each column is farther than 1e-13 of its norm from the span of
    those before it. Supports that doubles cannot separate are compared exactly.
    """
    columns, target, scale = _scaled(equation)
    exact = NormalEquations(equation)
    ranking = []
    for count in range(min(size, len(_usable(equation))) + 1):
        leaders = _Leaders()
        for batch in _admissible(equation, count, columns, target, exact):
            leaders.add(*batch)
        ranking.append(leaders.two_least(equation, exact, scale))
    return tuple(ranking)


class Rankings:
    """The rankings of equations of one problem: each is enumerated once, for the largest size announced for it."""

    def __init__(self, sizes: Iterable[tuple[CheckedEquation, int]]) -> None:
        self._largest: dict[tuple[str, float, bytes], int] = {}
        self._known: dict[tuple[str, float, bytes], Ranking] = {}
        for equation, size in sizes:
            if countable(equation, size):
                key = _key(equation)
                self._largest[key] = max(size, self._largest.get(key, 0))

    def of(self, equation: CheckedEquation, size: int) -> Ranking | None:
        """Return the ranking of an equation up to a size; None if there are too many supports."""
        if not countable(equation, size):
            return None
        key = _key(equation)
        if key not in self._known:
            self._known[key] = rank(equation, max(size, self._largest.get(key, 0)))
        return self._known[key][: size + 1]


def _key(equation: CheckedEquation) -> tuple[str, float, bytes]:
    return equation.name, equation.weight, equation.ridge.tobytes()


def below(equation: CheckedEquation, size: int, level: float) -> tuple[set[tuple[int, ...]], int]:
    """Return the supports of exactly ``size`` columns that are surely below a level, and how many are admissible.

    Where very many are below the level, some of them are left out.
    """
    columns, target, scale = _scaled(equation)
    better: set[tuple[int, ...]] = set()
    count = 0
    for supports, norm, slack in _admissible(equation, size, columns, target, NormalEquations(equation)):
        count += len(supports)
        surely = ((norm + slack) * scale) ** 2 + equation.constant < level
        if len(better) < _MOST_KEPT:
            better.update(map(tuple, supports[surely].tolist()))
    return better, count


def combine(rankings: Sequence[Ranking], size: int) -> Ranking:
    """Return the ranking of a budget shared by several equations (min-plus convolution over the sizes)."""
    joint: Ranking = ((Interval(0.0, 0.0),),)
    for ranking in rankings:
        sums: list[list[Interval]] = [[] for _ in range(min(size, len(joint) + len(ranking) - 2) + 1)]
        for (a, left), (b, right) in itertools.product(enumerate(joint), enumerate(ranking)):
            if a + b < len(sums):
                sums[a + b] += [Interval(x.low + y.low, x.high + y.high) for x in left for y in right]
        joint = tuple(_order(intervals) for intervals in sums)
    return joint


def _order(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    """Return intervals that hold the least and the second least of numbers known to lie in the given ones."""
    known = list(intervals)
    lows, highs = sorted(i.low for i in known), sorted(i.high for i in known)
    return tuple(Interval(low, high) for low, high in zip(lows[:2], highs[:2], strict=True))


class _Leaders:
    """The supports of one size that may be least or second least."""

    def __init__(self) -> None:
        self.kept: list[tuple[float, float, tuple[int, ...]]] = []
        self.dropped = math.inf

    def add(self, supports: NDArray[np.intp], norm: Array, slack: Array) -> None:
        low, high = np.maximum(norm - slack, 0.0), norm + slack
        level = np.sort(np.append(high, [entry[1] for entry in self.kept]))[:2]
        if len(level) == 2:
            self.kept = [entry for entry in self.kept if entry[0] <= level[1]]
            close = low <= level[1]
            supports, low, high = supports[close], low[close], high[close]
        self.kept.extend(zip(low.tolist(), high.tolist(), map(tuple, supports.tolist()), strict=True))
        if len(self.kept) > _MOST_KEPT:
            # So many ties: the rest is remembered as "somewhere above the least of their lower ends".
            self.kept.sort()
            self.dropped = min(self.dropped, self.kept[_MOST_KEPT][0])
            del self.kept[_MOST_KEPT:]

    def two_least(self, equation: CheckedEquation, exact: NormalEquations, scale: float) -> tuple[Interval, ...]:
        intervals = []
        for position, (low, high, support) in enumerate(sorted(self.kept)):
            ends = (low * scale) ** 2, (high * scale) ** 2
            if position < _MOST_EXACT:
                ends = (as_float(exact.pivots(support)[1]),) * 2
            intervals.append(Interval(ends[0] + equation.constant, ends[1] + equation.constant))
        if self.dropped < math.inf:
            intervals += [Interval((self.dropped * scale) ** 2 + equation.constant, math.inf)] * 2
        return _order(intervals)


def _scaled(equation: CheckedEquation) -> tuple[Array, Array, float]:
    """Return unit columns with the ridge inside, a unit target (both compressed), and the target's norm."""
    norms = np.array([norm or 1.0 for norm in equation.norms])
    root = math.sqrt(equation.weight)
    scale = root * math.hypot(*equation.z) or 1.0
    columns = np.vstack([root * equation.factor, np.diag(np.sqrt(equation.ridge))]) / norms
    target = np.append(root * equation.z, np.zeros(len(norms))) / scale
    triangle = np.asarray(np.linalg.qr(np.column_stack([columns, target]), mode="r"))
    return triangle[:, :-1], triangle[:, -1], scale


def _usable(equation: CheckedEquation) -> list[int]:
    return [int(j) for j in np.flatnonzero(equation.factor.any(axis=0))]


def _admissible(
    equation: CheckedEquation, count: int, columns: Array, target: Array, exact: NormalEquations
) -> Iterator[Scored]:
    """Yield the admissible supports of one size in batches, with their residual norms and the rounding of these."""
    candidates = itertools.combinations(_usable(equation), count)
    while chunk := list(itertools.islice(candidates, _BATCH)):
        supports = np.array(chunk, dtype=np.intp).reshape(len(chunk), count)
        norm, slack, good = _norms(columns, target, supports, exact)
        yield supports[good], norm[good], slack[good]


def _norms(
    columns: Array, target: Array, supports: NDArray[np.intp], exact: NormalEquations
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return residual norms, their rounding, and which supports are admissible (Gram-Schmidt on a batch)."""
    batch, size = supports.shape
    rounding = 16 * (size + 2) * math.sqrt(len(target)) * _EPS
    work = [*(columns[:, supports[:, i]] for i in range(size)), np.repeat(target[:, None], batch, axis=1)]
    good = np.ones(batch, dtype=bool)
    shares = np.zeros((size, size + 1, batch))
    for i in range(size):
        length = np.sqrt(np.einsum("rb,rb->b", work[i], work[i]))
        unsure = np.abs(length - _DEPENDENCE) <= rounding * _spread(shares[:i, : i + 1])
        far = length > _DEPENDENCE
        for b in np.flatnonzero(unsure & good):
            far[b] = exact.independent(tuple(supports[b, : i + 1].tolist()))
        good &= far
        unit = work[i] / np.where(good, length, 1.0)
        shares[i, i] = np.where(good, length, 1.0)
        for j in range(i + 1, size + 1):
            shares[i, j] = np.einsum("rb,rb->b", unit, work[j])
            work[j] = work[j] - shares[i, j] * unit
    norm = np.sqrt(np.einsum("rb,rb->b", work[size], work[size]))
    return norm, rounding * _spread(shares), good


def _spread(shares: Array) -> Array:
    """Return 1 + sum |x_i| for the coefficients x of the last column on the ones before it."""
    solution = np.zeros((len(shares), shares.shape[2]))
    for i in reversed(range(len(shares))):
        known = np.einsum("jb,jb->b", shares[i, i + 1 : -1], solution[i + 1 :])
        solution[i] = (shares[i, -1] - known) / shares[i, i]
    return np.asarray(1.0 + np.abs(solution).sum(axis=0))

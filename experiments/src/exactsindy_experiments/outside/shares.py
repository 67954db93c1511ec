"""How sure a share is, and whether two methods differ on the same draws."""

from __future__ import annotations

import math
from collections.abc import Iterable

#: Two-sided 95 %.
_Z = 1.959963984540054


def wilson(right: int, count: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share; (0, 1) where nothing was drawn.

    Examples
    --------
    >>> [round(end, 3) for end in wilson(47, 50)]
    [0.838, 0.979]
    """
    if not count:
        return 0.0, 1.0
    share, weight = right / count, _Z**2 / count
    centre = share + weight / 2
    reach = _Z * math.sqrt((share * (1 - share) + weight / 4) / count)
    return max(0.0, (centre - reach) / (1 + weight)), min(1.0, (centre + reach) / (1 + weight))


def mcnemar(pairs: Iterable[tuple[bool, bool]]) -> tuple[int, int, float]:
    """Return in how many draws only the first is right, only the second, and the exact two-sided p-value.

    Examples
    --------
    >>> mcnemar([(True, False)] * 6 + [(True, True)] * 20)
    (6, 0, 0.03125)
    """
    first = second = 0
    for one, other in pairs:
        first += one and not other
        second += other and not one
    total = first + second
    tail = sum(math.comb(total, i) for i in range(min(first, second) + 1)) / 2.0**total
    return first, second, min(1.0, 2 * tail)


def fisher_below(right: int, count: int, published: float, trials: int) -> float:
    """Return the one-sided p-value (Fisher) that our share is below a published share of so many other draws.

    Examples
    --------
    >>> fisher_below(40, 50, 1.0, 1000) < 1e-6, fisher_below(50, 50, 0.9, 1000)
    (True, 1.0)
    """
    others = round(published * trials)
    total, good = count + trials, right + others
    ways = math.comb(total, count)
    low = max(0, count - (total - good))
    return sum(math.comb(good, i) * math.comb(total - good, count - i) for i in range(low, right + 1)) / ways

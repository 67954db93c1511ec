"""Supports of several equations together that could be better than a given one: their fits without conditions are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from exactsindy.certificate.enumeration import Places, Tree
from exactsindy.certificate.exact import as_float
from exactsindy.certificate.judging import Normal
from exactsindy.certificate.ranking import countable

#: More supports than this are not fitted under conditions (about 0.2 ms each).
MOST_FITTED = 20_000
_MOST_LISTED = 200_000
#: One support of one equation: its objective without conditions, and its columns.
Single = tuple[float, tuple[int, ...]]


def contenders(
    normals: Sequence[Normal], caps: Sequence[int], budget: int, level: float
) -> Iterator[tuple[tuple[int, ...], ...]] | None:
    """Yield the supports (columns of each equation) whose objective without conditions is at most a level.

    Supports with dependent columns are left out: they do not count. None if there are too many to list.
    """
    if not all(countable(normal.equation, cap) for normal, cap in zip(normals, caps, strict=True)):
        return None
    lists: list[list[Single]] = []
    constants = [as_float(normal.equation.constant) for normal in normals]  # no objective is below its constant
    for normal, cap, constant in zip(normals, caps, constants, strict=True):
        listed = _list(normal, cap, level - (sum(constants) - constant))
        if listed is None:
            return None
        lists.append(sorted(listed))
    least = [listed[0][0] if listed else math.inf for listed in lists]
    return _joined(lists, budget, level, sum(least), least)


def _list(normal: Normal, cap: int, level: float) -> list[Single] | None:
    tree, constant = Tree(normal), as_float(normal.equation.constant)
    found: list[Single] = []
    full = False

    def visit(support: tuple[int, ...], columns: Places, shares: NDArray[np.float64]) -> None:
        nonlocal full
        if len(found) > _MOST_LISTED:
            full = True
            return
        for i in np.flatnonzero(constant + np.array([tree.value(s) for s in shares]) <= level).tolist():
            found.append((constant + tree.value(float(shares[i])), (*support, *columns[i].tolist())))

    empty = constant + tree.value(tree.empty)
    if empty <= level:
        found.append((empty, ()))
    tree.walk(min(cap, len(normal.equation.usable)), visit)
    return None if full else found


def _joined(
    lists: Sequence[Sequence[Single]], budget: int, level: float, total: float, least: Sequence[float]
) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield combinations, one support per equation, whose sum stays within the level."""
    if not lists:
        yield ()
        return
    rest = total - least[0]
    for value, support in lists[0]:
        if value + rest > level:
            return
        if len(support) <= budget:
            for others in _joined(lists[1:], budget - len(support), level - value, rest, least[1:]):
                yield (support, *others)

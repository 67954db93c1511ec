"""Objective of the next-best joint support of the same number of terms.

A rival has the same number of terms for every equation and the next-best support in one of them, or other numbers of
terms that add up to the same. Values of *exactly* s terms are needed; they are asked for only where they could matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

# Weighted value of the best and of the next-best support of exactly s terms of equation j (inf: there is none), or None
# if that is not known and too costly to find out.
Pair = Callable[[int, int], tuple[float, float] | None]


def next_best(sizes: Sequence[int], largest: Sequence[int], trivial: Sequence[float], pair: Pair) -> float:
    """Return the objective of the next-best joint support, or nan where it cannot be proved.

    Parameters
    ----------
    sizes
        Terms of each equation in the best joint support.
    largest
        Most terms each equation can have.
    trivial
        A lower bound of every value of each equation.
    pair
        See `Pair`.
    """
    known: dict[tuple[int, int], tuple[float, float]] = {}
    for j, s in enumerate(sizes):
        both = pair(j, s)
        if both is None:
            return float("nan")
        known[j, s] = both
    objective = sum(known[j, s][0] for j, s in enumerate(sizes))
    rival = min(objective - known[j, s][0] + known[j, s][1] for j, s in enumerate(sizes))
    while True:
        values = [
            [known[j, s][0] if (j, s) in known else trivial[j] for s in range(min(most, sum(sizes)) + 1)]
            for j, most in enumerate(largest)
        ]
        other, chosen = min(_other_sizes(values, sizes), key=lambda entry: entry[0], default=(np.inf, ()))
        unknown = [(j, s) for j, s in enumerate(chosen) if (j, s) not in known]
        if other >= rival or not unknown:
            return float(min(rival, other))
        for j, s in unknown:
            both = pair(j, s)
            if both is None:
                return float("nan")
            known[j, s] = both


def _other_sizes(values: list[list[float]], sizes: Sequence[int]) -> Iterator[tuple[float, tuple[int, ...]]]:
    """For each equation and each other size of it, the best combination with as many terms in all."""
    total = sum(sizes)
    for j, row in enumerate(values):
        for s in range(len(row)):
            if s != sizes[j]:
                others = [row if i != j else [np.inf] * s + [row[s]] for i, row in enumerate(values)]
                yield exactly(others, total)


def exactly(values: list[list[float]], total: int) -> tuple[float, tuple[int, ...]]:
    """Return the least sum of one value per row whose indices add up to ``total``, and those indices."""
    best: dict[int, tuple[float, tuple[int, ...]]] = {0: (0.0, ())}
    for row in values:
        following: dict[int, tuple[float, tuple[int, ...]]] = {}
        for used, (value, sizes) in best.items():
            for s, extra in enumerate(row[: total - used + 1]):
                if used + s not in following or value + extra < following[used + s][0]:
                    following[used + s] = (value + extra, (*sizes, s))
        best = following
    return best.get(total, (np.inf, ()))

"""Which terms constraints on supports decide before any search, and which supports satisfy those that are left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactsindy.constraints import Row
from exactsindy.solver.backends.component import Budget, Component


@dataclass(frozen=True)
class Presence:
    """Terms that every support holds, terms that none holds, and the presence rows that still say something."""

    required: frozenset[int]
    absent: frozenset[int]
    rows: tuple[Row, ...]


def decided(component: Component, budgets: Sequence[Budget]) -> Presence | None:
    """Return what the presence rows, bounds that exclude 0 and budgets decide; None if they contradict each other."""
    rules = component.rules
    flags: dict[int, bool] = {int(v): True for v in component.variables if rules.lower[v] > 0 or rules.upper[v] < 0}
    limits = [Row(tuple(vs), (1.0,) * len(vs), float(limit), -1) for vs, limit in budgets]
    open_rows = [*component.presence, *limits]
    changed = True
    while changed:
        changed, left = False, []
        for row in open_rows:
            # What the left side is at least and at most, and what each undecided term can change.
            least = most = 0.0
            for v, c in zip(row.variables, row.coefs, strict=True) if flags else ():
                known = flags.get(v)
                least += c if known else min(c, 0.0) if known is None else 0.0
                most += c if known else max(c, 0.0) if known is None else 0.0
            if not flags:
                least, most = sum(c for c in row.coefs if c < 0), sum(c for c in row.coefs if c > 0)
            if least > row.rhs:
                return None
            if most <= row.rhs:
                continue
            left.append(row)
            for v, c in zip(row.variables, row.coefs, strict=True):
                if v not in flags and abs(c) > row.rhs - least:
                    flags[v] = c < 0
                    changed = True
        open_rows = left
    required = frozenset(v for v, present in flags.items() if present)
    absent = frozenset(flags) - required
    return Presence(required, absent, tuple(row for row in open_rows if row.source >= 0))


@dataclass(frozen=True, eq=False)
class Counts:
    """What presence rows add up to on supports, many at once."""

    weights: NDArray[np.float64]  # variables x rows
    rhs: NDArray[np.float64]
    position: dict[int, int]

    @classmethod
    def of(cls, rows: Sequence[Row], variables: Sequence[int]) -> Counts:
        """Return the counts of rows over some variables; others count as absent."""
        position = {int(v): i for i, v in enumerate(variables)}
        weights = np.zeros((len(position), len(rows)))
        for r, row in enumerate(rows):
            for v, c in zip(row.variables, row.coefs, strict=True):
                if v in position:
                    weights[position[v], r] = c
        return cls(weights, np.array([row.rhs for row in rows]), position)

    def sums(self, supports: Sequence[Sequence[int]]) -> NDArray[np.float64]:
        """Return the left sides of all rows, one line per support."""
        total = np.zeros((len(supports), len(self.rhs)))
        if len(self.rhs) == 0:
            return total
        places = [[self.position[v] for v in support] for support in supports]
        for i in range(max(map(len, places), default=0)):
            lines = [n for n, place in enumerate(places) if len(place) > i]
            total[lines] += self.weights[[places[n][i] for n in lines]]
        return total

    def hold(self, supports: Sequence[Sequence[int]]) -> NDArray[np.bool_]:
        """Return which supports satisfy all rows."""
        return np.asarray((self.sums(supports) <= self.rhs).all(axis=1))

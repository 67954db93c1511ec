"""Supports near a given one with their values without constraints: where to look for good feasible ones.

Plain doubles on normal equations: this only guides; what it proposes is fitted before it counts.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy.solver.equations import Equation
from exactsindy.solver.relaxation import Relaxation, Support

Values = NDArray[np.float64]
_TINY = 1e-10  # columns with less than this share left after projection are passed over
_PATTERNS = 6  # more bound terms: not all of their subsets are tried


@dataclass(frozen=True, eq=False)
class _Local:
    """One equation by its normal equations."""

    equation: Equation
    weight: float

    @cached_property
    def gram(self) -> Values:
        return np.asarray(self.equation.factor.T @ self.equation.factor + np.diag(self.equation.ridge))

    @cached_property
    def moment(self) -> Values:
        return np.asarray(self.equation.factor.T @ self.equation.z)

    def additions(self, support: Sequence[int]) -> tuple[float, Values]:
        """Return the weighted value of a support, and that with each other term added (inf: it cannot be)."""
        own = list(support)
        diagonal = np.diag(self.gram).copy()
        rows, moment = np.zeros((0, len(diagonal))), np.zeros(0)
        left, rest = diagonal.copy(), self.moment
        if own:
            try:
                triangle = np.linalg.cholesky(self.gram[np.ix_(own, own)])
            except np.linalg.LinAlgError:
                return np.inf, np.full(len(diagonal), np.inf)
            rows = np.linalg.solve(triangle, self.gram[own])
            moment = np.linalg.solve(triangle, self.moment[own])
            left = diagonal - np.sum(rows * rows, axis=0)
            rest = self.moment - moment @ rows
        value = float(self.equation.z @ self.equation.z + self.equation.constant - moment @ moment)
        usable = left > _TINY * diagonal
        usable[own] = False
        usable[list(self.equation.forbidden)] = False
        gains = np.divide(rest * rest, left, out=np.full(len(left), -np.inf), where=usable)
        return self.weight * value, self.weight * (value - gains)


class Nearby:
    """Finds supports near others."""

    def __init__(self, relaxation: Relaxation) -> None:
        self._relaxation = relaxation
        self._parts = [_Local(e, w) for e, w in zip(relaxation.equations, relaxation.component.weights, strict=True)]

    def neighbours(self, support: Support, limit: float, most: int) -> list[tuple[float, Support]]:
        """Return supports that differ by one term left out, one added, or both, with their values, least first.

        Those with a value above ``limit`` are left out, and those after the first ``most``.
        """
        r = self._relaxation
        local = [list(e.local(support)) for e in r.equations]
        room = sum(map(len, local)) < r.total
        now = [part.additions(own) for part, own in zip(self._parts, local, strict=True)]
        whole = sum(value for value, _ in now)
        found: list[tuple[float, int, int, int, int]] = []  # value; equation and term that leaves; that enters

        def put(values: Values, leaves: tuple[int, int], entering: int) -> None:
            for j in np.argsort(values)[:most].tolist():
                if not values[j] < limit:
                    return
                found.append((float(values[j]), *leaves, entering, j))

        for e, (part, own) in enumerate(zip(self._parts, local, strict=True)):
            if room and len(own) < r.caps[e]:
                put(whole - now[e][0] + now[e][1], (-1, -1), e)
            for i in own:
                if i in part.equation.required:
                    continue
                value, plus = part.additions([j for j in own if j != i])
                rest = whole - now[e][0]
                plus[i] = np.inf
                put(rest + plus, (e, i), e)
                if rest + value < limit:
                    found.append((rest + value, e, i, -1, -1))
                for d, other in enumerate(local):
                    if d != e and len(other) < r.caps[d]:
                        put(rest + value - now[d][0] + now[d][1], (e, i), d)
        found.sort()
        chosen = []
        for value, e, i, d, j in found[:most]:
            changed = {int(v) for v in support}
            if e >= 0:
                changed.remove(int(r.equations[e].variables[i]))
            if d >= 0:
                changed.add(int(r.equations[d].variables[j]))
            chosen.append((value, tuple(sorted(changed))))
        return chosen

    def patterns(self, support: Support) -> Iterator[Support]:
        """Yield the support with terms that constraints bind present and absent in all ways (if not too many)."""
        r = self._relaxation
        bound = [int(v) for v in r.free[r.bounded]]
        bound += [v for row in (*r.linear, *r.presence.rows) for v in row.variables if v not in r.presence.absent]
        terms = sorted(set(bound) - r.presence.required)
        if len(terms) > _PATTERNS:
            choices: Iterator[tuple[int, ...]] = iter(
                [(), *[tuple(v for v in row.variables if v in terms) for row in (*r.linear, *r.presence.rows)][:64]]
            )
        else:
            choices = itertools.chain.from_iterable(itertools.combinations(terms, n) for n in range(len(terms) + 1))
        for chosen in choices:
            yield self._sized(support, frozenset(terms), frozenset(chosen) | r.presence.required)

    def _sized(self, support: Support, bound: frozenset[int], chosen: frozenset[int]) -> Support:
        """Return a support with exactly these of the bound terms, and as many others as the sizes allow."""
        r = self._relaxation
        local = [list(e.local(sorted((set(support) - bound) | chosen))) for e in r.equations]
        held = [set(e.local(sorted(chosen))) for e in r.equations]
        barred = [set(e.local(sorted(bound - chosen))) for e in r.equations]
        while True:
            over = sum(map(len, local)) > r.total
            drops = [
                (part.additions([j for j in own if j != i])[0] - part.additions(own)[0], e, i)
                for e, (part, own) in enumerate(zip(self._parts, local, strict=True))
                for i in own
                if (over or len(own) > r.caps[e]) and i not in held[e]
            ]
            if not drops:
                break
            _, e, i = min(drops)
            local[e].remove(i)
        while sum(map(len, local)) < r.total:
            gains = []
            for e, (part, own) in enumerate(zip(self._parts, local, strict=True)):
                if len(own) < r.caps[e]:
                    value, plus = part.additions(own)
                    plus[list(barred[e])] = np.inf
                    j = int(np.argmin(plus))
                    gains.append((float(plus[j]) - value, e, j))
            if not gains or not np.isfinite(min(gains)[0]):
                break
            _, e, j = min(gains)
            local[e].append(j)
        return self._placed(local)

    def _placed(self, local: Sequence[Sequence[int]]) -> Support:
        pairs = zip(self._relaxation.equations, local, strict=True)
        return tuple(heapq.merge(*(sorted(e.variables[list(own)].tolist()) for e, own in pairs)))

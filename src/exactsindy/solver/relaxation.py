"""A constrained problem without most of its constraints: single equations for the search without constraints.

Terms that presence rows exclude are taken out of the equations, terms they ask for are in every support, and sizes are
kept. What else is asked for can only raise the value of a support, so values of the relaxation are lower bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy.constraints import Row
from exactsindy.solver.backends import native
from exactsindy.solver.backends.component import Component
from exactsindy.solver.coefficient_sizes import stretch
from exactsindy.solver.equations import Equation
from exactsindy.solver.outcome import Outcome
from exactsindy.solver.presence import Counts, Presence
from exactsindy.solver.settings import LARGEST_LIMIT, Settings

Values = NDArray[np.float64]
Support = tuple[int, ...]  # variables, increasing
_UNSEEN = 1e-18  # share of a sum that doubles do not show
_NEAR = 1e-6  # a column nearer than this to the span of others makes the search harder, also if it is forbidden
SLACK = 1e-12  # relative: values of the two searches for the same support agree far better than this


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The equations of a component, each for itself: at most ``caps`` terms each and ``total`` in all."""

    component: Component
    presence: Presence
    equations: tuple[Equation, ...]  # without excluded terms, with required ones; ridge / weight as ridge
    caps: tuple[int, ...]
    total: int
    known: dict[tuple[int, int], Outcome] = field(default_factory=dict)  # by equation and size: at most so many terms

    @classmethod
    def of(
        cls, component: Component, presence: Presence, caps: Sequence[int], total: int | None, limit: float
    ) -> Relaxation | None:
        """Relax a component whose coefficients have a limit; None where only the joint search can solve it.

        That is so where a column of zeros is asked for something, and where targets that are bound together are so
        different that the limit for all of them is too large for the smallest.
        """
        rules, touched = component.rules, set(presence.required)
        for row in (*presence.rows, *rules.equalities, *rules.inequalities):
            touched.update(row.variables)
        equations, most = [], []
        for equation, weight, cap in zip(component.equations, component.weights, caps, strict=True):
            own = equation.variables.tolist()
            gone = [i for i, v in enumerate(own) if v in presence.absent]
            zero = ~np.asarray(equation.factor.any(axis=0))
            if any(zero[i] and v in touched and v not in presence.absent for i, v in enumerate(own)):
                return None
            zero[gone] = True
            factor = equation.factor
            if not _few(equation, gone):
                factor, gone = np.where(zero, 0.0, factor), []
            required = tuple(i for i, v in enumerate(own) if v in presence.required)
            equations.append(
                replace(
                    equation, factor=factor, ridge=equation.ridge / weight, required=required, forbidden=tuple(gone)
                )
            )
            most.append(equation.size(min(cap, int((~zero).sum()))))
        found = cls(component, presence, tuple(equations), tuple(most), min(sum(most), total or sum(most)))
        return found if limit * found.stretch <= LARGEST_LIMIT else None

    @property
    def weights(self) -> Values:
        """Of the equations in the objective."""
        return np.array(self.component.weights)

    @cached_property
    def exact(self) -> bool:
        """Whether nothing was relaxed: every support of the relaxation is one of the problem, with the same value."""
        return only_presence(self.component, self.presence) and self.stretch == 1.0

    @cached_property
    def stretch(self) -> float:
        """How much larger than the limits of single equations those under the constraints are."""
        return stretch(self.component)

    def within(self, settings: Settings) -> Settings:
        """Return settings with a limit that leaves out no coefficient which counts under the constraints."""
        return replace(settings, coefficient_limit=settings.coefficient_limit * self.stretch)

    @cached_property
    def monotone(self) -> bool:
        """Whether a support within the sizes may always take one more term (with the coefficient 0, if need be)."""
        return not self.presence.rows and not (self.component.rules.least[self.free] > 0).any()

    @cached_property
    def free(self) -> NDArray[np.intp]:
        """The variables that are not excluded."""
        return np.array([v for v in self.component.variables.tolist() if v not in self.presence.absent], dtype=np.intp)

    @cached_property
    def linear(self) -> tuple[Row, ...]:
        """The rows on coefficients that say something about terms that are not excluded."""
        return tuple(linear_rows(self.component, self.presence))

    @cached_property
    def bounded(self) -> NDArray[np.bool_]:
        """Whether each of the free variables has a bound or a least size."""
        return np.asarray(_limited(self.component)[self.free])

    @cached_property
    def equation_of(self) -> dict[int, int]:
        """The place of each variable's equation."""
        return {v: e for e, equation in enumerate(self.equations) for v in equation.variables.tolist()}

    @cached_property
    def counts(self) -> Counts:
        """The counts of the presence rows that are left."""
        return Counts.of(self.presence.rows, self.component.variables.tolist())

    def allowed(self, supports: Sequence[Support]) -> list[Support]:
        """Return those of some supports of all equations that have the terms asked for, and not too many."""
        if not supports:
            return []
        holds, found = self.counts.hold(supports), []
        for support, good in zip(supports, holds.tolist(), strict=True):
            sizes = [0] * len(self.equations)
            for v in support:
                sizes[self.equation_of[v]] += 1
            good = good and sum(sizes) <= self.total and all(n <= cap for n, cap in zip(sizes, self.caps, strict=True))
            if good and self.presence.required.issubset(support) and self.presence.absent.isdisjoint(support):
                found.append(support)
        return found

    def solve(self, e: int, size: int, settings: Settings, starts: Sequence[int] = ()) -> Outcome:
        """Return the best support of at most so many terms of one equation, local; solved once."""
        if (e, size) not in self.known:
            local = [self.equations[e].local(starts)] if starts else []
            outcome = native.run([self.equations[e]], [size], [local], self.within(settings))[0][0]
            if outcome.stop is not None:
                return outcome
            self.known[e, size] = outcome
        return self.known[e, size]

    def lower(self, e: int) -> Values:
        """Return lower bounds of the weighted values of 0, 1, ..., cap terms of an equation."""
        bounds = np.full(self.caps[e] + 1, self.equations[e].constant * (1 - SLACK))
        for (j, size), outcome in self.known.items():
            if j == e:  # fewer terms do not fit better
                bounds[: size + 1] = np.maximum(bounds[: size + 1], outcome.bound * (1 - SLACK))
        bounds[: len(self.equations[e].required)] = np.inf
        return bounds * self.component.weights[e]

    def uneven(self, value: float) -> bool:
        """Whether some equation may fit so well that the whole value does not show all of its terms: ties by size."""
        return any(float(self.lower(e).min()) <= _UNSEEN * value for e in range(len(self.equations)))

    def others(self, e: int) -> Values:
        """Return lower bounds of the sum over all other equations where this one has 0, 1, ..., cap terms."""
        best = np.zeros(self.total + 1)
        for j in range(len(self.equations)):
            if j != e:
                best = added(best, self.lower(j))
        return np.asarray(best[self.total - np.arange(self.caps[e] + 1)])

    def pools(self, cut: float, sizes: Sequence[int] | None, settings: Settings, capacity: int) -> list[list[Outcome]]:
        """Return, per equation and size, all supports that a combination with a value of at most ``cut`` can have.

        ``sizes``: only sizes that can be part of so many terms in all; None: all sizes.
        """
        limits = []
        for e, weight in enumerate(self.component.weights):
            left = cut * (1 + SLACK) - self.others(e)
            limit = np.where(left >= self.lower(e) * (1 - SLACK), np.maximum(left, 0.0) / weight * (1 + SLACK), -1.0)
            if sizes is not None:
                rest = sum(self.caps) - self.caps[e]
                for s in range(self.caps[e] + 1):
                    if not any(0 <= size - s <= rest for size in sizes):
                        limit[s] = -1.0
            limits.append(limit.tolist())
        starts: list[list[tuple[int, ...]]] = [[] for _ in self.equations]
        settings = replace(self.within(settings), gap=0.0)  # a pool that ends early would not be complete
        return native.run(self.equations, self.caps, starts, settings, pool=True, capacity=capacity, limits=limits)


def only_presence(component: Component, presence: Presence) -> bool:
    """Whether all that is asked is that some terms are present and some are not."""
    if presence.rows or any(linear_rows(component, presence)):
        return False
    own, absent = component.position, presence.absent
    return not any(v in own and v not in absent for v in _limited(component).nonzero()[0].tolist())


def linear_rows(component: Component, presence: Presence) -> Iterator[Row]:
    """Yield the rows on coefficients that say something about terms that are not excluded."""
    rules, absent, own = component.rules, presence.absent, component.position
    for row in (*rules.equalities, *rules.inequalities):
        if row.variables[0] in own and (row.rhs != 0 or any(v not in absent for v in row.variables)):
            yield row


def _limited(component: Component) -> NDArray[np.bool_]:
    rules = component.rules
    finite = np.isfinite(rules.lower) | np.isfinite(rules.upper) | (rules.least > 0) | np.isfinite(rules.most)
    return np.asarray(finite)


def _few(equation: Equation, gone: Sequence[int]) -> bool:
    """Whether terms are better left in the factor and forbidden: few of a library without near dependencies."""
    diagonal, norms = np.abs(np.diag(equation.factor)), np.sqrt(np.sum(equation.factor**2, axis=0))
    regular = bool(equation.ridge.any()) or bool(np.all(diagonal > _NEAR * norms))
    return len(gone) <= len(equation.names) // 8 and regular


def added(best: Values, row: Values) -> Values:
    """Return the least sum of two lists of values by how many terms they have together (at most)."""
    total = np.full(len(best), np.inf)
    for s, value in enumerate(row[: len(best)]):
        total[s:] = np.minimum(total[s:], best[: len(best) - s] + value)
    return np.asarray(np.minimum.accumulate(total))

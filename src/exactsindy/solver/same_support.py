"""Equations that must have the same terms, and of which nothing else is asked: one search, in which values add up.

Of every set of terms the values and the safe bounds of the equations are added, so that a search over the terms of one
equation serves for all of them. Where that search passes over supports whose columns depend on each other, it leaves
the problem to the search for constraints in general.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from exactsindy import _native
from exactsindy.constraints import SameSupport
from exactsindy.solver import interrupt
from exactsindy.solver.backends import native
from exactsindy.solver.backends.component import Component
from exactsindy.solver.outcome import Answer, Outcome
from exactsindy.solver.settings import BRIEF, Deadline, Settings


@dataclass(frozen=True, eq=False)
class Alike:
    """Equations with the same columns, all with at most ``size`` terms, the same in each."""

    component: Component
    size: int

    @classmethod
    def of(cls, component: Component, caps: Sequence[int], total: int | None) -> Alike | None:
        """Return the equations if nothing is asked but that their supports are the same; None otherwise."""
        rules, equations, variables = component.rules, component.equations, component.variables
        plain = total is None and len(set(caps)) == 1 and len(equations) > 1 and set(component.weights) == {1.0}
        if not plain or any(e.names != equations[0].names or e.required or e.forbidden for e in equations):
            return None
        if any(not isinstance(rules.sources[row.source], SameSupport) for row in component.presence):
            return None
        limited = np.isfinite([rules.lower, rules.upper, rules.most]).any(axis=0) | (rules.least > 0)
        linear = (*rules.equalities, *rules.inequalities)
        if limited[variables].any() or any(row.variables[0] in component.position for row in linear):
            return None
        if rules.t_level > 0 or rules.convex or any(not e.factor.any(axis=0).all() for e in equations):
            return None
        return cls(component, equations[0].size(caps[0]))

    def search(self, starts: Sequence[int] | None, settings: Settings) -> Outcome | None:
        """Return the best support of at most so many terms; None if supports that do not count were passed over."""
        first = self._starts(starts)
        for support in first:  # nothing is better than what fits exactly, and more terms are worse
            known = self._fit(support)
            if len(support) <= self.size and known is not None and known.objective <= self._least:
                return Outcome((known,), self._least)
        deadline = Deadline(settings)
        outcome = self.run(self.size, 2, first, settings)
        if outcome.dependent or (outcome.stop is None and not outcome.answers):
            return None
        if not outcome.answers:
            return outcome
        smaller = self._smaller(outcome.answers[0], deadline)
        if smaller is None:
            return outcome
        return replace(
            outcome, answers=(smaller,), lower_bound=min(outcome.bound, smaller.objective), runner_up=math.nan
        )

    def run(self, size: int, keep: int, starts: Sequence[Sequence[int]], settings: Settings) -> Outcome:
        """Return the best supports of exactly so many terms."""
        raw = _native.solve_together(
            [(e.factor, e.z, e.rest, e.ridge) for e in self.component.equations],
            size,
            keep,
            [list(support) for support in starts],
            settings.seconds or 0.0,
            settings.nodes or 0,
            settings.coefficient_limit,
            native.reporter(settings, [", ".join(e.target for e in self.component.equations)], self._label),
            interrupt.pressed,
        )
        outcome = native.outcome(raw)
        return replace(outcome, answers=tuple(self._placed(answer) for answer in outcome.answers))

    def _label(self, _: int, j: int) -> str:
        return self.component.equations[0].names[j]

    def _placed(self, answer: Answer) -> Answer:
        """Return an answer about common terms as one about the terms of all equations."""
        variables = np.concatenate([e.variables[list(answer.support)] for e in self.component.equations])
        return replace(answer, support=tuple(variables.tolist()))

    def _starts(self, starts: Sequence[int] | None) -> list[tuple[int, ...]]:
        if starts is None:
            return []
        return list(dict.fromkeys(equation.local(starts) for equation in self.component.equations))

    @property
    def _least(self) -> float:
        """What no coefficient can change."""
        return math.fsum(equation.constant for equation in self.component.equations)

    def _fit(self, support: Sequence[int]) -> Answer | None:
        """Return the fit of a support of common terms; None if its columns depend on each other."""
        parts = [native.refit(equation, support).answers[0] for equation in self.component.equations]
        if any(len(part.support) < len(support) for part in parts):
            return None
        coef = tuple(value for part in parts for value in part.coef)
        objective = math.fsum(value for part in parts for value in (part.objective, part.fine))
        return self._placed(Answer(tuple(support), coef, objective))

    def _smaller(self, best: Answer, deadline: Deadline) -> Answer | None:
        """Return a part of the best support that fits as well, if there is one: a term less at a time."""
        support, smaller = self.component.equations[0].local(best.support), None
        while support and deadline.left() > BRIEF:
            fits = [(self._fit(part), part) for part in (support[:i] + support[i + 1 :] for i in range(len(support)))]
            equal = [(fit, part) for fit, part in fits if fit is not None and fit.objective <= best.objective]
            if not equal:
                break
            smaller, support = min(equal, key=lambda pair: (pair[0].objective, pair[1]))
        return smaller

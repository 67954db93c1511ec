"""Supports fitted under constraints: what is known of them, and what that proves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from exactsindy.solver import interrupt
from exactsindy.solver.backends.component import Component
from exactsindy.solver.combining import Combinations
from exactsindy.solver.outcome import Answer, Outcome
from exactsindy.solver.relaxation import SLACK, Support
from exactsindy.solver.settings import BRIEF, Deadline, Progress, Settings, Status

_UNLIMITED = 2.0**200  # of coefficients
BATCH = 64  # supports fitted together at first


@dataclass(eq=False)
class Feasible:
    """The feasible supports of a component met so far, within the limits of one call."""

    component: Component
    deadline: Deadline
    lower: float = 0.0  # no feasible support has a value below this
    fitted: dict[Support, tuple[Answer | None, float]] = field(default_factory=dict)
    best: dict[Support, Answer] = field(default_factory=dict)  # by the terms that matter
    stop: Status | None = None
    hopeless: bool = False  # columns depend on each other: only the joint search is left

    @property
    def ranking(self) -> list[Answer]:
        """All feasible supports, best first."""
        return sorted(self.best.values(), key=lambda a: (a.objective, a.fine, len(a.support), a.support))

    @property
    def value(self) -> float:
        """Objective of the best support; inf if none is known."""
        return min((a.objective for a in self.best.values()), default=math.inf)

    @property
    def rival(self) -> float:
        """Objective of the next-best support with as many terms as the best; inf if none is known."""
        order = self.ranking
        return next((a.objective for a in order[1:] if len(a.support) == len(order[0].support)), math.inf)

    @property
    def target(self) -> float:
        """Up to which value supports are of interest: that of the rival, or of the best one if it has none."""
        return self.rival if math.isfinite(self.rival) else self.value

    def fit(self, supports: Sequence[Support]) -> None:
        """Fit supports that were not fitted before."""
        limit = self.deadline.limits.coefficient_limit
        new = [support for support in dict.fromkeys(supports) if support not in self.fitted]
        for support, (answer, lower) in zip(new, self.component.fits(new, limit) if new else (), strict=True):
            self.fitted[support] = answer, lower
            self.add(() if answer is None else (answer,))

    def exceeding(self, supports: Sequence[Support]) -> bool:
        """Whether the best fit of one of these supports, all fitted before, has coefficients above their limits.

        Such a support says nothing about its parts, whose coefficients may be within them.
        """
        none = [support for support in supports if support in self.fitted and self.fitted[support][0] is None]
        fits = self.component.fits(none, _UNLIMITED) if none else ()
        return any(answer is not None or lower == 0 for answer, lower in fits)

    def add(self, answers: Sequence[Answer]) -> None:
        """Take note of feasible supports."""
        for answer in answers:
            known = self.best.get(answer.support)
            if known is None or (answer.objective, answer.fine) < (known.objective, known.fine):
                self.best[answer.support] = answer

    def settings(self) -> Settings:
        """Return what is left of the limits; progress shows feasible supports only."""
        limits, report = self.deadline.settings(least=BRIEF), self.deadline.limits.progress
        if report is None:
            return limits
        name, begin = ", ".join(e.target for e in self.component.equations), self.deadline

        def forward(now: Progress) -> None:
            order = self.ranking[:1]
            terms = tuple(self.component.label(self.component.position[v]) for answer in order for v in answer.support)
            bound = max(self.lower, 0.0)
            report(Progress({name: self.value}, {name: bound}, begin.nodes + now.nodes, begin.elapsed, {name: terms}))

        return replace(limits, progress=forward)

    def ended(self) -> bool:
        """Whether a limit of the call or Ctrl-C ends it; the reason is kept."""
        limits = self.deadline.limits
        if interrupt.pressed():
            self.stop = Status.INTERRUPTED
        elif self.deadline.expired:
            self.stop = Status.TIME_LIMIT
        elif limits.nodes is not None and self.deadline.nodes >= limits.nodes:
            self.stop = Status.NODE_LIMIT
        return self.stop is not None

    def outcome(self, rival: float = math.nan) -> Outcome:
        """Return the best support with what is proved about it."""
        best = self.ranking[:1]
        return Outcome(
            answers=tuple(best),
            lower_bound=self.lower,
            runner_up=rival,
            stop=self.stop,
            nodes=self.deadline.nodes,
            seconds=self.deadline.elapsed,
        )

    def fit_in_order(self, found: Combinations, reach: float, *, all_of_them: bool = False) -> float:
        """Fit combinations with a value up to ``reach``, least first; return a bound for all that were fitted.

        Those that cannot be better than the rival of the best support are left out, unless all are asked for.
        """
        bound, start, batch = math.inf, 0, BATCH
        values: list[float] = found.values.tolist()
        while start < len(values):
            if values[start] > (reach if all_of_them else min(reach, self.target)) * (1 + SLACK):
                break
            chosen = [tuple(sorted(support)) for support in found.supports[start : start + batch]]
            self.fit(chosen)
            for support, value in zip(chosen, values[start : start + batch], strict=True):
                bound = min(bound, max(self.fitted[support][1], value * (1 - SLACK)))
            start, batch = start + batch, min(2 * batch, 1024)
            if start < len(values) and self.ended():
                return min(bound, values[start] * (1 - SLACK))
        return bound

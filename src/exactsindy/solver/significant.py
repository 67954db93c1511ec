"""Best supports all of whose terms are significant: supports in order of their value until one is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from exactsindy.errors import ConstraintError
from exactsindy.solver.backends.constrained import Budget, Component
from exactsindy.solver.backends.result import Found, Outcome
from exactsindy.solver.settings import Settings

if TYPE_CHECKING:
    from exactsindy.constraints import Rules

_FIRST, _MOST = 4, 4096  # supports looked at first, and at most, of one size


def solve(component: Component, budget: Budget, settings: Settings) -> Outcome:
    """Return the best support within a budget with every |t| >= the rules' level; exact if ``complete``."""
    if len(component.equations) > 1:
        raise ConstraintError(
            "Significant is for equations that are solved apart: use it without Total and without constraints that "
            "bind equations together."
        )
    best: Found | None = None
    nodes, seconds, bound, complete, stop = 0, 0.0, np.inf, True, None
    for size in range(budget[1] + 1):
        limit = np.inf if best is None else best.objective
        found, below, outcome = _of_size(component, (budget[0], size), settings, limit)
        nodes, seconds = nodes + outcome.nodes, seconds + outcome.seconds
        best = found if found is not None else best
        bound, complete, stop = min(bound, below), complete and outcome.complete, stop or outcome.stop
    value = np.inf if best is None else best.objective
    answers = () if best is None else (best,)
    return Outcome(answers, np.nan, min(bound, value), stop, complete, nodes, seconds)


def _of_size(
    component: Component, size: Budget, settings: Settings, limit: float
) -> tuple[Found | None, float, Outcome]:
    """Return the best significant support of one size below a limit, and a bound for all that were not looked at."""
    count, looked = _FIRST, 0
    while True:
        outcome = component.solve([], settings, exactly=[size], keep=count)
        for found in outcome.answers[looked:]:
            if found.objective >= limit:
                return None, np.inf, outcome
            if significant(component, found):
                return found, found.objective if outcome.complete else outcome.lower_bound, outcome
        looked = len(outcome.answers)
        if not outcome.complete:
            return None, outcome.lower_bound, outcome
        if looked < count:
            return None, np.inf, outcome
        if count >= _MOST:
            return None, outcome.answers[-1].objective, replace(outcome, complete=False)
        count *= 4


def significant(component: Component, found: Found) -> bool:
    """Say whether every coefficient of a support is significant at the level of the rules."""
    variables = component.variables.tolist()
    freedom = component.rules.problem.n_samples_of(component.equations[0].target) - len(found.support)
    bare = replace(component, rules=_without_supports(component.rules))
    return all(_t_square(bare, variables, found, v, freedom) >= component.rules.t_level**2 for v in found.support)


def _without_supports(rules: Rules) -> Rules:
    return replace(rules, presence=(), least=np.zeros_like(rules.least))


def _t_square(component: Component, variables: Sequence[int], found: Found, v: int, freedom: int) -> float:
    kept = set(found.support) - {v}
    absent = tuple(u for u in variables if u not in kept)
    without = component.solve([(absent, 0)], Settings(), runner_up=False)
    if without.infeasible:
        return np.inf  # the constraints need it
    if freedom <= 0 or not without.answers:
        return 0.0
    rise = without.answers[0].objective - found.objective
    return rise * freedom / found.objective if found.objective > 0 else np.inf

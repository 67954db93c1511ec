"""Best supports all of whose terms are significant: supports in order of their value until one is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from exactsindy.errors import ConstraintError
from exactsindy.solver.backends.component import Budget, Component
from exactsindy.solver.outcome import Answer, Outcome
from exactsindy.solver.settings import BRIEF, Deadline, Settings

_FIRST, _MOST = 4, 4096  # supports looked at first, and at most, of one size


def solve(component: Component, budget: Budget, settings: Settings) -> Outcome:
    """Return the best support within a budget with every |t| >= the rules' level; exact if ``complete``."""
    if len(component.equations) > 1:
        cure = "use it without Total and without constraints that bind equations together"
        raise ConstraintError(f"Significant is for equations that are solved apart: {cure}.")
    best: Answer | None = None
    deadline, seconds, bound, complete, stop = Deadline(settings), 0.0, np.inf, True, None
    for size in range(budget[1] + 1):
        limit = np.inf if best is None else best.objective
        answer, below, outcome = _of_size(component, (budget[0], size), deadline, limit)
        seconds += outcome.seconds
        best = answer if answer is not None else best
        bound, complete, stop = min(bound, below), complete and outcome.complete, stop or outcome.stop
    answers = () if best is None else (best,)
    return Outcome(answers, bound, stop=stop, complete=complete, nodes=deadline.nodes, seconds=seconds)


def _of_size(
    component: Component, size: Budget, deadline: Deadline, limit: float
) -> tuple[Answer | None, float, Outcome]:
    """Return the best significant support of one size below a limit, and a bound for all that were not looked at."""
    count, looked = _FIRST, 0
    while True:
        outcome = component.solve([], deadline.settings(least=BRIEF), exactly=[size], keep=count)
        deadline.nodes += outcome.nodes
        for answer in outcome.answers[looked:]:
            if answer.objective >= limit:
                return None, np.inf, outcome
            if significant(component, answer):
                return answer, answer.objective if outcome.complete else outcome.lower_bound, outcome
        looked = len(outcome.answers)
        if not outcome.complete:
            return None, outcome.lower_bound, outcome
        if looked < count:
            return None, np.inf, outcome
        if count >= _MOST:
            return None, outcome.answers[-1].objective, replace(outcome, complete=False)
        count *= 4


def significant(component: Component, answer: Answer) -> bool:
    """Return True if every coefficient of a support is significant at the level of the rules."""
    rules = component.rules
    freedom = rules.problem.n_samples_of(component.equations[0].target) - len(answer.support)
    bare = replace(component, rules=replace(rules, presence=(), least=np.zeros_like(rules.least)))
    return all(_t_square(bare, answer, v, freedom) >= rules.t_level**2 for v in answer.support)


def _t_square(component: Component, answer: Answer, v: int, freedom: int) -> float:
    without = component.fit([u for u in answer.support if u != v])
    if without.infeasible:
        return np.inf  # the constraints need it
    if freedom <= 0 or not without.answers:
        return 0.0
    rise = without.answers[0].objective - answer.objective
    return rise * freedom / answer.objective if answer.objective > 0 else np.inf

"""A better bound for searches that a time limit ends: no support has a value below a limit under the best one.

A search that goes through its tree in depth leaves open a part near the root, with a bound near that of all terms
together. A search for everything below a limit somewhat lower than the best value is far shorter than the whole one:
if it finds nothing, the limit is a lower bound; if it finds something, that is the best support.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from exactsindy.solver import spreading
from exactsindy.solver.backends import native
from exactsindy.solver.equations import Equation
from exactsindy.solver.outcome import Outcome
from exactsindy.solver.settings import Deadline, Progress, Settings, Status

FIRST = 0.75  # share of the time for the whole search
LEAST_SECONDS = 2.0  # shorter limits are left to the whole search
MOST_COLUMNS = 600  # of larger libraries the preparation alone, which every search repeats, takes long
_STEPS = (0.85, 0.5)  # of the gap that is left, for the first two limits: the first is sure to say something
_STEP = 0.65  # for the others: each takes a few times as long as the one before
_ENOUGH = 1e-4  # gaps below this are not worth another search
_ROUNDING = 1e-12  # relative
_CAPACITY = 2


def solve(
    equations: Sequence[Equation], sizes: Sequence[int], starts: Sequence[list[tuple[int, ...]]], settings: Settings
) -> list[Outcome]:
    """Solve equations within a time limit, the last part of which goes to the bounds of those that were not done."""
    deadline = Deadline(settings)
    short = settings.seconds is None or settings.seconds < LEAST_SECONDS or settings.nodes is not None
    short = short or max((len(equation.names) for equation in equations), default=0) > MOST_COLUMNS
    first = settings if short else deadline.share(FIRST)
    outcomes = [outcome for (outcome,) in spreading.run(equations, sizes, starts, first)]
    if short or not any(outcome.stop is Status.TIME_LIMIT for outcome in outcomes):
        return outcomes
    deadline.nodes += sum(outcome.nodes for outcome in outcomes)
    unfinished = [i for i, outcome in enumerate(outcomes) if outcome.stop is Status.TIME_LIMIT]
    for done, i in enumerate(unfinished):
        share = Deadline(deadline.settings(len(unfinished) - done))
        outcomes[i] = _tightened(equations[i], sizes[i], outcomes[i], share)
        if outcomes[i].stop is Status.INTERRUPTED:
            break
    return outcomes


def _tightened(equation: Equation, size: int, outcome: Outcome, deadline: Deadline) -> Outcome:
    """Return an outcome with the best bound that can be had within a deadline."""
    gap = _gap(outcome)
    nodes, seconds = outcome.nodes, outcome.seconds
    steps = iter(_STEPS)
    while gap > _ENOUGH and not deadline.expired:
        gap *= next(steps, _STEP)
        limit = outcome.objective * (1.0 - gap)
        limits = replace(deadline.settings(), gap=0.0, progress=_reporter(equation, outcome, deadline))
        wanted = [[-1.0] * size + [limit]]
        found = native.run([equation], [size], [[]], limits, pool=True, capacity=_CAPACITY, limits=wanted)[0][size]
        nodes, seconds = nodes + found.nodes, seconds + found.seconds
        if found.answers and found.answers[0].objective < outcome.objective:
            outcome = replace(outcome, answers=found.answers[:1])
        if found.stop is not None:
            outcome = replace(outcome, stop=found.stop)
            break
        if found.dependent:  # smaller supports would have to be looked at as well
            break
        proved = min(limit, outcome.objective) * (1.0 - _ROUNDING)
        outcome = replace(outcome, lower_bound=max(outcome.lower_bound, proved))
        gap = _gap(outcome)
    return replace(outcome, nodes=nodes, seconds=seconds)


def _gap(outcome: Outcome) -> float:
    return 1.0 - outcome.bound / outcome.objective if 0 < outcome.objective < math.inf else 0.0


def _reporter(equation: Equation, outcome: Outcome, deadline: Deadline) -> Callable[[Progress], None] | None:
    """Return what shows the best support and its bound while the bound is made better."""
    report, begin = deadline.limits.progress, deadline
    if report is None:
        return None
    terms = tuple(equation.names[j] for j in outcome.answers[0].support) if outcome.answers else ()
    target = equation.target

    def forward(now: Progress) -> None:
        known = ({target: outcome.objective}, {target: outcome.bound})
        report(Progress(*known, begin.nodes + now.nodes, begin.elapsed, {target: terms}))

    return forward

"""From outcomes of single equations to a `Solution`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from exactsindy.solver.arguments import Equation
from exactsindy.solver.backends.native import Found, Outcome, dense
from exactsindy.solver.backends.result import BackendResult
from exactsindy.solver.settings import Settings, Status
from exactsindy.solver.solution import Solution, floors, margin_of, relative_gap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactsindy.problem import Problem


PROVED = 1e-14  # a completed search leaves a gap of rounding size, also with Settings(gap=0)


def from_outcomes(
    problem: Problem,
    equations: Sequence[Equation],
    outcomes: Sequence[Outcome],
    ridge: NDArray[np.float64],
    k: tuple[int, ...],
    settings: Settings,
) -> Solution:
    """One native outcome per equation."""
    results = [
        BackendResult(
            support=o.answers[0].support,
            coef=np.asarray(o.answers[0].values),
            objective=o.answers[0].objective,
            lower_bound=min(o.lower_bound, o.answers[0].objective),
            margin=margin_of(o.answers[0].objective, o.runner_up),
            status=o.stop or Status.OPTIMAL,
            nodes=o.nodes,
            seconds=o.seconds,
        )
        for o in outcomes
    ]
    return from_results(problem, equations, results, ridge, k, settings)


def from_results(
    problem: Problem,
    equations: Sequence[Equation],
    results: Sequence[BackendResult],
    ridge: NDArray[np.float64],
    k: tuple[int, ...],
    settings: Settings,
) -> Solution:
    """One backend result per equation; its ``coef`` holds the values on its support."""
    width = len(problem.terms)
    rows = [
        dense(e, Found(r.support, tuple(np.asarray(r.coef).tolist()), r.objective), width)
        for e, r in zip(equations, results, strict=True)
    ]
    coef = np.array(rows).reshape(len(equations), width)
    objective = np.array([r.objective for r in results])
    lower_bound = np.array([r.lower_bound for r in results])
    gap = relative_gap(objective, lower_bound, np.zeros_like(objective))
    if np.any(gap > max(settings.gap, PROVED)):  # the floor only makes gaps smaller, and costs time
        gap = relative_gap(objective, lower_bound, floors(problem, coef, k))
    return Solution(
        problem=problem,
        coef=coef,
        support=tuple(
            tuple(sorted(int(e.columns[j]) for j in r.support)) for e, r in zip(equations, results, strict=True)
        ),
        objective=objective,
        lower_bound=lower_bound,
        margin=np.array([r.margin for r in results]),
        status=tuple(_status(r.status, float(g), settings) for r, g in zip(results, gap, strict=True)),
        nodes=np.array([r.nodes for r in results], dtype=np.int64),
        seconds=np.array([r.seconds for r in results]),
        ridge=ridge,
        k=k,
    )


def _status(status: Status, gap: float, settings: Settings) -> Status:
    """OPTIMAL means a proved gap within the tolerance: nothing else counts, in either direction."""
    if status is Status.REFITTED:
        return status
    if gap <= max(settings.gap, PROVED):
        return Status.OPTIMAL
    return status if status is not Status.OPTIMAL else Status.TOLERANCE

"""From outcomes of single equations to a `Solution`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from exactsindy.solver.arguments import Equation
from exactsindy.solver.backends.result import BackendResult, Outcome
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
    return from_results(problem, equations, [result_of(o) for o in outcomes], ridge, k, settings)


def result_of(outcome: Outcome) -> BackendResult:
    """Return the best answer of a native outcome."""
    best = outcome.answers[0]
    return BackendResult(
        support=best.support,
        coef=np.asarray(best.values),
        objective=best.objective,
        lower_bound=min(outcome.lower_bound, best.objective),
        margin=margin_of(best.objective, outcome.runner_up),
        status=outcome.stop or Status.OPTIMAL,
        nodes=outcome.nodes,
        seconds=outcome.seconds,
    )


def coefficients(
    problem: Problem, equations: Sequence[Equation], results: Sequence[BackendResult]
) -> NDArray[np.float64]:
    """Coefficients over all terms of the problem, one row per equation."""
    coef = np.zeros((len(equations), len(problem.terms)))
    for row, equation, result in zip(coef, equations, results, strict=True):
        row[equation.columns[list(result.support)]] = result.coef
    return coef


def supports(equations: Sequence[Equation], results: Sequence[BackendResult]) -> tuple[tuple[int, ...], ...]:
    """Supports in the numbering of the problem."""
    return tuple(tuple(sorted(int(e.columns[j]) for j in r.support)) for e, r in zip(equations, results, strict=True))


def from_results(
    problem: Problem,
    equations: Sequence[Equation],
    results: Sequence[BackendResult],
    ridge: NDArray[np.float64],
    k: tuple[int, ...],
    settings: Settings,
) -> Solution:
    """One backend result per equation; its ``coef`` holds the values on its support."""
    coef = coefficients(problem, equations, results)
    objective = np.array([r.objective for r in results])
    lower_bound = np.array([r.lower_bound for r in results])
    # The floor only makes gaps smaller, and costs time: most answers do not need it.
    proved = all(r.objective - r.lower_bound <= max(settings.gap, PROVED) * r.objective for r in results)
    floor = 0.0 * objective if proved else floors(problem, coef, k)
    gap = relative_gap(objective, lower_bound, floor)
    return Solution(
        problem=problem,
        coef=coef,
        support=supports(equations, results),
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

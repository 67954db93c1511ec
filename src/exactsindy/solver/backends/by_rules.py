"""Constrained problems by other means, for cross-checks: enumeration, SCIP and Gurobi.

The answers of all three are refitted by the native constrained fit, so that objectives compare; bounds and status of
SCIP and Gurobi are their own claims. Enumeration looks at every support with the convex solve of the certificate
room, which shares nothing with the search.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from exactsindy.certificate import Stacked, count_supports, support_value, supports
from exactsindy.errors import SolverError
from exactsindy.solver import constrained
from exactsindy.solver.backends.constrained import Component
from exactsindy.solver.backends.joint_mip import Claim, gurobi, scip
from exactsindy.solver.backends.result import Found, Outcome
from exactsindy.solver.deadline import Deadline
from exactsindy.solver.settings import Settings, Status, Total
from exactsindy.solver.solution import Solution

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactsindy.problem import Problem

#: More supports than this are refused: each takes about 0.1 ms.
MOST_SUPPORTS = 1_000_000


def solve(
    problem: Problem,
    k: tuple[int, ...] | Total,
    constraints: Sequence[Any],
    ridge: NDArray[np.float64],
    settings: Settings,
    backend: str,
) -> Solution:
    """Best support under constraints by ``"enumerate"``, ``"scip"`` or ``"gurobi"``."""
    solvers: dict[str, Callable[[Stacked, Settings], Claim]] = {
        "enumerate": enumerate_supports,
        "scip": scip,
        "gurobi": gurobi,
    }
    if backend not in solvers:
        raise SolverError(f"backend={backend!r} takes no constraints: use native, {', '.join(solvers)}.")
    task = constrained.prepare(problem, k, constraints, ridge)
    if task.rules.t_level > 0 or task.rules.convex:
        raise SolverError(f"backend={backend!r} takes no Significant, Quadratic or semidefinite constraints.")
    outcomes = []
    for component in task.components:
        started = time.perf_counter()
        budgets = task.budgets(component)
        stacked = Stacked.of(task.rules, component.indices, ridge, component.weights, budgets)
        support, bound, status, nodes = solvers[backend](stacked, settings)
        outcomes.append(_refitted(component, support, bound, status, nodes, started))
    return constrained.assemble(task, outcomes, settings)


def _refitted(
    component: Component,
    support: list[int] | None,
    bound: float,
    status: Status,
    nodes: int,
    started: float,
) -> Outcome:
    """Return the answer with the coefficients of the native fit."""
    answers: tuple[Found, ...] = ()
    if support is not None:
        chosen = {int(component.variables[i]) for i in support}
        absent = tuple(v for v in component.variables.tolist() if v not in chosen)
        found = component.solve([(absent, 0)] if absent else [], Settings(), runner_up=False)
        answers = found.answers
    stop = None if status in (Status.OPTIMAL, Status.INFEASIBLE) else status
    return Outcome(answers, np.nan, bound, stop, stop is None, nodes, time.perf_counter() - started)


def enumerate_supports(stacked: Stacked, settings: Settings) -> Claim:
    """Look at every support that the presence rows allow."""
    if count_supports(stacked) > MOST_SUPPORTS:
        raise SolverError(
            f"Enumeration refuses more than {MOST_SUPPORTS:.0e} supports ({len(stacked.variables)} coefficients): use "
            "backend='native'."
        )
    best, chosen, count = np.inf, None, 0
    deadline = Deadline(settings)
    for support in supports(stacked):
        count += 1
        if deadline.expired:
            return chosen, -np.inf, Status.TIME_LIMIT, count
        value = support_value(stacked, support)[0]
        if value < best * (1 - 1e-12):
            best, chosen = value, list(support)
    if chosen is None:
        return None, np.inf, Status.INFEASIBLE, count
    # Its doubles are right to about this.
    return chosen, (best + stacked.constant) * (1 - 1e-10), Status.OPTIMAL, count

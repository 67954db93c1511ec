"""SCIP through PySCIPOpt, for cross-checks: the paper's SOS-1 formulation with scaled columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from exactsindy.errors import SolverError
from exactsindy.solver.backends.component import Budget, Component
from exactsindy.solver.backends.scaling import (
    Scaled,
    fitted_component,
    fitted_equation,
    missing,
    scaled_equation,
    scaled_problem,
    unit_rows,
)
from exactsindy.solver.equations import Equation
from exactsindy.solver.outcome import Answer, Outcome
from exactsindy.solver.settings import Deadline, Settings, Status

_STOPS = {
    "optimal": None,
    "gaplimit": None,
    "timelimit": Status.TIME_LIMIT,
    "nodelimit": Status.NODE_LIMIT,
    "totalnodelimit": Status.NODE_LIMIT,
    "userinterrupt": Status.INTERRUPTED,
    "terminate": Status.INTERRUPTED,
}


def solve_equation(equation: Equation, size: int, settings: Settings) -> Outcome:
    """Solve one equation with SCIP (one thread): SOS1(xi_j, 1 - z_j) and sum z_j <= size.

    The support is refitted by exactsindy, so the coefficients and the objective are right. The lower bound and status
    are SCIP's own claims, valid up to its tolerances (1e-8 absolute on an objective scaled to about 1), and not proved
    in floating point; `exactsindy.verify` can check them. No margin is proved (nan).
    """
    deadline = Deadline(settings)
    scaled = scaled_equation(equation, size)
    return fitted_equation(equation, scaled, _run(scaled, settings), deadline)


def solve_component(component: Component, budgets: Sequence[Budget], settings: Settings) -> Outcome:
    """Solve equations that constraints or a shared budget bind together; bound and status are SCIP's own claims."""
    deadline = Deadline(settings)
    if np.any(component.rules.least[component.variables] > 0):
        raise SolverError("backend='scip' takes no SemiContinuous(least=...): use 'native', 'enumerate' or 'gurobi'.")
    return fitted_component(component, _run(scaled_problem(component.stacked(budgets)), settings), deadline)


def _run(scaled: Scaled, settings: Settings) -> Outcome:
    """Return what SCIP says: its support (no coefficients) and its bound in the user's units."""
    try:
        import pyscipopt
    except ImportError as error:
        raise missing("pyscipopt") from error
    model = pyscipopt.Model("exactsindy")
    model.hideOutput()
    model.setParam("limits/gap", settings.gap)
    # At 1e-9 SCIP's linear solver runs into numerical trouble and the search does not end.
    model.setParam("numerics/feastol", 1e-8)
    if settings.seconds is not None:
        model.setParam("limits/time", settings.seconds)
    if settings.nodes is not None:
        model.setParam("limits/totalnodes", settings.nodes)
    present = _write_model(pyscipopt, model, scaled)
    try:
        model.optimize()
    except Exception as error:  # PySCIPOpt raises bare exceptions for every failure inside SCIP
        raise SolverError(f"SCIP failed: {error}. Try backend='native'.") from error
    ended, nodes = str(model.getStatus()), int(model.getNTotalNodes())
    if ended == "infeasible":
        return Outcome((), math.inf, nodes=nodes)
    if ended not in _STOPS:
        raise SolverError(f"SCIP stopped with status {ended!r} and no answer. Try backend='native'.")
    answers: tuple[Answer, ...] = ()
    if model.getNSols() > 0:
        best: Any = model.getBestSol()
        answers = (Answer(tuple(j for j, flag in enumerate(present) if best[flag] > 0.5), (), math.nan),)
    dual = float(model.getDualbound())
    bound = dual * scaled.square if abs(dual) < model.infinity() else -math.inf
    return Outcome(answers, bound, stop=_STOPS[ended], nodes=nodes)


def _write_model(scip: Any, model: Any, scaled: Scaled) -> list[Any]:
    """Write a problem into a SCIP model; return its presence variables."""
    problem, total = scaled.problem, scip.quicksum
    rows, width = problem.matrix.shape
    lower, upper = np.maximum(problem.lower, -problem.most), np.minimum(problem.upper, problem.most)
    x = [
        model.addVar(f"x{j}", lb=low if np.isfinite(low) else None, ub=high if np.isfinite(high) else None)
        for j, (low, high) in enumerate(zip(lower.tolist(), upper.tolist(), strict=True))
    ]
    residual = [model.addVar(f"r{i}", lb=None) for i in range(rows)]
    present = [model.addVar(f"z{j}", vtype="B") for j in range(width)]
    absent = [model.addVar(f"s{j}", lb=0, ub=1) for j in range(width)]
    value = model.addVar("value", lb=0)

    def row(line: Any, variables: Sequence[Any]) -> Any:
        return total(float(line[j]) * variables[j] for j in np.flatnonzero(line).tolist())

    for i in range(rows):
        model.addCons(residual[i] + row(problem.matrix[i], x) == float(problem.target[i]))
    for j in range(width):
        model.addCons(absent[j] == 1 - present[j])
        model.addConsSOS1([x[j], absent[j]])
    for line, right in zip(*unit_rows(problem.equal, problem.equal_rhs), strict=True):
        model.addCons(row(line, x) == float(right))
    for line, right in zip(*unit_rows(problem.below, problem.below_rhs), strict=True):
        model.addCons(row(line, x) <= float(right))
    for line, right in zip(problem.presence, problem.presence_rhs, strict=True):
        model.addCons(row(line, present) <= float(right))
    model.addCons(value >= total(r * r for r in residual))
    model.setObjective(value + problem.constant, sense="minimize")
    return present

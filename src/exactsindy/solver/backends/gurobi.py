"""Gurobi through gurobipy, for cross-checks: the paper's SOS-1 formulation with scaled columns, and one with big-M."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from exactsindy._types import Array
from exactsindy.errors import SolverError
from exactsindy.solver.backends.component import Budget, Component
from exactsindy.solver.backends.scaling import (
    EPS,
    Scaled,
    ellipsoid_bounds,
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

_SIZE_LIMITED, _NO_LICENCE = 10010, 10009  # Gurobi's error codes for a licence that is too small, and for none


def solve_equation(
    equation: Equation,
    size: int,
    settings: Settings,
    *,
    formulation: Literal["sos1", "bigm"] = "sos1",
    bounds: Array | None = None,
) -> Outcome:
    """Solve one equation with Gurobi.

    The support is refitted by exactsindy, so the coefficients and the objective are right. The lower bound and status
    are Gurobi's own claims, valid up to its tolerances and not proved in floating point; `exactsindy.verify` can check
    them. No margin is proved (nan).

    ``formulation`` is ``"sos1"``: SOS1(xi_j, 1 - z_j), sum z_j <= size, with scaled columns, the constant in the
    objective and tolerances of 1e-9; or ``"bigm"``: the same with |xi_j| <= M_j z_j. ``bounds`` are M_j in the user's
    units, one number per term; by default valid ones are computed: no better solution than a greedy one exceeds them.
    """
    deadline = Deadline(settings)
    if formulation not in ("sos1", "bigm"):
        raise SolverError(f"formulation={formulation!r}: expected 'sos1' or 'bigm'.")
    if bounds is not None and formulation != "bigm":
        raise SolverError(f"bounds: only formulation='bigm' takes them, not {formulation!r}. Leave them out.")
    scaled = scaled_equation(equation, size)
    limits = _limits(scaled, size, bounds) if formulation == "bigm" else None
    return fitted_equation(equation, scaled, _run(scaled, settings, limits), deadline)


def solve_component(component: Component, budgets: Sequence[Budget], settings: Settings) -> Outcome:
    """Solve equations that constraints or a shared budget bind together; bound and status are Gurobi's own claims."""
    deadline = Deadline(settings)
    return fitted_component(component, _run(scaled_problem(component.stacked(budgets)), settings, None), deadline)


def _limits(scaled: Scaled, size: int, bounds: Array | None) -> Array:
    if bounds is None:
        return ellipsoid_bounds(scaled, size)
    numbers, columns = np.asarray(bounds, dtype=np.float64), scaled.problem.variables
    if numbers.ndim != 1 or numbers.size <= max(columns, default=-1) or not np.all(numbers > 0):
        raise SolverError(f"bounds: expected one positive number per term, got {bounds!r}.")
    return np.asarray(numbers[columns] / scaled.unit)


def _run(scaled: Scaled, settings: Settings, limits: Array | None) -> Outcome:
    """Return what Gurobi says: its support (no coefficients) and its bound in the user's units."""
    try:
        import gurobipy
    except ImportError as error:
        raise missing("gurobipy") from error
    try:
        # The environment is silenced before it starts: it prints its licence otherwise.
        with gurobipy.Env(empty=True) as env:
            env.setParam("OutputFlag", 0)
            env.start()
            with gurobipy.Model(env=env) as model:
                absent = write_model(gurobipy, model, scaled, settings, limits)
                model.optimize()
                return _outcome(gurobipy, model, absent, scaled.square)
    except gurobipy.GurobiError as error:
        raise _error(error, len(scaled.unit)) from error


def write_model(gurobi: Any, model: Any, scaled: Scaled, settings: Settings, limits: Array | None = None) -> Any:
    """Write a problem into a Gurobi model: SOS-1, or big-M where ``limits`` are given; return its absence variables."""
    _set_parameters(model, settings, scaled.target_square)
    problem, infinite = scaled.problem, gurobi.GRB.INFINITY
    width = problem.matrix.shape[1]
    x = model.addMVar(width, lb=np.maximum(problem.lower, -infinite), ub=np.minimum(problem.upper, infinite))
    absent = model.addMVar(width, vtype=gurobi.GRB.BINARY)
    if limits is None:
        for j in range(width):
            model.addSOS(gurobi.GRB.SOS_TYPE1, [x[j].item(), absent[j].item()])
    else:
        model.addConstr(x <= limits * (1 - absent))
        model.addConstr(x >= -limits * (1 - absent))
    if len(problem.equal):
        rows, rhs = unit_rows(problem.equal, problem.equal_rhs)
        model.addConstr(rows @ x == rhs)
    if len(problem.below):
        rows, rhs = unit_rows(problem.below, problem.below_rhs)
        model.addConstr(rows @ x <= rhs)
    if len(problem.presence):
        model.addConstr(-(problem.presence @ absent) <= problem.presence_rhs - problem.presence.sum(axis=1))
    _write_sizes(gurobi, model, scaled, x, absent)
    quadratic, linear = problem.matrix.T @ problem.matrix, problem.matrix.T @ problem.target
    model.setObjective(x @ quadratic @ x - 2 * (linear @ x) + scaled.target_square, gurobi.GRB.MINIMIZE)
    return absent


def _write_sizes(gurobi: Any, model: Any, scaled: Scaled, x: Any, absent: Any) -> None:
    """Write the least and the greatest size of a present coefficient."""
    least, most = scaled.problem.least, scaled.problem.most
    for j in np.flatnonzero((least > 0) | np.isfinite(most)).tolist():
        present = 1 - absent[j].item()
        if least[j] > 0:
            positive = model.addVar(vtype=gurobi.GRB.BINARY)
            model.addGenConstrIndicator(positive, True, x[j].item() >= least[j] * present)
            model.addGenConstrIndicator(positive, False, x[j].item() <= -least[j] * present)
        if np.isfinite(most[j]):
            model.addConstr(x[j].item() <= most[j] * present)
            model.addConstr(x[j].item() >= -most[j] * present)


def _set_parameters(model: Any, settings: Settings, target_square: float) -> None:
    model.Params.Threads = settings.threads or 0
    if settings.seconds is not None:
        model.Params.TimeLimit = settings.seconds
    if settings.nodes is not None:
        model.Params.NodeLimit = settings.nodes
    model.Params.MIPGap = settings.gap
    # The quadratic form cannot be evaluated better than this in doubles, so no smaller gap can close.
    model.Params.MIPGapAbs = 4 * EPS * target_square
    model.Params.IntFeasTol = model.Params.FeasibilityTol = model.Params.OptimalityTol = 1e-9


def _outcome(gurobi: Any, model: Any, absent: Any, square: float) -> Outcome:
    code, nodes = model.Status, int(model.NodeCount)
    if code in (gurobi.GRB.INFEASIBLE, gurobi.GRB.INF_OR_UNBD):
        return Outcome((), math.inf, nodes=nodes)
    stops = {
        gurobi.GRB.OPTIMAL: None,
        gurobi.GRB.TIME_LIMIT: Status.TIME_LIMIT,
        gurobi.GRB.NODE_LIMIT: Status.NODE_LIMIT,
        gurobi.GRB.INTERRUPTED: Status.INTERRUPTED,
        # It gave up before its own gap was reached, with an answer and a bound that stand.
        gurobi.GRB.SUBOPTIMAL: Status.INTERRUPTED,
    }
    if code not in stops:
        raise SolverError(f"Gurobi stopped with status code {code} and no answer. Try backend='native'.")
    bound = float(model.ObjBound)
    answers: tuple[Answer, ...] = ()
    if model.SolCount > 0:
        answers = (Answer(tuple(np.flatnonzero(np.asarray(absent.X) < 0.5).tolist()), (), math.nan),)
    bound = bound * square if abs(bound) < gurobi.GRB.INFINITY else -math.inf
    return Outcome(answers, bound, stop=stops[code], nodes=nodes)


def _error(error: Any, width: int) -> SolverError:
    if error.errno == _SIZE_LIMITED:
        return SolverError(
            f"Gurobi's licence refuses {width} terms ({2 * width} variables): the one that comes with the "
            "pip package allows about 100 terms. Install a full licence, or use backend='native' (no limit)."
        )
    if error.errno == _NO_LICENCE:
        return SolverError(f"Gurobi found no valid licence ({error}). Install one, or use backend='native'.")
    return SolverError(f"Gurobi failed: {error}. Try backend='native'.")

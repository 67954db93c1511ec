"""Constrained joint problems for SCIP and Gurobi: scaled columns, SOS-1, linear and presence rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from exactsindy.certificate import Stacked
from exactsindy.errors import SolverError
from exactsindy.solver.backends.mip import missing
from exactsindy.solver.settings import Settings, Status

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Support (or None), claimed bound, status, nodes.
Claim = tuple[list[int] | None, float, Status, int]


def _row_scale(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    scale = np.abs(rows).max(axis=1, initial=0.0)
    return np.asarray(np.where(scale > 0, scale, 1.0))


def gurobi(stacked: Stacked, settings: Settings) -> Claim:
    """Solve with Gurobi, tolerances 1e-9; bound and status are its own claims."""
    try:
        import gurobipy
    except ImportError as error:
        raise missing("gurobipy") from error
    p, unit = stacked.scaled()
    try:
        with gurobipy.Env(empty=True) as env:
            env.setParam("OutputFlag", 0)
            env.start()
            with gurobipy.Model(env=env) as model:
                absent = gurobi_model(gurobipy, model, p, settings)
                model.optimize()
                code = model.Status
                if code in (gurobipy.GRB.INFEASIBLE, gurobipy.GRB.INF_OR_UNBD):
                    return None, np.inf, Status.INFEASIBLE, int(model.NodeCount)
                support = np.flatnonzero(np.asarray(absent.X) < 0.5).tolist() if model.SolCount else None
                known = {gurobipy.GRB.OPTIMAL: Status.OPTIMAL, gurobipy.GRB.TIME_LIMIT: Status.TIME_LIMIT}
                return support, float(model.ObjBound) * unit, known.get(code, Status.INTERRUPTED), int(model.NodeCount)
    except gurobipy.GurobiError as error:
        raise SolverError(f"Gurobi failed: {error}. Try backend='native'.") from error


def gurobi_model(gurobipy: Any, model: Any, p: Stacked, settings: Settings) -> Any:
    """Write the model; return its absence variables."""
    model.Params.Threads = settings.threads or 0
    if settings.seconds is not None:
        model.Params.TimeLimit = settings.seconds
    model.Params.MIPGap = settings.gap
    for name in ("IntFeasTol", "FeasibilityTol", "OptimalityTol"):
        model.setParam(name, 1e-9)
    width, infinite = p.matrix.shape[1], gurobipy.GRB.INFINITY
    x = model.addMVar(width, lb=np.maximum(p.lower, -infinite), ub=np.minimum(p.upper, infinite))
    absent = model.addMVar(width, vtype=gurobipy.GRB.BINARY)
    for j in range(width):
        model.addSOS(gurobipy.GRB.SOS_TYPE1, [x[j].item(), absent[j].item()])
    for rows, rhs, equal in ((p.equal, p.equal_rhs, True), (p.below, p.below_rhs, False)):
        if len(rows):
            scale = _row_scale(rows)
            left, right = (rows / scale[:, None]) @ x, rhs / scale
            model.addConstr(left == right if equal else left <= right)
    if len(p.presence):
        model.addConstr(-(p.presence @ absent) <= p.presence_rhs - p.presence.sum(axis=1))
    positive: dict[int, Any] = {}
    present = {j: 1 - absent[j].item() for j in range(width)}
    for j in np.flatnonzero((p.least > 0) | np.isfinite(p.most)).tolist():
        positive[j] = model.addVar(vtype=gurobipy.GRB.BINARY)
        if p.least[j] > 0:
            model.addGenConstrIndicator(positive[j], True, x[j].item() >= p.least[j] * present[j])
            model.addGenConstrIndicator(positive[j], False, x[j].item() <= -p.least[j] * present[j])
        if np.isfinite(p.most[j]):
            model.addConstr(x[j].item() <= p.most[j] * present[j])
            model.addConstr(x[j].item() >= -p.most[j] * present[j])
    quadratic, linear = p.matrix.T @ p.matrix, p.matrix.T @ p.target
    model.setObjective(x @ quadratic @ x - 2 * (linear @ x) + float(p.target @ p.target) + p.constant)
    return absent


def scip(stacked: Stacked, settings: Settings) -> Claim:
    """Solve with SCIP (one thread), feasibility 1e-8; bound and status are its own claims."""
    try:
        import pyscipopt
    except ImportError as error:
        raise missing("pyscipopt") from error
    if np.any(stacked.least > 0):
        raise SolverError("backend='scip' takes no SemiContinuous(least=...): use 'native', 'enumerate' or 'gurobi'.")
    p, unit = stacked.scaled()
    model = pyscipopt.Model("exactsindy")
    model.hideOutput()
    model.setParam("limits/gap", settings.gap)
    model.setParam("numerics/feastol", 1e-8)
    if settings.seconds is not None:
        model.setParam("limits/time", settings.seconds)
    present = _scip_model(pyscipopt, model, p)
    try:
        model.optimize()
    except Exception as error:  # PySCIPOpt raises bare exceptions for every failure inside SCIP
        raise SolverError(f"SCIP failed: {error}. Try backend='native'.") from error
    outcome, nodes = str(model.getStatus()), int(model.getNTotalNodes())
    if outcome == "infeasible":
        return None, np.inf, Status.INFEASIBLE, nodes
    support = None
    if model.getNSols():
        best: Any = model.getBestSol()
        support = [j for j, flag in enumerate(present) if best[flag] > 0.5]
    done = outcome in ("optimal", "gaplimit")
    return support, float(model.getDualbound()) * unit, Status.OPTIMAL if done else Status.TIME_LIMIT, nodes


def _scip_model(scip_module: Any, model: Any, p: Stacked) -> list[Any]:
    total = scip_module.quicksum
    width, rows = p.matrix.shape[1], p.matrix.shape[0]
    ends = [
        (max(lo, -most) if np.isfinite(max(lo, -most)) else None, min(hi, most) if np.isfinite(min(hi, most)) else None)
        for lo, hi, most in zip(p.lower, p.upper, p.most, strict=True)
    ]
    x = [model.addVar(f"x{j}", lb=lo, ub=hi) for j, (lo, hi) in enumerate(ends)]
    present = [model.addVar(f"p{j}", vtype="B") for j in range(width)]
    residual = [model.addVar(f"r{i}", lb=None) for i in range(rows)]
    value = model.addVar("value", lb=0)
    for j in range(width):
        absent = model.addVar(f"a{j}", lb=0, ub=1)
        model.addCons(absent == 1 - present[j])
        model.addConsSOS1([x[j], absent])
    for i in range(rows):
        used = np.flatnonzero(p.matrix[i])
        model.addCons(residual[i] + total(float(p.matrix[i, j]) * x[j] for j in used) == float(p.target[i]))
    for lines, rhs, equal in ((p.equal, p.equal_rhs, True), (p.below, p.below_rhs, False)):
        for line, right, scale in zip(lines, rhs, _row_scale(lines), strict=True):
            left = total(float(line[j] / scale) * x[j] for j in np.flatnonzero(line))
            model.addCons(left == float(right / scale) if equal else left <= float(right / scale))
    for line, right in zip(p.presence, p.presence_rhs, strict=True):
        model.addCons(total(float(line[j]) * present[j] for j in np.flatnonzero(line)) <= float(right))
    model.addCons(value >= total(r * r for r in residual))
    model.setObjective(value + p.constant, sense="minimize")
    return present

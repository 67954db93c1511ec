"""The Gurobi formulation of the paper's code: raw columns, no constant in the objective, default tolerances.

It minimises ``xi' (R'R + ridge) xi - 2 z'R xi`` with SOS1(xi_j, 1 - z_j) and keeps the largest coefficients.
Gurobi's default gap of 1e-4 is relative to an objective without z'z, so its status says "optimal" also for supports
that are not. The package's own Gurobi backend scales the columns, adds the constant and asks for a gap of 1e-9.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
#: Error codes of Gurobi: no licence, and a licence that is too small for the model.
LICENCE_CODES = (10009, 10010)


def solve_published(
    theta_factor: Array, z: Array, rest_square: float, ridge: Array, size: int, *, seconds: float, threads: int = 0
) -> dict[str, Any]:
    """Solve one equation as published; return the answer in the form of `exactsindy_experiments.peer_solvers`."""
    import gurobipy

    started = time.perf_counter()
    try:
        # The environment is silenced before it starts: it prints its licence otherwise.
        with gurobipy.Env(empty=True) as env:
            env.setParam("OutputFlag", 0)
            env.start()
            with gurobipy.Model(env=env) as model:
                model.Params.Threads, model.Params.TimeLimit = threads, seconds
                answer = _optimise(gurobipy, model, theta_factor, z, ridge, size)
    except gurobipy.GurobiError as error:
        if error.errno not in LICENCE_CODES:
            raise
        return {"support": [], "status": "licence", "note": str(error)}
    answer["lower_bound"] += float(z @ z) + rest_square
    return {**answer, "seconds": time.perf_counter() - started}


def _optimise(gurobi: Any, model: Any, theta_factor: Array, z: Array, ridge: Array, size: int) -> dict[str, Any]:
    width = len(z)
    xi = model.addMVar(width, lb=-gurobi.GRB.INFINITY)
    absent = model.addMVar(width, vtype=gurobi.GRB.BINARY)
    for j in range(width):
        model.addSOS(gurobi.GRB.SOS_TYPE1, [xi[j].item(), absent[j].item()])
    model.addConstr(absent.sum() >= width - size)
    quadratic, linear = theta_factor.T @ theta_factor + np.diag(ridge), theta_factor.T @ z
    model.setObjective(xi @ quadratic @ xi - 2 * (linear @ xi), gurobi.GRB.MINIMIZE)
    model.optimize()
    coef = np.asarray(xi.X) if model.SolCount else np.zeros(width)
    largest = sorted(np.flatnonzero(coef), key=lambda j: -abs(coef[j]))[:size]
    bound = float(model.ObjBound)
    return {
        "support": sorted(int(j) for j in largest),
        "status": "optimal" if model.Status == gurobi.GRB.OPTIMAL else "time limit",
        "lower_bound": bound if abs(bound) < gurobi.GRB.INFINITY else float("-inf"),
        "nodes": int(model.NodeCount),
    }

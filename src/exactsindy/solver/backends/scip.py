"""SCIP through PySCIPOpt: the paper's SOS-1 formulation with scaled columns, for cross-checks."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from exactsindy.errors import SolverError
from exactsindy.solver.backends.mip import ScaledEquation, check_size, finish, missing, scaled_equation
from exactsindy.solver.settings import Settings, Status

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from exactsindy.solver.backends.result import BackendResult

_STATUS = {
    "optimal": Status.OPTIMAL,
    "gaplimit": Status.OPTIMAL,
    "timelimit": Status.TIME_LIMIT,
    "nodelimit": Status.NODE_LIMIT,
    "totalnodelimit": Status.NODE_LIMIT,
    "userinterrupt": Status.INTERRUPTED,
    "terminate": Status.INTERRUPTED,
}


def solve_equation(
    theta_factor: NDArray[np.float64],
    z: NDArray[np.float64],
    rest_square: float,
    ridge: NDArray[np.float64],
    size: int,
    *,
    settings: Settings,
) -> BackendResult:
    """Solve one equation with SCIP (one thread).

    ``min |z - R xi|^2 + sum ridge_j xi_j^2 + rest_square`` subject to SOS1(xi_j, 1 - z_j) and sum z_j <=
    size.

    The support is refitted by exactsindy, so the coefficients and the objective are right. The lower bound
    and the status are SCIP's own claims, valid up to its tolerances (1e-8 absolute on an objective scaled to
    about 1), and not proved in floating point; `exactsindy.verify` can check them. No margin is proved (nan).

    Raises
    ------
    MissingDependency
        PySCIPOpt is not installed.
    SolverError
        SCIP failed, which numerical trouble can make it do.

    Examples
    --------
    >>> import numpy as np
    >>> factor, z = np.array([[2.0, 1.0], [0.0, 1.0]]), np.array([1.0, 3.0])
    >>> result = solve_equation(factor, z, 0.5, np.zeros(2), 1, settings=Settings())  # doctest: +SKIP
    >>> result.support, result.objective  # doctest: +SKIP
    ((1,), 2.5)
    """
    started = time.perf_counter()
    try:
        import pyscipopt
    except ImportError as error:
        raise missing("pyscipopt") from error
    size = check_size(size, theta_factor.shape[1])
    equation = scaled_equation(theta_factor, z, rest_square, ridge, size)
    model, present = _model(pyscipopt, equation, size, settings)
    try:
        model.optimize()
    except Exception as error:  # PySCIPOpt raises bare exceptions for every failure inside SCIP
        raise SolverError(f"SCIP failed: {error}. Try backend='native'.") from error
    outcome = str(model.getStatus())
    if outcome not in _STATUS:
        raise SolverError(f"SCIP stopped with status {outcome!r} and no answer. Try backend='native'.")
    chosen: list[int] = []
    if model.getNSols() > 0:
        best = model.getBestSol()
        chosen = [j for j, flag in zip(equation.columns, present, strict=True) if best[flag] > 0.5]
    dual = float(model.getDualbound())
    return finish(
        theta_factor,
        z,
        rest_square,
        ridge,
        support=chosen,
        claimed_bound=equation.claim(dual) if abs(dual) < model.infinity() else float("-inf"),
        status=_STATUS[outcome],
        nodes=int(model.getNTotalNodes()),
        started=started,
    )


def _model(scip: Any, equation: ScaledEquation, size: int, settings: Settings) -> tuple[Any, list[Any]]:
    model = scip.Model("exactsindy")
    model.hideOutput()
    model.setParam("limits/gap", settings.gap)
    # At 1e-9 SCIP's linear solver runs into numerical trouble and the search does not end.
    model.setParam("numerics/feastol", 1e-8)
    if settings.seconds is not None:
        model.setParam("limits/time", settings.seconds)
    if settings.nodes is not None:
        model.setParam("limits/totalnodes", settings.nodes)
    width = len(equation.columns)
    x = [model.addVar(f"x{i}", lb=None) for i in range(width)]
    residual = [model.addVar(f"r{i}", lb=None) for i in range(width)]
    present = [model.addVar(f"z{i}", vtype="B") for i in range(width)]
    absent = [model.addVar(f"s{i}", lb=0, ub=1) for i in range(width)]
    value = model.addVar("value", lb=0)
    for i in range(width):
        row = scip.quicksum(float(equation.factor[i, j]) * x[j] for j in range(i, width))
        model.addCons(residual[i] + row == float(equation.target[i]))
        model.addCons(absent[i] == 1 - present[i])
        model.addConsSOS1([x[i], absent[i]])
    model.addCons(scip.quicksum(present) <= size)
    model.addCons(value >= scip.quicksum(r * r for r in residual))
    model.setObjective(value + equation.constant, sense="minimize")
    return model, present

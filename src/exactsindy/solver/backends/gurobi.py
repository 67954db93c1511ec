"""Gurobi through gurobipy: the paper's SOS-1 formulation with scaled columns, and one with big-M, for cross-checks."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from exactsindy.errors import SolverError
from exactsindy.solver.backends.mip import (
    EPS,
    ScaledEquation,
    check_size,
    ellipsoid_bounds,
    finish,
    missing,
    scaled_equation,
)
from exactsindy.solver.settings import Settings, Status

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactsindy.solver.backends.result import BackendResult

_SIZE_LIMITED = 10010
_NO_LICENCE = 10009


@dataclass(frozen=True)
class _Answer:
    """What Gurobi returned, in its own units; ``bound`` is -inf if it has none."""

    present: NDArray[np.bool_]
    bound: float
    status: Status
    nodes: int


def solve_equation(
    theta_factor: NDArray[np.float64],
    z: NDArray[np.float64],
    rest_square: float,
    ridge: NDArray[np.float64],
    size: int,
    *,
    settings: Settings,
    formulation: Literal["sos1", "bigm"] = "sos1",
    bounds: NDArray[np.float64] | None = None,
) -> BackendResult:
    """Solve one equation with Gurobi.

    ``min |z - R xi|^2 + sum ridge_j xi_j^2 + rest_square`` with at most ``size`` nonzero ``xi_j``.

    The support is refitted by exactsindy, so the coefficients and the objective are right. The lower bound
    and the status are Gurobi's own claims, valid up to its tolerances and not proved in floating point;
    `exactsindy.verify` can check them. No margin is proved (nan).

    Parameters
    ----------
    theta_factor, z, rest_square, ridge, size, settings
        The equation, as in every backend.
    formulation
        ``"sos1"``: SOS1(xi_j, 1 - z_j), sum z_j <= size, with scaled columns, the constant in the objective
        and tolerances of 1e-9. ``"bigm"``: the same with |xi_j| <= M_j z_j.
    bounds
        For ``"bigm"``: M_j in the user's units, one number per term. By default valid ones are computed: no
        better solution than a greedy one exceeds them.

    Raises
    ------
    MissingDependency
        gurobipy is not installed.
    SolverError
        No licence, or one that is too small: that of the pip package takes about 100 terms.

    Examples
    --------
    >>> import numpy as np
    >>> factor, z = np.array([[2.0, 1.0], [0.0, 1.0]]), np.array([1.0, 3.0])
    >>> result = solve_equation(factor, z, 0.5, np.zeros(2), 1, settings=Settings())  # doctest: +SKIP
    >>> result.support, result.objective  # doctest: +SKIP
    ((1,), 2.5)
    """
    started = time.perf_counter()
    if formulation not in ("sos1", "bigm"):
        raise SolverError(f"formulation={formulation!r}: expected 'sos1' or 'bigm'.")
    if bounds is not None and formulation != "bigm":
        raise SolverError(f"bounds: only formulation='bigm' takes them, not {formulation!r}. Leave them out.")
    size = check_size(size, theta_factor.shape[1])
    equation = scaled_equation(theta_factor, z, rest_square, ridge, size)
    limits = _limits(equation, size, bounds) if formulation == "bigm" else None
    answer = _run(equation, size, settings=settings, limits=limits)
    return finish(
        theta_factor,
        z,
        rest_square,
        ridge,
        support=[equation.columns[i] for i in np.flatnonzero(answer.present)],
        claimed_bound=equation.claim(answer.bound),
        status=answer.status,
        nodes=answer.nodes,
        started=started,
    )


def _limits(equation: ScaledEquation, size: int, bounds: NDArray[np.float64] | None) -> NDArray[np.float64]:
    if bounds is None:
        return ellipsoid_bounds(equation, size)
    given = np.asarray(bounds, dtype=np.float64)
    if given.ndim != 1 or given.size <= max(equation.columns, default=-1) or not np.all(given > 0):
        raise SolverError(f"bounds: expected one positive number per term, got {bounds!r}.")
    return np.asarray(given[list(equation.columns)] / equation.unit)


def _run(equation: ScaledEquation, size: int, *, settings: Settings, limits: NDArray[np.float64] | None) -> _Answer:
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
                _set_parameters(model, settings, equation.target_square)
                return _optimise(gurobipy, model, equation, size, limits)
    except gurobipy.GurobiError as error:
        raise _error(error, len(equation.columns)) from error


def _set_parameters(model: Any, settings: Settings, target_square: float) -> None:
    model.Params.Threads = settings.threads or 0
    if settings.seconds is not None:
        model.Params.TimeLimit = settings.seconds
    if settings.nodes is not None:
        model.Params.NodeLimit = settings.nodes
    model.Params.MIPGap = settings.gap
    # The quadratic form cannot be evaluated better than this in doubles, so no smaller gap can close.
    model.Params.MIPGapAbs = 4 * EPS * target_square
    model.Params.IntFeasTol = 1e-9
    model.Params.FeasibilityTol = 1e-9
    model.Params.OptimalityTol = 1e-9


def _optimise(
    gurobi: Any, model: Any, equation: ScaledEquation, size: int, limits: NDArray[np.float64] | None
) -> _Answer:
    quadratic, linear = equation.factor.T @ equation.factor, equation.factor.T @ equation.target
    width = len(linear)
    x = model.addMVar(width, lb=-gurobi.GRB.INFINITY)
    absent = model.addMVar(width, vtype=gurobi.GRB.BINARY)
    if limits is None:
        for j in range(width):
            model.addSOS(gurobi.GRB.SOS_TYPE1, [x[j].item(), absent[j].item()])
    else:
        model.addConstr(x <= limits * (1 - absent))
        model.addConstr(x >= -limits * (1 - absent))
    model.addConstr(absent.sum() >= width - size)
    model.setObjective(x @ quadratic @ x - 2 * (linear @ x) + equation.target_square, gurobi.GRB.MINIMIZE)
    model.optimize()
    bound = float(model.ObjBound)
    return _Answer(
        present=np.asarray(absent.X) < 0.5 if model.SolCount > 0 else np.zeros(width, dtype=np.bool_),
        bound=bound if abs(bound) < gurobi.GRB.INFINITY else float("-inf"),
        status=_status(gurobi, model.Status),
        nodes=int(model.NodeCount),
    )


def _status(gurobi: Any, code: int) -> Status:
    known = {
        gurobi.GRB.OPTIMAL: Status.OPTIMAL,
        gurobi.GRB.TIME_LIMIT: Status.TIME_LIMIT,
        gurobi.GRB.NODE_LIMIT: Status.NODE_LIMIT,
        gurobi.GRB.INTERRUPTED: Status.INTERRUPTED,
        # It gave up before its own gap was reached, with an answer and a bound that stand.
        gurobi.GRB.SUBOPTIMAL: Status.INTERRUPTED,
    }
    if code not in known:
        raise SolverError(f"Gurobi stopped with status code {code} and no answer. Try backend='native'.")
    return known[code]


def _error(error: Any, width: int) -> SolverError:
    if error.errno == _SIZE_LIMITED:
        return SolverError(
            f"Gurobi's licence refuses {width} terms ({2 * width} variables): the one that comes with the "
            "pip package allows about 100 terms. Install a full licence, or use backend='native' (no limit)."
        )
    if error.errno == _NO_LICENCE:
        return SolverError(f"Gurobi found no valid licence ({error}). Install one, or use backend='native'.")
    return SolverError(f"Gurobi failed: {error}. Try backend='native'.")

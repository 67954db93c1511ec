"""The other solvers, each asked about one equation, in a worker process.

Some need an older NumPy and so another Python: this file imports nothing but NumPy and the standard library at the top
and is also run by its path.

A request names a solver, a ``.npz`` file with the equation (``theta_factor``, ``z``, ``rest_square``, ``ridge``,
``size``, and for l0bnb ``penalty`` and ``largest``) and the time limit. The answer has ``support``, ``status``,
``seconds`` (of the solver, without reading and checking), ``lower_bound`` (its own claim, constant included), ``nodes``
and ``note``.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import time
from typing import Any

import numpy as np

#: Peers are asked for a proof as tight as ours; each means the gap relative to its own objective.
GAP = 1e-9
#: Peers that are backends of this package.
BACKENDS = {"gurobi sos1": "gurobi", "scip": "scip", "enumeration": "enumerate"}


def solve(solver: str, equation: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Run one solver on one equation."""
    if solver == "okridge":
        return _okridge(equation, seconds)
    if solver == "l0bnb":
        return _l0bnb(equation, seconds)
    if solver == "abess":
        return _abess(equation)
    if solver == "gurobi published":
        return _published(equation, seconds)
    return _backend(solver, equation, seconds)


def _backend(solver: str, equation: dict[str, Any], seconds: float) -> dict[str, Any]:
    from exactsindy import Problem, Settings
    from exactsindy import solve as solve_problem
    from exactsindy.errors import MissingDependency, SolverError

    theta = np.vstack([equation["theta_factor"], np.zeros_like(equation["z"])])
    problem = Problem.from_arrays(theta, np.append(equation["z"], math.sqrt(equation["rest_square"])))
    settings = Settings(seconds=seconds, gap=GAP)
    try:
        answer = solve_problem(
            problem, equation["size"], ridge=equation["ridge"], settings=settings, backend=BACKENDS[solver]
        )
    except MissingDependency as error:
        return no_answer("not installed", str(error))
    except SolverError as error:
        return no_answer("licence" if "licence" in str(error) else "skipped", str(error))
    status = answer.status[0].name.lower().replace("_", " ")
    return {
        "support": [int(j) for j in answer.support[0]],
        # "tolerance" is a gap of at most GAP, which is what every peer calls optimal.
        "status": "optimal" if status == "tolerance" else status,
        "seconds": float(answer.seconds[0]),
        "lower_bound": float(answer.lower_bound[0]),
        "nodes": int(answer.nodes[0]),
        "note": "",
    }


def _published(equation: dict[str, Any], seconds: float) -> dict[str, Any]:
    from exactsindy_experiments.published_gurobi import solve_published

    arguments = [equation[key] for key in ("theta_factor", "z", "rest_square", "ridge", "size")]
    return {**no_answer("failed", ""), **solve_published(*arguments, seconds=seconds)}


def _okridge(equation: dict[str, Any], seconds: float) -> dict[str, Any]:
    tree = importlib.import_module("okridge.tree")
    design, z = np.ascontiguousarray(equation["theta_factor"]), equation["z"]
    started = time.perf_counter()
    search = tree.BNBTree(X=design, y=z, lambda2=float(equation["ridge"][0]), max_memory_GB=2)
    _, coef, gap, bound, _ = search.solve(k=equation["size"], gap_tol=GAP, verbose=False, time_limit=seconds)
    elapsed = time.perf_counter() - started
    return {
        "support": [int(j) for j in np.flatnonzero(coef)],
        "status": "optimal" if gap <= GAP else "time limit",
        "seconds": elapsed,
        # Its objective leaves out the constant.
        "lower_bound": float(bound + z @ z + equation["rest_square"]),
        "nodes": -1,
        "note": "",
    }


def _l0bnb(equation: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Solve the penalised problem whose answer has the wanted size: 1/2 RSS + l0 |S| + l2 |xi|^2."""
    if not equation["penalty"] > 0:
        return no_answer("skipped", "no l0 penalty has a solution of this size")
    tree = importlib.import_module("l0bnb").BNBTree(np.ascontiguousarray(equation["theta_factor"]), equation["z"])
    weight = {"l0": equation["penalty"] / 2, "l2": float(equation["ridge"][0]) / 2, "m": equation["largest"]}
    started = time.perf_counter()
    result = tree.solve(**weight, gap_tol=GAP, time_limit=seconds)
    elapsed = time.perf_counter() - started
    support = [] if result.beta is None else [int(j) for j in np.flatnonzero(result.beta)]
    # Its cost is half of ours plus the penalty; its gap is relative to that.
    bound = 2 * float(result.cost * (1 - result.gap)) - equation["penalty"] * equation["size"]
    # It also ends when its tree is empty, whatever the gap says.
    status = "optimal" if result.gap <= GAP or elapsed < 0.95 * seconds else "time limit"
    same = len(support) == equation["size"]
    return {
        "support": support,
        "status": status if same or status == "time limit" else "other size",
        "seconds": elapsed,
        "lower_bound": bound + equation["rest_square"] if same else -math.inf,
        "nodes": int(tree.number_of_nodes),
        "note": "" if same else f"answer has {len(support)} terms",
    }


def _abess(equation: dict[str, Any]) -> dict[str, Any]:
    """Run abess on columns of length 1; it splices supports, proves nothing and has no time limit."""
    linear = importlib.import_module("abess.linear")
    design = equation["theta_factor"] / np.linalg.norm(equation["theta_factor"], axis=0)
    started = time.perf_counter()
    model = linear.LinearRegression(support_size=equation["size"], fit_intercept=False)
    model.fit(design, equation["z"], is_normal=False)
    return {
        **no_answer("heuristic", "", time.perf_counter() - started),
        "support": [int(j) for j in np.flatnonzero(model.coef_)],
    }


def no_answer(status: str, note: str, seconds: float = math.nan) -> dict[str, Any]:
    """Return the answer of a solver that gave none."""
    return {
        "support": [],
        "status": status,
        "seconds": seconds,
        "lower_bound": -math.inf,
        "nodes": -1,
        "note": note,
    }


def _warm(solver: str) -> None:
    """Import and compile before anything is timed."""
    rng = np.random.default_rng(0)
    factor = np.triu(rng.normal(size=(6, 6))) + 3 * np.eye(6)
    z = factor @ np.array([1.0, -2.0, 0.0, 0.0, 0.0, 0.0]) + 0.01 * rng.normal(size=6)
    tiny = {"theta_factor": factor, "z": z, "rest_square": 0.1, "ridge": np.full(6, 0.01), "size": 2}
    with contextlib.suppress(Exception):  # what fails here fails again, and is then reported
        solve(solver, {**tiny, "penalty": 0.1, "largest": 5.0}, 5.0)


def _read(path: str) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as stored:
        equation = {name: stored[name] for name in stored.files}
    return {name: array.item() if array.ndim == 0 else array for name, array in equation.items()}


_WARM: set[str] = set()


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Let a solver answer a request; whatever it raises becomes the answer's status and note."""
    solver = request["solver"]
    try:
        if solver not in _WARM:
            _WARM.add(solver)
            _warm(solver)
        return solve(solver, _read(request["equation"]), request["seconds"])
    except ImportError as error:
        return no_answer("not installed", str(error))
    except Exception as error:  # a peer may fail in any way; the benchmark records it and goes on
        return no_answer("failed", f"{type(error).__name__}: {error}")

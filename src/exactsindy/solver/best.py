"""The verb: best support of a given size, proved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from exactsindy.solver import arguments, assemble, backends, constrained, interrupt, joint
from exactsindy.solver.backends import native
from exactsindy.solver.backends.result import BackendResult
from exactsindy.solver.settings import Settings, Status, Total
from exactsindy.solver.solution import Solution

if TYPE_CHECKING:
    from exactsindy.problem import Problem


def solve(
    problem: Problem,
    k: int | Sequence[int] | Mapping[str, int] | Total,
    *,
    ridge: Any = 0.0,
    constraints: Sequence[Any] = (),
    start: Any = None,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    backend: str = "native",
) -> Solution:
    r"""Find the best support of at most k terms for every equation, and prove it.

    For each target it minimises, over all supports S with at most k terms,
    :math:`\min_\xi \|y - \Theta_S \xi\|^2 + \sum_j \lambda_j \xi_j^2`.

    Parameters
    ----------
    problem
        The compressed regression.
    k
        Number of terms: an int for every equation, a sequence or mapping ``{target: int}`` for each its own, or
        ``Total(k, weights)`` for one budget shared by all equations.
    ridge
        Weight of the squared coefficients in the user's units: a number, one per term, or (equations x terms).
        ``ridge * problem.column_norms**2`` gives the ridge of normalised columns.
    constraints
        What must hold: records such as `Equal`, `Linear`, `Bounds`, `Forbid`, `Implies` or `GradientSystem`, or
        texts for `parse_constraint`. Equations they bind together are solved together; the arrays of the answer
        then have one entry. The status is INFEASIBLE if nothing satisfies them, and `Solution.conflict` names some
        that clash.
    start
        Supports to start from (a `Solution`, a mapping from target to terms, or one list of terms per equation). They
        speed the search up; they cannot change the answer.
    settings
        Limits, threads and progress.
    backend
        ``"native"``; for cross-checks ``"enumerate"``, ``"scip"``, ``"gurobi"`` or ``"gurobi-bigm"``.

    Returns
    -------
    Solution
        With ``status`` OPTIMAL only if proved; after a limit or Ctrl-C the best answer so far with a true bound.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> rng = np.random.default_rng(0)
    >>> theta = rng.normal(size=(200, 12))
    >>> problem = es.Problem.from_arrays(theta, 2 * theta[:, 3] - theta[:, 7] + 0.1 * rng.normal(size=200))
    >>> solution = es.solve(problem, 2)
    >>> solution.support, solution.optimal
    (((3, 7),), True)
    """
    arguments.check_problem(problem)
    weights = arguments.ridge_matrix(problem, ridge)
    starts = _starts(problem, start)
    constraints = arguments.constraint_list(constraints)
    if constraints:
        budget = arguments.budget(problem, k)
        if backend != "native":
            from exactsindy.solver.backends import by_rules

            return by_rules.solve(problem, budget, constraints, weights, settings, backend)
        return constrained.solve(problem, budget, constraints, weights, starts, settings)
    if isinstance(k, Total):
        if backend != "native":
            return joint.by_backend(problem, k, weights, settings, backend)
        with interrupt.held():
            return joint.solve(problem, k, weights, starts, settings)
    sizes = arguments.sizes(problem, k)
    equations = arguments.equations(problem, weights)
    clipped = [arguments.clipped(e, size) for e, size in zip(equations, sizes, strict=True)]
    if backend == "native":
        with interrupt.held():
            outcomes = native.run(equations, clipped, local_starts(equations, starts), settings)
        return assemble.from_outcomes(problem, equations, [o[0] for o in outcomes], weights, sizes, settings)
    solver = backends.load(backend)
    results = []
    for equation, size in zip(equations, clipped, strict=True):
        found = solver(
            equation.factor, equation.z, float(equation.rest @ equation.rest), equation.ridge, size, settings=settings
        )
        results.append(on_support(found))
    return assemble.from_results(problem, equations, results, weights, sizes, settings)


def refit(problem: Problem, support: Any, *, ridge: Any = 0.0, constraints: Sequence[Any] = ()) -> Solution:
    """Fit the coefficients of given supports; unbiasing, or comparing a support of your own.

    Parameters
    ----------
    problem
        The compressed regression.
    support
        Terms per equation: a `Solution`, a mapping ``{target: terms}``, or one list of term names or indices per
        equation. Columns that depend on earlier ones (to 1e-13) are left out.
    ridge, constraints
        As in `solve`.

    Returns
    -------
    Solution
        With status REFITTED: nothing is claimed about other supports, so bound and margin are unknown.

    Examples
    --------
    >>> import exactsindy as es
    >>> problem = es.Problem.from_arrays([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [3.0, 4.0, 1.0], names=["a", "b"])
    >>> es.refit(problem, [["a"]]).objective
    array([17.])
    """
    arguments.check_problem(problem)
    weights = arguments.ridge_matrix(problem, ridge)
    supports = arguments.supports(problem, support, "support")
    constraints = arguments.constraint_list(constraints)
    if constraints:
        return constrained.refit(problem, supports, constraints, weights)
    equations = arguments.equations(problem, weights)
    results = []
    for equation, chosen in zip(equations, supports, strict=True):
        local = [int(i) for i in np.flatnonzero(np.isin(equation.columns, chosen))]
        arguments.clipped(equation, len(local))
        found, _ = native.refit(equation, local)
        results.append(
            BackendResult(
                support=found.support,
                coef=np.asarray(found.values),
                objective=found.objective,
                lower_bound=float("-inf"),
                margin=float("nan"),
                status=Status.REFITTED,
                nodes=0,
                seconds=0.0,
            )
        )
    k = tuple(len(chosen) for chosen in supports)
    return assemble.from_results(problem, equations, results, weights, k, Settings())


def on_support(result: BackendResult) -> BackendResult:
    """Reduce the coefficients of a result to its support."""
    values = np.asarray(result.coef)[list(result.support)]
    return BackendResult(
        support=result.support,
        coef=values,
        objective=result.objective,
        lower_bound=result.lower_bound,
        margin=result.margin,
        status=result.status,
        nodes=result.nodes,
        seconds=result.seconds,
    )


def local_starts(
    equations: Sequence[arguments.Equation], starts: list[tuple[int, ...]] | None
) -> list[list[tuple[int, ...]]]:
    """Return starting supports in each equation's own numbering."""
    if starts is None:
        return [[] for _ in equations]
    return [
        [tuple(int(i) for i in np.flatnonzero(np.isin(e.columns, chosen)))] if chosen else []
        for e, chosen in zip(equations, starts, strict=True)
    ]


def _starts(problem: Problem, start: Any) -> list[tuple[int, ...]] | None:
    return None if start is None else arguments.supports(problem, start, "start")

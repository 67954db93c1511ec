"""The verbs `solve` and `refit`: the best support of a given size, proved, and the fit of a given support."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.constraints import Constraint, constraint_list
from exactsindy.errors import SolverError
from exactsindy.problem import Problem
from exactsindy.solver import arguments, backends, constrained_solving, interrupt, proofs, tightening
from exactsindy.solver import checkpoint as checkpoints
from exactsindy.solver.arguments import Supports
from exactsindy.solver.backends import native
from exactsindy.solver.checkpoint import CheckpointPath
from exactsindy.solver.equations import equations_of, local_starts
from exactsindy.solver.outcome import in_turn
from exactsindy.solver.proofs import ProofPath, refuse
from exactsindy.solver.settings import Settings, Total
from exactsindy.solver.shared_budget import Values, native_values, solve_shared
from exactsindy.solver.shared_proofs import recording
from exactsindy.solver.solution import Solution


def solve(
    problem: Problem,
    k: int | Sequence[int] | Mapping[str, int] | Total,
    *,
    ridge: ArrayLike = 0.0,
    constraints: Sequence[Constraint] = (),
    start: Supports | None = None,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    backend: str = "native",
    proof: ProofPath = None,
    checkpoint: CheckpointPath = None,
) -> Solution:
    """Find the best support of at most k terms for every equation, and prove it.

    For each target y it minimises ``|y - Theta xi|^2 + sum_j ridge_j xi_j^2`` over all coefficients xi of which at most
    k are not zero. Theta holds the values of the candidate terms.

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
    proof
        A file for a proof that a separate program checks (`check_proof`); None writes none. With constraints if
        they are linear or about the presence of terms.
    checkpoint
        A file that holds how far the search has come, written every 10 seconds and at its end; None keeps none. The
        same call goes on from there after a time limit, Ctrl-C or a crash, with any number of threads, and ends with
        the same bits. Not with constraints, `Total` or other backends. Believe only checkpoints of your own.

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
    arguments.check_problem(problem, settings)
    weights = arguments.ridge_matrix(problem, ridge)
    starts = arguments.start(problem, start)
    constraints = constraint_list(constraints)
    budget = arguments.budget(problem, k)
    if not isinstance(backend, str):
        raise SolverError(f"backend={backend!r}: expected the name of one, e.g. 'native'.")
    if backend != "native":
        refuse(proof, f"backend={backend!r}")
    if constraints or isinstance(budget, Total) or backend != "native":
        checkpoints.refuse(checkpoint, "under constraints, for Total and for other backends")
    if constraints or (isinstance(budget, Total) and backend not in ("native", "enumerate")):
        return constrained_solving.solve(problem, budget, constraints, weights, starts, settings, backend, proof)
    with interrupt.held():
        if isinstance(budget, Total):
            (solution,) = shared(problem, budget, [budget.k], weights, starts, settings, backend, proof)
            return solution
        equations = equations_of(problem, weights)
        sizes = [equation.size(size) for equation, size in zip(equations, budget, strict=True)]
        if backend == "native":
            given = local_starts(equations, starts)
            if proof is None and checkpoint is None:
                outcomes = tightening.solve(equations, sizes, given, settings)
            else:
                searches = proofs.run(problem, proof, equations, sizes, given, settings, checkpoint)
                outcomes = [outcome for (outcome,) in searches]
        else:
            solve_equation = backends.load(backend)
            outcomes = in_turn(settings, [partial(solve_equation, *one) for one in zip(equations, sizes, strict=True)])
    placed = [equation.placed(outcome) for equation, outcome in zip(equations, outcomes, strict=True)]
    return Solution.of(problem, placed, ridge=weights, k=budget, settings=settings)


def shared(
    problem: Problem,
    k: Total,
    budgets: Sequence[int],
    ridge: Array,
    starts: Sequence[int] | None,
    settings: Settings,
    backend: str = "native",
    proof: ProofPath = None,
) -> list[Solution]:
    """Return the best joint supports within budgets that all equations share; prove them in a file, if any."""
    weights = arguments.weights(problem, k)
    # w_j RSS_j + ridge |xi_j|^2 = w_j (RSS_j + (ridge / w_j) |xi_j|^2)
    equations = equations_of(problem, ridge / weights[:, None])
    most = [e.size(cap) for e, cap in zip(equations, arguments.caps(problem, k), strict=True)]
    solutions = []
    with recording(proof, equations, weights.tolist(), most, settings) as searches:
        if backend == "native":
            values = native_values(equations, starts, most, settings, searches.run)
        else:
            solve_equation = backends.load(backend)
            values = Values(solve=lambda j, size: solve_equation(equations[j], size, settings))
        outcomes = solve_shared(equations, weights.tolist(), most, values, budgets)
        for budget, outcome in zip(budgets, outcomes, strict=True):
            searches.add(budget, outcome)
            solutions.append(Solution.of(problem, [outcome], ridge=ridge, k=replace(k, k=budget), settings=settings))
        searches.finish(problem)
    return solutions


def refit(
    problem: Problem, support: Supports, *, ridge: ArrayLike = 0.0, constraints: Sequence[Constraint] = ()
) -> Solution:
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
    constraints = constraint_list(constraints)
    if constraints:
        return constrained_solving.refit(problem, supports, constraints, weights)
    equations = equations_of(problem, weights)
    chosen = arguments.variables(problem, supports)
    outcomes = [equation.placed(native.refit(equation, equation.local(chosen))) for equation in equations]
    k = tuple(len(terms) for terms in supports)
    return Solution.of(problem, outcomes, ridge=weights, k=k, settings=Settings())

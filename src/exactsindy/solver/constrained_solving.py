"""Solves under constraints: each component by the search that fits it, and back to a `Solution`.

What counts as a support: a set of terms declared present. It satisfies the presence rows and has at least one vector
of coefficients, zero off the support, that satisfies the linear constraints. A present term may have the coefficient 0;
where it does and may as well be absent, the smaller support is meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from exactsindy._types import Array
from exactsindy.errors import ConstraintError, SolverError
from exactsindy.problem import Problem
from exactsindy.solver import arguments, backends, conic, interrupt, significant
from exactsindy.solver.backends import native
from exactsindy.solver.backends.component import Component
from exactsindy.solver.constraint_task import Task, find_conflict
from exactsindy.solver.equations import equations_of
from exactsindy.solver.outcome import Outcome, together
from exactsindy.solver.settings import BRIEF, Deadline, Settings, Status, Total
from exactsindy.solver.shared_budget import Pair, Values, pair_of, solve_shared
from exactsindy.solver.solution import Solution


def solve(
    problem: Problem,
    k: tuple[int, ...] | Total,
    constraints: Sequence[Any],
    ridge: Array,
    starts: Sequence[int] | None,
    settings: Settings,
    backend: str = "native",
) -> Solution:
    """Find the best support under constraints, by the native search or another backend."""
    with interrupt.held():
        task = Task.of(problem, k, constraints, ridge)
        return _solve(task, starts, settings) if backend == "native" else _by_backend(task, settings, backend)


def path(
    problem: Problem,
    k_max: int | Total,
    constraints: Sequence[Any],
    ridge: Array,
    starts: Sequence[int] | None,
    settings: Settings,
) -> Iterator[Solution]:
    """Yield the best supports of at most 0, 1, ... terms under constraints."""
    largest = k_max if isinstance(k_max, Total) else (k_max,) * len(problem.target_names)
    task = Task.of(problem, largest, constraints, ridge)
    if task.rules.convex:
        raise ConstraintError("solve_path takes no Quadratic or semidefinite constraints: use solve for each k.")
    deadline = Deadline(settings)
    for size in range((k_max.k if isinstance(k_max, Total) else k_max) + 1):
        k = replace(k_max, k=size) if isinstance(k_max, Total) else (size,) * len(problem.target_names)
        solution = _solve(replace(task, k=k), starts, deadline.settings(least=BRIEF), explain=False)
        deadline.nodes += int(solution.nodes.sum())
        if Status.INFEASIBLE not in solution.status:
            starts = arguments.variables(problem, solution.support)
        yield solution


def pool(
    problem: Problem,
    k: tuple[int, ...],
    constraints: Sequence[Any],
    ridge: Array,
    starts: Sequence[int] | None,
    settings: Settings,
    count: int | None,
    within: float | None,
) -> list[tuple[tuple[int, ...], Outcome]]:
    """Return near-optimal supports of exactly k terms per equation, for each group of equations bound together."""
    task = Task.of(problem, k, constraints, ridge)
    if task.rules.t_level > 0 or task.rules.convex:
        raise ConstraintError("solve_pool takes no Significant, Quadratic or semidefinite constraints: use solve.")
    start = [] if starts is None else [starts]
    share = -1.0 if within is None else within
    deadline, pools = Deadline(settings), []
    for c in task.components:
        limits = deadline.settings(least=BRIEF)
        outcome = c.solve([], limits, starts=start, exactly=task.budgets(c), keep=count or 0, within=share)
        deadline.nodes += outcome.nodes
        pools.append((c.indices, outcome))
    return pools


def refit(problem: Problem, supports: list[tuple[int, ...]], constraints: Sequence[Any], ridge: Array) -> Solution:
    """Fit given supports under the constraints on coefficients; those on supports do not matter here."""
    task = Task.of(problem, tuple(len(chosen) for chosen in supports), constraints, ridge)
    if task.rules.convex:
        raise ConstraintError("refit takes no Quadratic or semidefinite constraints: use solve.")
    chosen = arguments.variables(problem, supports)
    free = replace(task.rules, presence=(), least=np.zeros_like(task.rules.least))
    outcomes = []
    for component in task.components:
        outcome = replace(component, rules=free).fit(chosen)
        if outcome.answers:
            outcome = replace(outcome, lower_bound=-np.inf, runner_up=np.nan, stop=Status.REFITTED)
        outcomes.append(outcome)
    return replace(_solution(task, outcomes, Settings()), support=tuple(supports))


def _solve(task: Task, starts: Sequence[int] | None, settings: Settings, *, explain: bool = True) -> Solution:
    linear = not task.rules.convex and task.rules.t_level == 0
    if isinstance(task.k, Total) and linear and len(task.rules.components()) == len(task.problem.target_names) > 1:
        separate = _shared(task, task.k, settings)
        if np.isfinite(separate.objective):
            return _solution(task, [separate], settings)
    deadline, outcomes = Deadline(settings), []
    for component in task.components:
        outcomes.append(_search(task, component, starts, deadline.settings(least=BRIEF)))
        deadline.nodes += outcomes[-1].nodes
    conflict: tuple[str, ...] = ()
    if explain and not interrupt.pressed() and any(outcome.infeasible for outcome in outcomes):
        conflict = find_conflict(task)
    return _solution(task, outcomes, settings, conflict)


def _solution(task: Task, outcomes: Sequence[Outcome], settings: Settings, conflict: tuple[str, ...] = ()) -> Solution:
    return Solution.of(
        task.problem,
        [together(outcomes)] if task.joint else outcomes,
        ridge=task.ridge,
        k=task.k,
        settings=settings,
        constraints=task.rules.sources,
        conflict=conflict,
    )


def _search(task: Task, component: Component, starts: Sequence[int] | None, settings: Settings) -> Outcome:
    """Search one component; an equation of which nothing is asked goes to the search without constraints."""
    budgets = task.budgets(component)
    if task.rules.convex:
        return conic.solve(component, budgets, settings)
    if task.rules.t_level > 0:
        return significant.solve(component, budgets[0], settings)
    if task.joint or task.rules.touches(component.indices):
        return component.solve(budgets, settings, starts=[] if starts is None else [starts])
    (equation,) = component.equations
    local = [] if starts is None else [equation.local(starts)]
    return equation.placed(native.run([equation], [equation.size(budgets[0][1])], [local], settings)[0][0])


def _shared(task: Task, k: Total, settings: Settings) -> Outcome:
    """Share a budget between equations that nothing else binds: dynamic programming over their own values."""
    weights = arguments.total(task.problem, k)[1]
    equations = equations_of(task.problem, task.ridge / weights[:, None])
    components = [Component(task.rules, (equation,), (e,), (1.0,)) for e, equation in enumerate(equations)]
    deadline = Deadline(settings)

    def run(e: int, size: int, *, exactly: bool) -> Outcome:
        budget = [(tuple(components[e].variables.tolist()), size)]
        limits = deadline.settings(least=BRIEF)
        outcome = (
            components[e].solve([], limits, exactly=budget, keep=2) if exactly else components[e].solve(budget, limits)
        )
        deadline.nodes += outcome.nodes
        return outcome

    def solve_one(e: int, size: int) -> Outcome:
        if (e, size) in task.values:
            return task.values[e, size]
        outcome = run(e, size, exactly=False)
        position = components[e].position
        local = [replace(a, support=tuple(position[v] for v in a.support)) for a in outcome.answers]
        outcome = replace(outcome, answers=tuple(local))
        if outcome.stop is None:
            task.values[e, size] = outcome
        return outcome

    def two_best(e: int, size: int) -> Pair:
        return pair_of(run(e, size, exactly=True))

    most = [min(cap, len(e.names)) for e, cap in zip(equations, arguments.caps(task.problem, k), strict=True)]
    return next(solve_shared(equations, weights.tolist(), most, Values(solve_one, two_best), [k.k]))


def _by_backend(task: Task, settings: Settings, backend: str) -> Solution:
    """Solve each component by another backend; the coefficients are those of the native fit, so that they compare."""
    solve_component = backends.load_constrained(backend)
    if task.rules.t_level > 0 or task.rules.convex:
        raise SolverError(f"backend={backend!r} takes no Significant, Quadratic or semidefinite constraints.")
    deadline, outcomes = Deadline(settings), []
    for component in task.components:
        outcome = solve_component(component, task.budgets(component), deadline.settings(least=BRIEF))
        deadline.nodes += outcome.nodes
        outcomes.append(outcome)
    return _solution(task, outcomes, settings)

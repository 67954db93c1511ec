"""Solves under constraints: each group of equations by the search that fits it; and why nothing satisfies them.

What counts as a support: a set of terms declared present. It satisfies the presence rows and has at least one vector
of coefficients, zero off the support, that satisfies the linear constraints. A present term may have the coefficient 0;
where it does and may as well be absent, the smaller support is meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from exactsindy._types import Array
from exactsindy.constraints import Rules, compile_rules
from exactsindy.errors import ConstraintError, SolverError
from exactsindy.problem import Problem
from exactsindy.solver import (
    arguments,
    backends,
    conic,
    constrained_pool,
    constrained_search,
    interrupt,
    presence_proofs,
    significant,
)
from exactsindy.solver.backends import native
from exactsindy.solver.backends.component import Budget, Component
from exactsindy.solver.equations import equations_of
from exactsindy.solver.outcome import Outcome, in_turn, together
from exactsindy.solver.proofs import ProofPath
from exactsindy.solver.settings import BRIEF, Deadline, Settings, Status, Total
from exactsindy.solver.shared_budget import Values, pair_of, solve_shared
from exactsindy.solver.solution import Solution

_DECISIVE = 500  # nodes within which a feasible support turns up, when looking for a conflict
_MOST_CONFLICTS = 40  # longer lists of constraints are not searched for a conflict


@dataclass(frozen=True, eq=False)
class _Task:
    """A problem with its rules, split into components: equations that must be solved together."""

    problem: Problem
    rules: Rules
    ridge: Array
    k: tuple[int, ...] | Total
    components: tuple[Component, ...]
    values: dict[tuple[int, int], Outcome] = field(default_factory=dict)  # by equation and size, for `Total`

    @classmethod
    def of(cls, problem: Problem, k: tuple[int, ...] | Total, constraints: Sequence[Any], ridge: Array) -> _Task:
        """Translate constraints and split the problem."""
        rules = compile_rules(problem, constraints)
        weights = arguments.weights(problem, k)
        equations = equations_of(problem, ridge)
        components = tuple(
            Component(rules, tuple(equations[e] for e in group), group, tuple(float(weights[e]) for e in group))
            for group in rules.components(together=isinstance(k, Total))
        )
        return cls(problem, rules, ridge, k, components)

    @property
    def joint(self) -> bool:
        """True if the answer is one for all equations."""
        return isinstance(self.k, Total) or len(self.components) < len(self.problem.target_names)

    def budgets(self, component: Component) -> list[Budget]:
        """Return how many terms the equations may have."""
        per_equation = [tuple(equation.variables.tolist()) for equation in component.equations]
        if not isinstance(self.k, Total):
            return [(vs, self.k[e]) for vs, e in zip(per_equation, component.indices, strict=True)]
        shared = [(tuple(component.variables.tolist()), self.k.k)]
        if self.k.caps is None:
            return shared
        return shared + list(zip(per_equation, arguments.caps(self.problem, self.k), strict=True))

    def sizes(self, component: Component) -> constrained_search.Sizes:
        """Return the same as numbers."""
        if isinstance(self.k, Total):
            return constrained_search.Sizes(arguments.caps(self.problem, self.k), self.k.k)
        return constrained_search.Sizes(tuple(self.k[e] for e in component.indices))


def solve(
    problem: Problem,
    k: tuple[int, ...] | Total,
    constraints: Sequence[Any],
    ridge: Array,
    starts: Sequence[int] | None,
    settings: Settings,
    backend: str = "native",
    proof: ProofPath = None,
) -> Solution:
    """Find the best support under constraints, by the native search or another backend; prove it in a file, if any."""
    with interrupt.held():
        task = _Task.of(problem, k, constraints, ridge)
        if backend != "native":
            return _by_backend(task, settings, backend)
        if proof is None:
            return _solve(task, starts, settings)
        presence_proofs.check(proof, task.rules)
        deadline = Deadline(replace(settings, gap=Settings.gap))
        solution = _solve(task, starts, deadline.limits)
        deadline.nodes += int(solution.nodes.sum())
        presence_proofs.write(proof, task.rules, solution, deadline.settings(least=BRIEF))
        return solution


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
    task = _Task.of(problem, largest, constraints, ridge)
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
    task = _Task.of(problem, k, constraints, ridge)
    if task.rules.t_level > 0 or task.rules.convex:
        raise ConstraintError("solve_pool takes no Significant, Quadratic or semidefinite constraints: use solve.")
    searches = [
        partial(constrained_pool.pool, c, task.budgets(c), task.sizes(c).caps, starts, count=count, within=within)
        for c in task.components
    ]
    return list(zip((c.indices for c in task.components), in_turn(settings, searches), strict=True))


def refit(problem: Problem, supports: list[tuple[int, ...]], constraints: Sequence[Any], ridge: Array) -> Solution:
    """Fit given supports under the constraints on coefficients; those on supports do not matter here."""
    task = _Task.of(problem, tuple(len(chosen) for chosen in supports), constraints, ridge)
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


def _solve(task: _Task, starts: Sequence[int] | None, settings: Settings, *, explain: bool = True) -> Solution:
    linear = not task.rules.convex and task.rules.t_level == 0
    if isinstance(task.k, Total) and linear and len(task.rules.components()) == len(task.problem.target_names) > 1:
        separate = _shared(task, task.k, settings)
        if np.isfinite(separate.objective):
            return _solution(task, [separate], settings)
    outcomes = in_turn(settings, [partial(_search, task, component, starts) for component in task.components])
    explain = explain and not interrupt.pressed() and any(outcome.infeasible for outcome in outcomes)
    return _solution(task, outcomes, settings, _conflict(task, settings.coefficient_limit) if explain else ())


def _solution(task: _Task, outcomes: Sequence[Outcome], settings: Settings, conflict: tuple[str, ...] = ()) -> Solution:
    outcomes = [together(outcomes)] if task.joint else outcomes
    said = {"constraints": task.rules.sources, "conflict": conflict}
    return Solution.of(task.problem, outcomes, ridge=task.ridge, k=task.k, settings=settings, **said)


def _search(task: _Task, component: Component, starts: Sequence[int] | None, settings: Settings) -> Outcome:
    """Search one component; an equation of which nothing is asked goes to the search without constraints."""
    budgets = task.budgets(component)
    if task.rules.convex:
        return conic.solve(component, budgets, settings)
    if task.rules.t_level > 0:
        return significant.solve(component, budgets[0], settings)
    if task.joint or task.rules.touches(component.indices):
        return constrained_search.search(component, budgets, task.sizes(component), starts, settings)
    (equation,) = component.equations
    local = [] if starts is None else [equation.local(starts)]
    return equation.placed(native.run([equation], [equation.size(budgets[0][1])], [local], settings)[0][0])


def _shared(task: _Task, k: Total, settings: Settings) -> Outcome:
    """Share a budget between equations that nothing else binds: dynamic programming over their own values."""
    weights = arguments.weights(task.problem, k)
    equations = equations_of(task.problem, task.ridge / weights[:, None])
    components = [Component(task.rules, (equation,), (e,), (1.0,)) for e, equation in enumerate(equations)]
    deadline = Deadline(settings)

    def run(e: int, size: int, *, exactly: bool) -> Outcome:
        budget, limits = [(tuple(components[e].variables.tolist()), size)], deadline.settings(least=BRIEF)
        if exactly:
            outcome = constrained_pool.pool(components[e], budget, (size,), None, limits, count=2, within=None)
        else:
            sizes = constrained_search.Sizes((size,))
            outcome = constrained_search.search(components[e], budget, sizes, None, limits)
        deadline.nodes += outcome.nodes
        return outcome

    def solve_one(e: int, size: int) -> Outcome:
        if (e, size) in task.values:
            return task.values[e, size]
        outcome, position = run(e, size, exactly=False), components[e].position
        local = [replace(a, support=tuple(position[v] for v in a.support)) for a in outcome.answers]
        outcome = replace(outcome, answers=tuple(local))
        if outcome.stop is None:
            task.values[e, size] = outcome
        return outcome

    most = [min(cap, len(e.names)) for e, cap in zip(equations, arguments.caps(task.problem, k), strict=True)]
    values = Values(solve_one, two_best=lambda e, size: pair_of(run(e, size, exactly=True)))
    return next(solve_shared(equations, weights.tolist(), most, values, [k.k]))


def _by_backend(task: _Task, settings: Settings, backend: str) -> Solution:
    """Solve each component by another backend; the coefficients are those of the native fit, so that they compare."""
    solve_component = backends.load_constrained(backend)
    if task.rules.t_level > 0 or task.rules.convex:
        raise SolverError(f"backend={backend!r} takes no Significant, Quadratic or semidefinite constraints.")
    searches = [partial(solve_component, component, task.budgets(component)) for component in task.components]
    return _solution(task, in_turn(settings, searches), settings)


def _conflict(task: _Task, coefficient_limit: float) -> tuple[str, ...]:
    """Return constraints (the budget among them, as ``k = ...``) that cannot hold together, but without any one can.

    A deletion filter: each constraint is left out in turn, and stays out if the others are still infeasible.
    """
    kept = list(task.rules.sources)
    if len(kept) > _MOST_CONFLICTS:
        return ()
    infeasible = partial(_infeasible, task, Settings(nodes=_DECISIVE, coefficient_limit=coefficient_limit))
    limited = not infeasible(kept, limited=False)
    for constraint in tuple(kept):
        others = [other for other in kept if other is not constraint]
        if infeasible(others, limited=limited):
            kept = others
    size = task.k.k if isinstance(task.k, Total) else (task.k[0] if len(set(task.k)) == 1 else task.k)
    return (*map(str, kept), *([f"k = {size}"] if limited else []))


def _infeasible(task: _Task, settings: Settings, constraints: Sequence[Any], *, limited: bool) -> bool:
    other = _Task.of(task.problem, task.k, constraints, task.ridge)
    for component in other.components:
        budgets = other.budgets(component) if limited else []
        if other.rules.convex:
            outcome = conic.solve(component, budgets, settings)
        elif limited and other.rules.t_level > 0:  # (without a limit, more terms may make others significant)
            outcome = significant.solve(component, budgets[0], settings)
        else:
            outcome = component.solve(budgets, settings, runner_up=False)
        if outcome.infeasible:
            return True
    return False

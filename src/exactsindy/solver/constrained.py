"""Solves under constraints: which equations belong together, budgets, infeasibility, and back to a `Solution`.

What counts as a support: a set of terms declared present. It satisfies the presence rows and has at least one vector
of coefficients, zero off the support, that satisfies the linear constraints. A present term may have the coefficient 0;
where it does and may as well be absent, the smaller support is meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from exactsindy.constraints import Rules, compile_rules
from exactsindy.errors import ConstraintError
from exactsindy.solver import arguments, conic, interrupt, joint, significant
from exactsindy.solver.assemble import PROVED
from exactsindy.solver.backends import native
from exactsindy.solver.backends.constrained import Budget, Component
from exactsindy.solver.backends.result import BackendResult, Found, Outcome
from exactsindy.solver.deadline import Deadline
from exactsindy.solver.settings import Settings, Status, Total
from exactsindy.solver.solution import Solution, floors, margin_of, relative_gap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactsindy.problem import Problem

_DECISIVE = 500  # nodes within which a feasible support turns up, when looking for a conflict
_MOST_CONFLICTS = 40  # longer lists of constraints are not searched for a conflict


@dataclass(frozen=True, eq=False)
class Task:
    """A problem with its rules, split into components."""

    problem: Problem
    rules: Rules
    ridge: NDArray[np.float64]
    k: tuple[int, ...] | Total
    components: tuple[Component, ...]
    values: dict[tuple[int, int], BackendResult] = field(default_factory=dict)  # by equation and size, for `Total`

    @property
    def joint(self) -> bool:
        """Whether the answer is one for all equations."""
        return isinstance(self.k, Total) or len(self.components) < len(self.problem.target_names)

    def budgets(self, component: Component) -> list[Budget]:
        """Return how many terms the equations may have."""
        own = [tuple(v for v in component.variables.tolist() if v // self.rules.width == e) for e in component.indices]
        if isinstance(self.k, Total):
            shared = [(tuple(component.variables.tolist()), self.k.k)]
            if self.k.caps is None:
                return shared
            return shared + list(zip(own, arguments.caps(self.problem, self.k), strict=True))
        return [(vs, self.k[e]) for vs, e in zip(own, component.indices, strict=True)]


def prepare(
    problem: Problem, k: tuple[int, ...] | Total, constraints: Sequence[Any], ridge: NDArray[np.float64]
) -> Task:
    """Translate constraints and split the problem."""
    rules = compile_rules(problem, constraints)
    weights = arguments.total(problem, k)[1] if isinstance(k, Total) else np.ones(len(problem.target_names))
    equations = arguments.equations(problem, ridge)
    components = tuple(
        Component(rules, tuple(equations[e] for e in group), group, tuple(float(weights[e]) for e in group))
        for group in rules.components(together=isinstance(k, Total))
    )
    return Task(problem, rules, ridge, k, components)


def solve(
    problem: Problem,
    k: tuple[int, ...] | Total,
    constraints: Sequence[Any],
    ridge: NDArray[np.float64],
    starts: list[tuple[int, ...]] | None,
    settings: Settings,
) -> Solution:
    """Best support under constraints."""
    with interrupt.held():
        return _solve(prepare(problem, k, constraints, ridge), starts, settings)


def path(
    problem: Problem,
    k_max: int | Total,
    constraints: Sequence[Any],
    ridge: NDArray[np.float64],
    starts: list[tuple[int, ...]] | None,
    settings: Settings,
) -> Iterator[Solution]:
    """Best supports of at most 0, 1, ... terms under constraints."""
    largest = k_max if isinstance(k_max, Total) else (k_max,) * len(problem.target_names)
    task = prepare(problem, largest, constraints, ridge)
    if task.rules.convex:
        raise ConstraintError("solve_path takes no Quadratic or semidefinite constraints: use solve for each k.")
    limits = Deadline(settings)
    for size in range((k_max.k if isinstance(k_max, Total) else k_max) + 1):
        k = replace(k_max, k=size) if isinstance(k_max, Total) else (size,) * len(problem.target_names)
        solution = _solve(replace(task, k=k), starts, limits.settings(least=joint.BRIEF), explain=False)
        limits.nodes += int(solution.nodes.sum())
        starts = list(solution.support) if Status.INFEASIBLE not in solution.status else starts
        yield solution


def pool(
    problem: Problem,
    k: tuple[int, ...],
    constraints: Sequence[Any],
    ridge: NDArray[np.float64],
    starts: list[tuple[int, ...]] | None,
    settings: Settings,
    count: int,
    within: float | None,
) -> list[tuple[Component, Outcome]]:
    """Near-optimal supports of exactly k terms per equation, for each component."""
    task = prepare(problem, k, constraints, ridge)
    if task.rules.t_level > 0 or task.rules.convex:
        raise ConstraintError("solve_pool takes no Significant, Quadratic or semidefinite constraints: use solve.")
    start = _joint_starts(task, starts)
    share = -1.0 if within is None else within
    with interrupt.held():
        return [
            (c, c.solve([], settings, starts=start, exactly=task.budgets(c), keep=count, within=share))
            for c in task.components
        ]


def refit(
    problem: Problem, supports: list[tuple[int, ...]], constraints: Sequence[Any], ridge: NDArray[np.float64]
) -> Solution:
    """Fit given supports under the constraints on coefficients; those on supports do not matter here."""
    task = prepare(problem, tuple(len(chosen) for chosen in supports), constraints, ridge)
    if task.rules.convex:
        raise ConstraintError("refit takes no Quadratic or semidefinite constraints: use solve.")
    width = task.rules.width
    chosen = {e * width + j for e, support in enumerate(supports) for j in support}
    bare = replace(task.rules, presence=(), least=np.zeros_like(task.rules.least))
    outcomes = []
    for component in task.components:
        own = replace(component, rules=bare)
        outside = tuple(v for v in own.variables.tolist() if v not in chosen)
        outcome = own.solve([(outside, 0)] if outside else [], Settings(), runner_up=False)
        outcomes.append(replace(outcome, lower_bound=outcome.lower_bound if outcome.infeasible else -np.inf))
    solution = assemble(task, outcomes, Settings(), refitted=True)
    return replace(solution, support=tuple(supports))


def _solve(task: Task, starts: list[tuple[int, ...]] | None, settings: Settings, *, explain: bool = True) -> Solution:
    start = _joint_starts(task, starts)
    linear = not task.rules.convex and task.rules.t_level == 0
    if isinstance(task.k, Total) and linear and len(task.rules.components()) == len(task.problem.target_names) > 1:
        separate = _by_values(task, task.k, settings)
        if np.isfinite(separate.objective[0]):
            return separate
    if task.rules.convex:
        outcomes = [conic.solve(c, task.budgets(c), task.ridge, settings) for c in task.components]
    elif task.rules.t_level > 0:
        outcomes = [significant.solve(c, task.budgets(c)[0], settings) for c in task.components]
    else:
        outcomes = [_search(task, c, settings, start) for c in task.components]
    conflict: tuple[str, ...] = ()
    if explain and not interrupt.pressed() and any(outcome.infeasible for outcome in outcomes):
        conflict = find_conflict(task)
    return assemble(task, outcomes, settings, conflict=conflict)


def _search(task: Task, component: Component, settings: Settings, start: list[list[int]]) -> Outcome:
    """Search one component; an equation of which nothing is asked goes to the search without constraints."""
    if task.joint or task.rules.touches(component.indices):
        return component.solve(task.budgets(component), settings, starts=start)
    (equation,) = component.equations
    size = arguments.clipped(equation, task.budgets(component)[0][1])
    own = [tuple(component.position[v] for v in given if v in component.position) for given in start]
    outcome = native.run([equation], [size], [own], settings)[0][0]
    found = outcome.answers[0]
    support = tuple(int(v) for v in component.variables[list(found.support)])
    return Outcome(
        (Found(support, found.values, found.objective),),
        outcome.runner_up,
        outcome.lower_bound,
        outcome.stop,
        outcome.complete,
        outcome.nodes,
        outcome.seconds,
    )


def _by_values(task: Task, k: Total, settings: Settings) -> Solution:
    """Share a budget between equations that nothing else binds: dynamic programming over their own values."""
    weights = arguments.total(task.problem, k)[1]
    equations = arguments.equations(task.problem, task.ridge / weights[:, None])
    deadline = Deadline(settings)

    def solve_one(e: int, size: int) -> BackendResult:
        if (e, size) not in task.values:
            component = Component(task.rules, (equations[e],), (e,), (1.0,))
            at_most = [(tuple(component.variables.tolist()), size)]
            outcome = component.solve(at_most, deadline.settings(least=joint.BRIEF))
            deadline.nodes += outcome.nodes
            result = _as_result(component, outcome)
            if outcome.stop is not None:
                return result
            task.values[e, size] = result
        return task.values[e, size]

    def two_best(e: int, size: int) -> tuple[float, float] | None:
        component = Component(task.rules, (equations[e],), (e,), (1.0,))
        exactly = [(tuple(component.variables.tolist()), size)]
        outcome = component.solve([], deadline.settings(least=joint.BRIEF), exactly=exactly, keep=2)
        deadline.nodes += outcome.nodes
        values = [found.objective for found in outcome.answers] + [np.inf, np.inf]
        return (values[0], values[1]) if outcome.complete else None

    solution = joint.by_values(task.problem, equations, k, task.ridge, settings, solve_one, two_best)
    return replace(solution, constraints=task.rules.sources)


def _as_result(component: Component, outcome: Outcome) -> BackendResult:
    found = outcome.answers[0] if outcome.answers else Found((), (), np.inf)
    return BackendResult(
        support=tuple(component.position[v] for v in found.support),
        coef=np.array(found.values),
        objective=found.objective,
        lower_bound=min(outcome.lower_bound, found.objective),
        margin=margin_of(found.objective, outcome.runner_up) if outcome.answers else np.nan,
        status=outcome.stop or Status.OPTIMAL,
        nodes=outcome.nodes,
        seconds=outcome.seconds,
    )


def _joint_starts(task: Task, starts: list[tuple[int, ...]] | None) -> list[list[int]]:
    return [[e * task.rules.width + j for e, support in enumerate(starts) for j in support]] if starts else []


def assemble(
    task: Task,
    outcomes: Sequence[Outcome],
    settings: Settings,
    *,
    conflict: tuple[str, ...] = (),
    refitted: bool = False,
) -> Solution:
    """Put the outcomes of all components together."""
    problem, width = task.problem, task.rules.width
    coef = np.zeros((len(problem.target_names), width))
    support: list[list[int]] = [[] for _ in problem.target_names]
    for found in (outcome.answers[0] for outcome in outcomes if outcome.answers):
        for v, value in zip(found.support, found.values, strict=True):
            support[v // width].append(v % width)
            coef[v // width, v % width] = value
    objective = np.array([o.answers[0].objective if o.answers else np.inf for o in outcomes])
    bound = np.minimum(np.array([o.lower_bound for o in outcomes]), objective)
    rivals = np.array([o.runner_up for o in outcomes])
    nodes, seconds = np.array([o.nodes for o in outcomes], dtype=np.int64), np.array([o.seconds for o in outcomes])
    margin = np.array([margin_of(float(v), float(r)) for v, r in zip(objective, rivals, strict=True)])
    level = floors(problem, coef, task.k)
    level = level if len(level) == len(outcomes) else np.full(len(outcomes), level.sum())
    gap = [_gap(*row) for row in zip(objective.tolist(), bound.tolist(), level.tolist(), strict=True)]
    status = [_status(o, float(g), settings, refitted=refitted) for o, g in zip(outcomes, gap, strict=True)]
    if task.joint:
        margin = np.array([_joint_margin(objective, rivals)]) if np.isfinite(objective).all() else np.array([np.nan])
        objective, bound = np.array([objective.sum()]), np.array([bound.sum()])
        nodes, seconds, status = np.array([nodes.sum()]), np.array([seconds.sum()]), [_worst(status)]
    infeasible = [s is Status.INFEASIBLE for s in status]
    margin[infeasible] = np.nan
    if any(infeasible) and task.joint:
        coef, support = np.zeros_like(coef), [[] for _ in support]
    return Solution(
        problem=problem,
        coef=coef,
        support=tuple(tuple(sorted(chosen)) for chosen in support),
        objective=objective,
        lower_bound=bound,
        margin=np.full_like(objective, np.nan) if refitted else margin,
        status=tuple(status),
        nodes=nodes,
        seconds=seconds,
        ridge=task.ridge,
        k=task.k,
        constraints=task.rules.sources,
        conflict=conflict,
    )


def _gap(objective: float, bound: float, floor: float) -> float:
    if not np.isfinite(objective):
        return np.inf
    return float(relative_gap(np.array([objective]), np.array([bound]), np.array([floor]))[0])


def _status(outcome: Outcome, gap: float, settings: Settings, *, refitted: bool) -> Status:
    if outcome.infeasible:
        return Status.INFEASIBLE
    if refitted:
        return Status.REFITTED if outcome.answers else Status.TOLERANCE
    if gap <= max(settings.gap, PROVED):
        return Status.OPTIMAL
    return outcome.stop or Status.TOLERANCE


def _worst(status: Sequence[Status]) -> Status:
    """Return the status of several searches together: any infeasible one makes all of it so."""
    for one in (Status.INFEASIBLE, Status.INTERRUPTED, Status.TIME_LIMIT, Status.NODE_LIMIT, Status.TOLERANCE):
        if one in status:
            return one
    return status[0]


def _joint_margin(objective: NDArray[np.float64], rivals: NDArray[np.float64]) -> float:
    """Return the margin of independent components together: the cheapest change in one of them."""
    if np.isnan(rivals).any():
        return float("nan")
    return margin_of(float(objective.sum()), float(objective.sum() + np.min(rivals - objective)))


def find_conflict(task: Task) -> tuple[str, ...]:
    """Return constraints that cannot hold together: leaving out any one of them makes the rest feasible.

    A deletion filter: each constraint is left out in turn, and stays out if the others are still infeasible. The
    budget of terms is one of them, named ``k``.
    """
    kept = list(task.rules.sources)
    if len(kept) > _MOST_CONFLICTS:
        return ()
    limited = True
    if _infeasible(task, kept, limited=False):
        limited = False
    for constraint in tuple(kept):
        rest = [other for other in kept if other is not constraint]
        if _infeasible(task, rest, limited=limited):
            kept = rest
    names = [str(constraint) for constraint in kept]
    size = task.k.k if isinstance(task.k, Total) else (task.k[0] if len(set(task.k)) == 1 else task.k)
    return (*names, f"k = {size}") if limited else tuple(names)


def _infeasible(task: Task, constraints: Sequence[Any], *, limited: bool) -> bool:
    other = prepare(task.problem, task.k, constraints, task.ridge)
    settings = Settings(nodes=_DECISIVE)
    return any(
        component.solve(task.budgets(component) if limited else [], settings, runner_up=False).infeasible
        for component in other.components
    )

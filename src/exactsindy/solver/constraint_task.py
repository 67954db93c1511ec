"""A problem with its constraints, split into equations that must be solved together; and why nothing satisfies them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from exactsindy._types import Array
from exactsindy.constraints import Rules, compile_rules
from exactsindy.problem import Problem
from exactsindy.solver import arguments, conic
from exactsindy.solver.backends.component import Budget, Component
from exactsindy.solver.equations import equations_of
from exactsindy.solver.outcome import Outcome
from exactsindy.solver.settings import Settings, Total

_DECISIVE = 500  # nodes within which a feasible support turns up, when looking for a conflict
_MOST_CONFLICTS = 40  # longer lists of constraints are not searched for a conflict


@dataclass(frozen=True, eq=False)
class Task:
    """A problem with its rules, split into components."""

    problem: Problem
    rules: Rules
    ridge: Array
    k: tuple[int, ...] | Total
    components: tuple[Component, ...]
    values: dict[tuple[int, int], Outcome] = field(default_factory=dict)  # by equation and size, for `Total`

    @classmethod
    def of(cls, problem: Problem, k: tuple[int, ...] | Total, constraints: Sequence[Any], ridge: Array) -> Task:
        """Translate constraints and split the problem."""
        rules = compile_rules(problem, constraints)
        weights = arguments.total(problem, k)[1] if isinstance(k, Total) else np.ones(len(problem.target_names))
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


def find_conflict(task: Task) -> tuple[str, ...]:
    """Return constraints that cannot hold together: leaving out any one of them makes the others feasible.

    A deletion filter: each constraint is left out in turn, and stays out if the others are still infeasible. The
    budget of terms is one of them, named ``k``.
    """
    kept = list(task.rules.sources)
    if len(kept) > _MOST_CONFLICTS:
        return ()
    limited = not _infeasible(task, kept, limited=False)
    for constraint in tuple(kept):
        others = [other for other in kept if other is not constraint]
        if _infeasible(task, others, limited=limited):
            kept = others
    names = [str(constraint) for constraint in kept]
    size = task.k.k if isinstance(task.k, Total) else (task.k[0] if len(set(task.k)) == 1 else task.k)
    return (*names, f"k = {size}") if limited else tuple(names)


def _infeasible(task: Task, constraints: Sequence[Any], *, limited: bool) -> bool:
    other = Task.of(task.problem, task.k, constraints, task.ridge)
    settings = Settings(nodes=_DECISIVE)
    for component in other.components:
        budgets = other.budgets(component) if limited else []
        if other.rules.convex:
            outcome = conic.solve(component, budgets, settings)
        else:
            outcome = component.solve(budgets, settings, runner_up=False)
        if outcome.infeasible:
            return True
    return False

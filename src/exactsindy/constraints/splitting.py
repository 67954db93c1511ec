"""Constraints equation by equation, for what solves equations one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from exactsindy.constraints.compile import compile_rules, constraint_list
from exactsindy.problem import Problem


@dataclass(frozen=True)
class EquationConstraints:
    """The constraints of one equation; ``binding`` if some speak of values of coefficients, not only of presence."""

    constraints: tuple[Any, ...] = ()
    binding: bool = False


def by_equation(problem: Problem, constraints: Sequence[Any]) -> tuple[EquationConstraints, ...] | None:
    """Return the constraints of each equation; None if one of them speaks of several equations.

    Examples
    --------
    >>> problem = Problem.from_arrays(np.eye(2), np.eye(2), names=["x", "y"], target_names=["x'", "y'"])
    >>> [part.constraints for part in by_equation(problem, ["y': x == -1"])]
    [(), ("y': x == -1",)]
    >>> by_equation(problem, ["x': y == y': x"]) is None
    True
    """
    count = len(problem.target_names)
    parts: list[list[Any]] = [[] for _ in range(count)]
    binding = [False] * count
    for constraint in constraint_list(constraints):
        rules = compile_rules(problem, [constraint])
        equations = [e for e in range(count) if rules.touches([e])]
        if len(equations) != 1:
            return None
        parts[equations[0]].append(constraint)
        limited = np.isfinite([rules.lower, rules.upper, rules.most]).any() or (rules.least > 0).any()
        binding[equations[0]] |= bool(rules.equalities or rules.inequalities or rules.convex or limited)
    return tuple(EquationConstraints(tuple(part), bound) for part, bound in zip(parts, binding, strict=True))

"""One equation of a problem in the form that every backend takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.errors import SolverError
from exactsindy.problem import Problem
from exactsindy.solver.outcome import Outcome

MAX_SIZE = 64  # the native core's largest support


@dataclass(frozen=True, eq=False)
class Equation:
    """``min |z - factor xi|^2 + |rest|^2 + sum ridge_j xi_j^2`` for one target.

    ``variables`` numbers its terms among those of all equations: ``equation * D + term`` over ``problem.terms``.
    """

    target: str
    factor: Array
    z: Array
    rest: Array
    ridge: Array
    variables: NDArray[np.intp]
    names: tuple[str, ...]
    required: tuple[int, ...] = ()  # terms that every support holds
    forbidden: tuple[int, ...] = ()  # terms that none holds

    @property
    def constant(self) -> float:
        """What no coefficient can change in the objective."""
        return float(self.rest @ self.rest)

    def size(self, k: int) -> int:
        """Return a number of terms that the library and the native core can hold."""
        size = min(k, len(self.names))
        if size > MAX_SIZE:
            cure = "An exact search for larger models has no prospect: use a smaller k."
            raise SolverError(f"{self.target}: {size} terms asked for, the solver takes at most {MAX_SIZE}. {cure}")
        return size

    def local(self, variables: Sequence[int]) -> tuple[int, ...]:
        """Return which of this equation's terms are among some variables of all equations."""
        own = self.variables.tolist()
        return tuple(sorted(map(own.index, set(variables).intersection(own))))

    def placed(self, outcome: Outcome) -> Outcome:
        """Return an outcome whose supports are numbered among the terms of all equations."""
        return outcome.renumbered(self.variables)


def equations_of(problem: Problem, ridge: Array) -> list[Equation]:
    """Split a problem into its equations; ``ridge`` is (m, D) over ``problem.terms``."""
    equations: list[Equation] = []
    for block in problem.blocks:
        factor, columns = block.theta_factor, problem.columns(block)
        width, names = len(block.terms), block.names
        targets = np.ascontiguousarray(block.factor[:, width:].T)
        for target, y in zip(block.target_names, targets, strict=True):
            row = len(equations)
            variables = row * len(problem.terms) + columns
            equations.append(Equation(target, factor, y[:width], y[width:], ridge[row, columns], variables, names))
    return equations


def local_starts(equations: Sequence[Equation], starts: Sequence[int] | None) -> list[list[tuple[int, ...]]]:
    """Return a starting support (variables of all equations) in each equation's own numbering."""
    local = [equation.local(starts) if starts else () for equation in equations]
    return [[support] if support else [] for support in local]

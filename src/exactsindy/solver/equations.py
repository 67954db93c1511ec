"""One equation of a problem in the form that every backend takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

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


#: An equation without its ridge, and which of the problem's terms it has (None: all, in their order).
_Bare = tuple[Equation, NDArray[np.intp] | None]
_bare: WeakKeyDictionary[Problem, list[_Bare]] = WeakKeyDictionary()  # found once: solves of one problem come in loops


def equations_of(problem: Problem, ridge: Array) -> list[Equation]:
    """Split a problem into its equations; ``ridge`` is (m, D) over ``problem.terms``."""
    bare = _bare.get(problem)
    if bare is None:
        bare = _bare[problem] = _split(problem)
    return [
        # (`replace` takes three times as long.)
        Equation(e.target, e.factor, e.z, e.rest, own if columns is None else own[columns], e.variables, e.names)
        for (e, columns), own in zip(bare, ridge, strict=True)
    ]


def _split(problem: Problem) -> list[_Bare]:
    """Return the equations of a problem, without a ridge."""
    found: list[_Bare] = []
    everything = np.arange(len(problem.terms))
    for block in problem.blocks:
        factor, columns = block.theta_factor, problem.columns(block)
        width, names = len(block.terms), block.names
        targets = np.ascontiguousarray(block.factor[:, width:].T)
        targets.flags.writeable = False
        for target, y in zip(block.target_names, targets, strict=True):
            variables = len(found) * len(problem.terms) + columns
            variables.flags.writeable = False
            bare = Equation(target, factor, y[:width], y[width:], np.zeros(0), variables, names)
            found.append((bare, None if np.array_equal(columns, everything) else columns))
    return found


def local_starts(equations: Sequence[Equation], starts: Sequence[int] | None) -> list[list[tuple[int, ...]]]:
    """Return a starting support (variables of all equations) in each equation's own numbering."""
    local = [equation.local(starts) if starts else () for equation in equations]
    return [[support] if support else [] for support in local]

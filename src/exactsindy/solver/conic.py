"""Branch and bound under quadratic and semidefinite constraints; node problems go to Clarabel."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.constraints import Cone, Stacked
from exactsindy.errors import SolverError
from exactsindy.solver import interrupt
from exactsindy.solver.backends.clarabel_node import Conic, matrix_of, side_of, solve_node
from exactsindy.solver.backends.component import Budget, Component
from exactsindy.solver.outcome import Answer, Outcome
from exactsindy.solver.settings import Deadline, Settings, Status

Flags = NDArray[np.int8]  # 1: in, 0: out, -1: free
_ZERO = 1e-7  # of the target's norm: smaller contributions may be zero


@dataclass
class _Search:
    problem: Conic
    deadline: Deadline
    best: float = np.inf
    support: tuple[int, ...] | None = None
    coef: Array | None = None
    open: float = np.inf
    nodes: int = 0
    unproved: bool = False  # Clarabel said of a whole support that it is infeasible, without a proof
    stop: Status | None = None
    seen: set[tuple[int, ...]] = field(default_factory=set)

    def explore(self, flags: Flags) -> None:
        """Look at all supports that agree with the flags."""
        if not propagate(self.problem.stacked, flags):
            return
        self.nodes += 1
        self._check_limits()
        columns = np.flatnonzero(flags != 0)
        result = solve_node(self.problem, columns, self.best)
        if self.stop is not None:
            self.open = min(self.open, max(result.bound, 0.0))
            return
        if result.bound > self.best or (result.x is None and result.bound == np.inf):
            return
        if result.x is None:  # said to be infeasible, not proved
            return self._split(flags, int(np.argmax(flags == -1)) if (flags == -1).any() else None)
        size = np.abs(result.x) * np.linalg.norm(self.problem.stacked.matrix, axis=0)
        nonzero = size > _ZERO * np.linalg.norm(self.problem.stacked.target)
        free = (flags == -1) & nonzero
        present = (flags == 1) | nonzero
        self._candidate(present)
        if not free.any() and self._allowed(flags == 1):
            # Coefficients are bounded better now that something was found.
            self.open = min(self.open, max(solve_node(self.problem, columns, self.best).bound, 0.0))
            return
        score = np.where(free, size, np.where(flags == -1, 0.0, -1.0))
        self._split(flags, int(np.argmax(score)) if (flags == -1).any() else None)

    def _split(self, flags: Flags, v: int | None) -> None:
        if v is None:
            self.unproved = True
            return
        for value in (1, 0):
            child = flags.copy()
            child[v] = value
            self.explore(child)

    def _allowed(self, present: NDArray[np.bool_]) -> bool:
        s = self.problem.stacked
        return bool(np.all(s.presence @ present.astype(float) <= s.presence_rhs))

    def _candidate(self, present: NDArray[np.bool_]) -> None:
        support = tuple(np.flatnonzero(present).tolist())
        if support in self.seen or not self._allowed(present):
            return
        self.seen.add(support)
        result = solve_node(self.problem, np.flatnonzero(present), np.inf)
        if result.x is not None and result.value < self.best and feasible(self.problem, result.x):
            self.best, self.support, self.coef = result.value, support, result.x

    def _check_limits(self) -> None:
        limit = self.deadline.limits.nodes
        if limit is not None and self.nodes > limit:
            self.stop = Status.NODE_LIMIT
        if self.deadline.expired:
            self.stop = Status.TIME_LIMIT
        if interrupt.pressed():
            self.stop = Status.INTERRUPTED


def solve(component: Component, budgets: list[Budget], settings: Settings) -> Outcome:
    """Find the best support of a component under convex constraints (one thread, no margin)."""
    rules = component.rules
    if np.any(rules.least > 0) or rules.t_level > 0:
        others = "SemiContinuous(least) or Significant"
        raise SolverError(f"Quadratic and semidefinite constraints cannot be combined with {others}.")
    stacked = component.stacked(budgets)
    cones = [cone for cone in rules.convex if cone.variables[0] in component.position]
    search = _Search(Conic.of(stacked, cones), Deadline(settings))
    flags = np.full(len(stacked.variables), -1, dtype=np.int8)
    flags[(stacked.lower > 0) | (stacked.upper < 0)] = 1
    search.explore(flags.copy())
    if search.unproved and search.support is not None:
        # With an answer known, coefficients are bounded, and proofs of infeasibility that failed succeed.
        search.unproved, search.open = False, np.inf
        search.explore(flags.copy())
    answers: tuple[Answer, ...] = ()
    if search.support is not None and search.coef is not None:
        chosen = list(search.support)
        support = tuple(int(v) for v in stacked.variables[chosen])
        answers = (Answer(support, tuple(search.coef[chosen].tolist()), search.best + stacked.constant),)
    bound = min(search.open, search.best, 0.0 if search.unproved else np.inf) + stacked.constant
    return Outcome(answers, bound, stop=search.stop, nodes=search.nodes, seconds=search.deadline.elapsed)


def propagate(stacked: Stacked, flags: Flags) -> bool:
    """Decide what the presence rows leave no choice about; False if they cannot hold."""
    while True:
        least = stacked.presence @ (flags == 1) + np.minimum(stacked.presence, 0.0) @ (flags == -1)
        slack = stacked.presence_rhs - least
        if np.any(slack < 0):
            return False
        tight = (np.abs(stacked.presence) > slack[:, None]) & (flags == -1)
        if not tight.any():
            return True
        row, v = (int(i[0]) for i in np.nonzero(tight))
        flags[v] = 0 if stacked.presence[row, v] > 0 else 1


def feasible(problem: Conic, x: Array) -> bool:
    """Return True if a point satisfies all conditions to 1e-9 of their scale."""
    s = problem.stacked
    for rows, rhs, equal in ((s.equal, s.equal_rhs, True), (s.below, s.below_rhs, False)):
        excess = rows @ x - rhs
        size = np.abs(rows) @ np.abs(x) + np.abs(rhs)
        if np.any((np.abs(excess) if equal else excess) > 1e-9 * size):
            return False
    slack = 1e-9 * np.abs(x)
    if np.any(x < s.lower - slack) or np.any(x > s.upper + slack):
        return False
    return all(_inside(cone, x) for cone in problem.cones)


def _inside(cone: Cone, x: Array) -> bool:
    """Return True if a point lies in a cone, to 1e-9 of what is added up there."""
    parts = cone.matrix * x
    point = cone.offset - parts.sum(axis=1)
    slack = 1e-9 * (float(np.abs(cone.offset).max() + np.abs(parts).sum()) or 1.0)
    if cone.kind == "second-order":
        return bool(np.linalg.norm(point[1:]) <= point[0] + slack)
    return bool(np.linalg.eigvalsh(matrix_of(point, side_of(point)))[0] >= -slack)

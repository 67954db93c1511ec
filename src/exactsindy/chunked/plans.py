"""How a form makes rows of pieces: one plan, or several in one pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from exactsindy.chunked.pieces import Piece, Reach
from exactsindy.data import Data
from exactsindy.problem import Problem


class Plan(Protocol):
    """How a form makes the rows of one piece; decided once, before any piece is read."""

    @property
    def reach(self) -> Reach:
        """Return how many neighbours before and after its own samples a piece must hold."""

    @property
    def in_order(self) -> bool:
        """Return True if the rows of a trajectory go on from those of the piece before."""

    def problem(self, piece: Piece, before: Any) -> tuple[Problem | None, Any]:
        """Return the problem of a piece's own rows (None if it has none), and what the next piece goes on from."""


@dataclass(frozen=True, eq=False)
class EachApart:
    """A plan that makes the rows of every piece as if it were all of the data; ``more`` samples after it are joined."""

    make: Callable[[Data], Problem | None]
    more: int = 0
    in_order: bool = False

    @property
    def reach(self) -> Reach:
        """Return how many neighbours a piece must hold."""
        return 0, self.more

    def problem(self, piece: Piece, before: Any) -> tuple[Problem | None, None]:
        """Return the problem of a piece."""
        return self.make(piece.apart(self.more)), None


@dataclass(frozen=True, eq=False)
class Together:
    """Several plans in one pass over the pieces; the answer has the blocks of each, told apart by `apart`."""

    plans: tuple[Plan, ...]

    @property
    def reach(self) -> Reach:
        """Return how many neighbours a piece must hold."""
        return max(plan.reach[0] for plan in self.plans), max(plan.reach[1] for plan in self.plans)

    @property
    def in_order(self) -> bool:
        """Return True if one of the plans goes on from the piece before."""
        return any(plan.in_order for plan in self.plans)

    def problem(self, piece: Piece, before: Any) -> tuple[Problem | None, Any]:
        """Return the problems of a piece as one of all their blocks."""
        results = [
            plan.problem(piece, b) for plan, b in zip(self.plans, before or [None] * len(self.plans), strict=True)
        ]
        blocks = [
            replace(block, target_names=tuple(f"{i} {name}" for name in block.target_names))
            for i, (problem, _) in enumerate(results)
            if problem is not None
            for block in problem.blocks
        ]
        # A piece is of use to all plans or to none: sums need the same equations in every piece.
        complete = all(problem is not None for problem, _ in results)
        return Problem(tuple(blocks)) if complete else None, [state for _, state in results]

    def apart(self, problem: Problem) -> tuple[Problem, ...]:
        """Return the problems of the plans."""
        parts: list[list[Any]] = [[] for _ in self.plans]
        for block in problem.blocks:
            i = int(block.target_names[0].partition(" ")[0])
            names = tuple(name.partition(" ")[2] for name in block.target_names)
            parts[i].append(replace(block, target_names=names))
        return tuple(Problem(tuple(blocks)) for blocks in parts)

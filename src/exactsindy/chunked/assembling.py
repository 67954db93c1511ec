"""Sums over pieces: in this process, or as tasks of the Dask client that is there; the order of sums is fixed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, pairwise
from typing import Any, Protocol

from exactsindy._limits import go_on
from exactsindy._optional import optional
from exactsindy.chunked.pieces import Piece, Pieces, Reach, Unread
from exactsindy.data import Data
from exactsindy.errors import DataError
from exactsindy.problem import Problem

# Pieces that are handed to a cluster at once: a power of two, so that their sum is a branch of the tree of all.
_BATCH = 256


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


@dataclass
class Assembly:
    """What was read: pieces, bytes, and passes over all of the data."""

    pieces: int = 0
    size: int = 0
    passes: int = 0

    def __str__(self) -> str:
        times = "once" if self.passes == 1 else f"{self.passes} times"
        pieces = "1 piece" if self.pieces == 1 else f"{self.pieces} pieces"
        return f"read {times} in {pieces}, {self.size / 1e6:.3g} MB"


_reading: ContextVar[Assembly | None] = ContextVar("exactsindy_reading", default=None)


@contextmanager
def reading(count: Assembly | None = None) -> Iterator[Assembly]:
    """Count what is read inside, from nothing or on from an earlier count."""
    count = Assembly() if count is None else count
    token = _reading.set(count)
    try:
        yield count
    finally:
        _reading.reset(token)


def assemble(pieces: Pieces, plan: Plan, folds: int = 1) -> tuple[Problem, ...]:
    """Return the problem of all pieces, or folds of it, each a number of pieces that follow one another.

    Problems are added in a binary tree over the number of the piece, whoever computes them: equal pieces give equal
    bits with any number of workers. If the process has a Dask client, its workers read the pieces and add them; else
    this process does, one piece in memory at a time.
    """
    if folds > 1 and (pieces.count is None or folds > pieces.count):
        known = "an unknown number of" if pieces.count is None else str(pieces.count)
        raise DataError(
            f"folds(count={folds}): these data come in {known} pieces, which are not divided; ask for at most as many "
            "folds, or store the data in smaller chunks."
        )
    unread = pieces.unread(plan.reach)
    count = _reading.get()
    if count is not None:
        count.passes += 1
        unread = _counted(unread, count)
    client = None if pieces.here else _client()
    if folds == 1:
        return (_required(_sum(unread, plan, None, client)[0]),)
    assert pieces.count is not None
    borders = [round(pieces.count * i / folds) for i in range(folds + 1)]
    state, parts = None, []
    for low, high in pairwise(borders):
        part, state = _sum(islice(unread, high - low), plan, state, client)
        if part is None:
            raise DataError(
                f"folds(count={folds}): pieces {low} to {high} hold no row of the regression; ask for fewer."
            )
        parts.append(part)
    return tuple(parts)


def _required(problem: Problem | None) -> Problem:
    if problem is None:
        raise DataError("none of the pieces is long enough for a row of the regression: read larger pieces.")
    return problem


def _counted(unread: Iterator[Unread], count: Assembly) -> Iterator[Unread]:
    for piece in unread:
        count.pieces += 1
        count.size += piece.size
        yield piece


def _sum(unread: Iterator[Unread], plan: Plan, state: Any, client: Any) -> tuple[Problem | None, Any]:
    if client is not None:
        return _sum_on(client, unread, plan, state)
    tree = Tree()
    for piece in unread:
        go_on()
        problem, state = plan.problem(piece.read(), state)
        tree.add(problem)
    return tree.total(), state


def tree_sum(problems: Iterable[Problem]) -> Problem:
    """Return the sum of problems, added in a binary tree over their order."""
    tree = Tree()
    for problem in problems:
        tree.add(problem)
    return _required(tree.total())


class Tree:
    """The sum of a sequence as a binary tree over positions, of which only one branch per level is held."""

    def __init__(self) -> None:
        self._branches: list[tuple[int, Problem | None]] = []  # (positions below, their sum)

    def add(self, problem: Problem | None, count: int = 1) -> None:
        """Take in what stands next; ``count`` positions, a power of two, if it is a branch already."""
        self._branches.append((count, problem))
        while len(self._branches) > 1 and self._branches[-1][0] == self._branches[-2][0]:
            (size, right), (_, left) = self._branches.pop(), self._branches.pop()
            self._branches.append((2 * size, joined(left, right)))

    def total(self) -> Problem | None:
        """Return the sum of all."""
        total = None
        for _, problem in reversed(self._branches):
            total = joined(problem, total)
        return total


def joined(left: Problem | None, right: Problem | None) -> Problem | None:
    """Return the sum of two problems either of which may have no rows."""
    if left is None or right is None:
        return right if left is None else left
    return left + right


def _client() -> Any:
    """Return the Dask client that the caller opened, if there is one; none is ever made here."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.get_client()  # also inside a task
    except ValueError:
        return None


def _sum_on(client: Any, unread: Iterator[Unread], plan: Plan, state: Any) -> tuple[Problem | None, Any]:
    """Return the sum computed by the workers of a Dask cluster: the same tree, each branch where its parts are."""
    tree = Tree()
    while batch := list(islice(unread, _BATCH)):
        go_on()
        total, state = _branch(client, batch, plan, state)
        tree.add(total, len(batch))  # the last batch may be smaller: everything before it is larger
    return tree.total(), state


def _branch(client: Any, batch: Sequence[Unread], plan: Plan, state: Any) -> tuple[Problem | None, Any]:
    dask = optional("dask", "dask", "Work on a cluster")
    shared = dask.delayed(plan, pure=False, traverse=False)
    task, add = dask.delayed(_task, pure=False, nout=2), dask.delayed(joined, pure=False)
    first, second = dask.delayed(_first, pure=False), dask.delayed(_second, pure=False)
    leaves, last = [], state
    for piece in batch:
        # A piece in order needs a few numbers of the piece before, not its rows: both are read at the same time.
        done = task(shared, _loaded(piece), last if plan.in_order else None)
        leaves.append(first(done))
        last = second(done)
    level = leaves
    while len(level) > 1:
        pairs = [add(left, right) for left, right in zip(level[::2], level[1::2], strict=False)]
        level = pairs + level[len(level) - len(level) % 2 :]
    wanted = (level[0], last if plan.in_order else None)
    total, after = client.compute(dask.delayed(tuple)(wanted), sync=True, retries=10)
    return total, after


def _loaded(piece: Unread) -> Any:
    dask = optional("dask", "dask", "Work on a cluster")
    return dask.delayed(partial(_build, piece.build), pure=False)(*piece.parts)


def _build(build: Any, *parts: Any) -> Piece:
    return build(*parts)  # type: ignore[no-any-return]


def _task(plan: Plan, piece: Piece, before: Any) -> tuple[Problem | None, Any]:
    return plan.problem(piece, before)


def _first(pair: tuple[Any, Any]) -> Any:
    return pair[0]


def _second(pair: tuple[Any, Any]) -> Any:
    return pair[1]

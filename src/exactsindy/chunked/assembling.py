"""Sums over pieces: in this process, or as tasks of the Dask client that is there; the order of sums is fixed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice, pairwise

from exactsindy import _cluster
from exactsindy._limits import go_on
from exactsindy.chunked.on_workers import sums_on
from exactsindy.chunked.pieces import Pieces, Unread
from exactsindy.chunked.plans import Plan
from exactsindy.chunked.trees import Tree, required
from exactsindy.errors import DataError
from exactsindy.problem import Problem


@dataclass
class Assembly:
    """What was read: pieces, bytes, passes over all of the data; ``tell`` is called with the pieces done in a pass."""

    pieces: int = 0
    size: int = 0
    passes: int = 0
    tell: Callable[[int], None] | None = None

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
    lengths = [None] if folds == 1 else [high - low for low, high in pairwise(_borders(pieces, folds))]
    tick = _ticker(count)
    cluster = None if pieces.here else _cluster.client()
    sums = _sums(unread, plan, lengths, tick) if cluster is None else sums_on(cluster, unread, plan, lengths, tick)
    if folds == 1:
        return (required(sums[0]),)
    for part, (low, high) in zip(sums, pairwise(_borders(pieces, folds)), strict=True):
        if part is None:
            raise DataError(
                f"folds(count={folds}): pieces {low} to {high} hold no row of the regression; ask for fewer."
            )
    return tuple(part for part in sums if part is not None)


def _borders(pieces: Pieces, folds: int) -> list[int]:
    assert pieces.count is not None
    return [round(pieces.count * i / folds) for i in range(folds + 1)]


def _counted(unread: Iterator[Unread], count: Assembly) -> Iterator[Unread]:
    for piece in unread:
        count.pieces += 1
        count.size += piece.size
        yield piece


def _ticker(count: Assembly | None) -> Callable[[], None]:
    """Return what is called after each piece."""
    numbers = itertools.count(1)

    def tick() -> None:
        if count is not None and count.tell is not None:
            count.tell(next(numbers))

    return tick


def _sums(
    unread: Iterator[Unread], plan: Plan, lengths: Sequence[int | None], tick: Callable[[], None]
) -> list[Problem | None]:
    """Return the sums of so many pieces each, made in this process."""
    sums, state = list[Problem | None](), None
    for length in lengths:
        tree = Tree()
        for piece in islice(unread, length):
            go_on()
            problem, state = plan.problem(piece.read(), state)
            tree.add(problem)
            tick()
        sums.append(tree.total())
    return sums

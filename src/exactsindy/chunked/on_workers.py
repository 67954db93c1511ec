"""Sums over pieces made by the workers of a Dask cluster; they get places to read from, not numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from exactsindy import _cluster
from exactsindy._limits import go_on, is_over
from exactsindy._optional import optional
from exactsindy.chunked.pieces import Piece, Unread
from exactsindy.chunked.plans import Plan
from exactsindy.chunked.trees import Tree, joined
from exactsindy.problem import Problem

# Pieces that are handed to a cluster at once: a power of two, so that their sum is a branch of the tree of all.
_BATCH = 256


def sums_on(
    cluster: Any, unread: Iterator[Unread], plan: Plan, lengths: Sequence[int | None], tick: Callable[[], None]
) -> list[Problem | None]:
    """Return the sums made by the workers of a Dask cluster: the same trees, each branch where its parts are."""
    trees, state = [Tree() for _ in lengths], None
    runs = _runs(unread, lengths)
    while batch := list(_taken(runs)):
        totals, state = _branches(cluster, [run for _, run in batch], plan, state, tick)
        for (i, run), total in zip(batch, totals, strict=True):
            trees[i].add(total, len(run))  # the last run of a sum may be smaller: everything before it is larger
    return [tree.total() for tree in trees]


def _runs(unread: Iterator[Unread], lengths: Sequence[int | None]) -> Iterator[tuple[int, list[Unread]]]:
    """Yield (number of the sum, pieces that follow one another in it), at most a batch of them."""
    for i, length in enumerate(lengths):
        own = islice(unread, length)
        while run := list(islice(own, _BATCH)):
            yield i, run


def _taken(runs: Iterator[tuple[int, list[Unread]]]) -> Iterator[tuple[int, list[Unread]]]:
    """Yield runs until they are a batch: those of several sums go to the workers together."""
    count = 0
    while count < _BATCH and (one := next(runs, None)) is not None:
        count += len(one[1])
        yield one


def _branches(
    cluster: Any, runs: Sequence[Sequence[Unread]], plan: Plan, state: Any, tick: Callable[[], None]
) -> tuple[list[Problem | None], Any]:
    """Return the sum of each run, and what the next piece goes on from."""
    dask = optional("dask", "dask", "Work on a cluster")
    shared = dask.delayed(plan, pure=False, traverse=False)
    task, add = dask.delayed(_task, pure=False, nout=2), dask.delayed(joined, pure=False)
    first, second = dask.delayed(_first, pure=False), dask.delayed(_second, pure=False)
    leaves, totals, last = [], [], state
    for run in runs:
        level = []
        for piece in run:
            if not plan.in_order:
                level.append(dask.delayed(partial(_alone, piece.build), pure=False)(shared, *piece.parts))
                continue
            # A piece in order needs a few numbers of the piece before, not its rows: both are read at the same time.
            loaded = dask.delayed(partial(_build, piece.build), pure=False)(*piece.parts)
            done = task(shared, loaded, last)
            level.append(first(done))
            last = second(done)
        leaves += level
        while len(level) > 1:
            pairs = [add(left, right) for left, right in zip(level[::2], level[1::2], strict=False)]
            level = pairs + level[len(level) - len(level) % 2 :]
        totals.append(level[0])
    futures = cluster.compute([*leaves, dask.delayed(tuple)((totals, last))], retries=_cluster.RETRIES)
    *marks, answer = futures
    del futures
    for i in _cluster.finished(cluster, [*marks, answer], is_over):
        if i < len(marks):
            marks[i].release()
            tick()
    go_on()
    found, after = _cluster.result(answer)
    return list(found), after


def _alone(build: Any, plan: Plan, *parts: Any) -> Problem | None:
    return plan.problem(build(*parts), None)[0]


def _build(build: Any, *parts: Any) -> Piece:
    return build(*parts)  # type: ignore[no-any-return]


def _task(plan: Plan, piece: Piece, before: Any) -> tuple[Problem | None, Any]:
    return plan.problem(piece, before)


def _first(pair: tuple[Any, Any]) -> Any:
    return pair[0]


def _second(pair: tuple[Any, Any]) -> Any:
    return pair[1]

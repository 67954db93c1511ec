"""Tasks on the workers of the Dask client that the caller opened; none is ever made here, and Dask is never loaded."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from exactsindy.errors import SolverError

Item = TypeVar("Item")

# Seconds between two questions whether to go on, and how often a task that failed is tried again (one whose worker was
# lost always is).
_EVERY, RETRIES = 0.1, 2


def client() -> Any:
    """Return the Dask client that the caller opened; None if there is none, and inside its tasks.

    A task does its work itself: a cluster with as many tasks that wait for others as threads would stand still.
    """
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        distributed.get_worker()
    except ValueError:
        pass
    else:
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None


def threads(cluster: Any) -> int:
    """Return how many tasks the workers of a cluster do at the same time; at least 1, they may still be coming."""
    return max(sum(map(int, cluster.nthreads().values())), 1)


def finished(cluster: Any, futures: Sequence[Any], stop: Callable[[], bool]) -> Iterator[int]:
    """Yield the places of futures in the order in which they end; what has not when ``stop()`` is true is cancelled."""
    distributed = sys.modules["distributed"]
    place = {future: i for i, future in enumerate(futures)}
    try:
        while place:
            if stop():
                return
            try:
                with _losses_told():
                    done = distributed.wait(list(place), timeout=_EVERY, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                continue
            for future in done:
                yield place.pop(future)
    finally:
        if place:
            cluster.cancel(list(place))


def result(future: Any) -> Any:
    """Return what a task gave; `SolverError` if the cluster lost it. Errors of the task itself stay what they are."""
    with _losses_told():
        return future.result()


@contextmanager
def _losses_told() -> Iterator[None]:
    distributed = sys.modules["distributed"]
    try:
        yield
    except (distributed.KilledWorker, distributed.CancelledError) as error:
        text = (
            "the workers that took it were killed again and again, often for lack of memory, or the client was closed"
        )
        cure = "Give workers more memory, or close the Dask client: then this process does the work."
        raise SolverError(f"The Dask cluster lost a task: {text}. {cure}") from error


def spread(
    cluster: Any, function: Callable[[Item], Any], items: Sequence[Item], stop: Callable[[], bool]
) -> Iterator[tuple[int, Any]]:
    """Yield (place of an item, function(item)) as the workers are done with them; the rest is left out if ``stop()``.

    A task of a lost worker is done again by another one.
    """
    futures = cluster.map(function, items, pure=False, retries=RETRIES)
    for i in finished(cluster, futures, stop):
        yield i, result(futures[i])

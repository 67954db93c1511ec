"""Tasks of a cluster that are lost end in a sentence; errors of the tasks themselves stay what they are."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from exactsindy import _cluster
from exactsindy.errors import SolverError


class KilledWorker(Exception):
    """As Dask raises it."""


class CancelledError(Exception):
    """As Dask raises it."""


class Future:
    def __init__(self, error):
        self.error = error

    def result(self):
        raise self.error


@pytest.fixture
def cluster(monkeypatch):
    """A cluster in name, whose tasks all end at once with the same error."""

    def wait(futures, timeout, return_when):
        return SimpleNamespace(done=list(futures))

    names = {"KilledWorker": KilledWorker, "CancelledError": CancelledError, "wait": wait}
    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(**names))
    return SimpleNamespace(
        map=lambda function, items, **options: [Future(e) for e in items], cancel=lambda futures: None
    )


@pytest.mark.parametrize("error", [KilledWorker("task-1", 4), CancelledError("task-1")])
def test_a_task_that_is_lost_ends_in_a_sentence(cluster, error):
    with pytest.raises(SolverError, match=r"The Dask cluster lost a task: .* close the Dask client"):
        list(_cluster.spread(cluster, print, [error], lambda: False))


def test_an_error_of_the_task_itself_stays_what_it_is(cluster):
    with pytest.raises(ZeroDivisionError):
        list(_cluster.spread(cluster, print, [ZeroDivisionError()], lambda: False))


def test_futures_that_are_cancelled_while_they_are_waited_for_end_in_a_sentence(cluster, monkeypatch):
    def wait(futures, timeout, return_when):
        raise CancelledError("task-1")

    monkeypatch.setattr(sys.modules["distributed"], "wait", wait)
    with pytest.raises(SolverError, match="The Dask cluster lost a task"):
        list(_cluster.spread(cluster, print, [None], lambda: False))

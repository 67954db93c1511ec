"""Searches as tasks of a cluster: what each is told, without a cluster; with one, `tests/cli/test_scheduler.py`."""

from __future__ import annotations

import time

import numpy as np
import pytest

import exactsindy as es
from exactsindy import _cluster
from exactsindy.problem import Problem


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    return Problem.from_arrays(rng.normal(size=(300, 80)), rng.normal(size=(300, 4)))


@pytest.fixture
def tasks(monkeypatch):
    """The tasks that a cluster of two threads is given; it does them at once, one after the other."""
    given = []

    def spread(cluster, function, items, stop):
        given.extend(items)
        for i, item in enumerate(items):
            yield i, function(item)

    monkeypatch.setattr(_cluster, "client", lambda: "a cluster")
    monkeypatch.setattr(_cluster, "threads", lambda cluster: 2)
    monkeypatch.setattr(_cluster, "spread", spread)
    return given


def test_tasks_end_before_the_time_is_over(problem, tasks):
    """An answer at the limit of a search has to arrive while somebody waits for it."""
    begin = time.monotonic()
    found = es.solve(problem, 2, settings=es.Settings(seconds=60.0))
    assert found.optimal
    assert len(tasks) == 4
    rounds, passed = 2, time.monotonic() - begin
    for task in tasks:
        assert rounds * task.settings.seconds < 60.0 - 5.0
        assert rounds * task.settings.seconds > 0.9 * 0.75 * 60.0 - passed


def test_tasks_without_a_limit_have_none(problem, tasks):
    alone = es.solve_path(problem, 2, settings=es.Settings(threads=1, nodes=10**9))
    assert not tasks  # nodes are counted in one process
    found = es.solve_path(problem, 2, settings=es.Settings(threads=1))
    assert [task.settings.seconds for task in tasks] == [None] * 4
    assert all((one.coef == other.coef).all() for one, other in zip(found, alone, strict=True))

"""Two threads beside two processes: what is compared, and the sentence about it."""

import numpy as np

from exactsindy.problem import Problem
from exactsindy_experiments import two_threads
from exactsindy_experiments.two_threads import Search, TwoThreads, comparing, summary


def problem() -> Problem:
    rng = np.random.default_rng(1)
    return Problem.from_arrays(rng.normal(size=(60, 30)), rng.normal(size=60))


def test_short_searches_are_not_compared():
    with comparing() as compare:
        assert compare(Search(problem(), 2), 10.0) is None


def test_two_processes_stand_beside_two_threads(monkeypatch):
    monkeypatch.setattr(two_threads, "SHORT", 0.0)
    with comparing() as compare:
        found = compare(Search(problem(), 5), 20.0)
    assert found is not None
    assert found.same
    assert min(found.ratio, found.machine) > 0
    assert 0.5 <= found.busy <= 1


def test_the_summary_names_means_and_least_values():
    text = summary([TwoThreads(1.6, 1.9, 0.55, True), TwoThreads(1.6, 2.0, 0.5, True)])
    assert "geometric mean 1.60, least 1.60" in text
    assert "side 1.95, least 1.90 (2 searches)" in text
    assert "NOT" in summary([TwoThreads(1.0, 1.0, 1.0, False)])
    assert summary([]) == "No search was long enough for two threads."

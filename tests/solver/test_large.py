"""Large libraries: limits, Ctrl-C and memory before the search itself begins; large pools."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from math import comb

import numpy as np
import pytest

from exactsindy.certificate import verify
from exactsindy.errors import SolverError
from exactsindy.problem import Block, NamedTerm, Problem
from exactsindy.solver import Settings, Status, solve, solve_path, solve_pool
from exactsindy.solver.backends import native

TRUE = (5, 700, 1201)


def gaussian(columns, samples=None, noise=0.03, seed=0):
    """Independent normal columns; the triangle of their QR is drawn directly."""
    rng = np.random.default_rng(seed)
    samples = samples or 3 * columns
    factor = np.triu(rng.normal(size=(columns + 1, columns + 1)), 1)
    factor[np.diag_indices(columns)] = np.sqrt(rng.chisquare(samples - np.arange(columns)))
    factor[:, columns] *= noise
    factor[columns, columns] = noise * np.sqrt(samples - columns)
    factor[:columns, columns] += factor[:columns, list(TRUE)].sum(axis=1)
    return Problem((Block(factor, samples, tuple(NamedTerm(f"t{j}") for j in range(columns)), ("y'",)),))


@pytest.fixture(scope="module")
def large():
    return gaussian(1600)


def test_large_library_is_proved(large):
    best = solve(large, 3)
    assert best.optimal
    assert best.support == (TRUE,)
    assert best.margin[0] > 0
    one = solve(large, 3, settings=Settings(threads=1))
    assert one.coef.tobytes() == best.coef.tobytes()
    assert one.margin == best.margin


def test_large_library_with_a_ridge(large):
    best = solve(large, 3, ridge=1e-3)
    assert best.optimal
    assert best.support == (TRUE,)


def test_wide_library():
    """Fewer samples than terms: no inverse, and the guide is that of a regularised library."""
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(120, 600))
    problem = Problem.from_arrays(theta, theta[:, 7] - 2 * theta[:, 99] + 0.01 * rng.normal(size=120))
    best = solve(problem, 2)
    assert best.support == ((7, 99),)
    assert best.optimal


@pytest.mark.parametrize("seconds", [1e-6, 0.02, 0.1, 0.3])
def test_time_limit_holds_for_the_preparation(large, seconds):
    solve(large, 1)  # (loads what a first call loads)
    begin = time.perf_counter()
    solution = solve(large, 4, settings=Settings(seconds=seconds))
    assert time.perf_counter() - begin < seconds + 0.5  # 0.05 on an idle machine; the preparation alone takes longer
    assert solution.status == (Status.TIME_LIMIT,) or solution.optimal
    assert 0 <= solution.lower_bound[0] <= solution.objective[0]
    assert np.isnan(solution.margin[0]) or solution.optimal
    assert solution.support[0] == () or set(TRUE) <= set(solution.support[0])  # none, or the greedy ones
    assert verify(large, solution).ok


def test_path_and_pool_that_are_cut_short(large):
    path = solve_path(large, 4, settings=Settings(seconds=1e-6))
    assert len(path) == 5
    assert path[0].optimal
    assert all(np.all(b.objective <= a.objective) for a, b in itertools.pairwise(path))
    pool = solve_pool(large, 4, count=3, settings=Settings(seconds=1e-6))
    assert not pool.complete["y'"]
    assert all(len(member.support) == 4 for member in pool["y'"])


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT to itself")
@pytest.mark.parametrize("wait", [0.02, 0.2])
def test_interrupt_during_the_preparation(wait):
    problem = gaussian(1600, samples=1700, noise=3.0)
    solve(problem, 1)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    pressed = []

    def press():
        pressed.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(wait, press)
    try:
        timer.start()
        solution = solve(problem, 6)
        answered = time.perf_counter()
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
    assert solution.status == (Status.INTERRUPTED,)
    assert 0 <= solution.lower_bound[0] < solution.objective[0]
    assert answered - pressed[0] < 1.0  # 0.1 on an idle machine


def test_memory_is_checked_before_it_is_taken(large, monkeypatch):
    need = native.memory_needed(1600, 4, 1, 1)
    monkeypatch.setattr(native, "physical_memory", lambda: need // 2)
    with pytest.raises(
        SolverError, match=r"1600 terms with k = 4 take 0\.348 GB of memory, this machine has 0\.174 GB"
    ):
        solve(large, 4)
    monkeypatch.setattr(native, "physical_memory", lambda: None)
    assert solve(large, 1).optimal


def test_fewer_threads_where_memory_is_short(large):
    equations = [native.Equation("y'", *[np.empty(0)] * 5, tuple(large.names))]
    fits = [native.threads_that_fit(equations, [4], 8, native.memory_needed(1600, 4, 1, n)) for n in (1, 3, 8, 20)]
    assert fits == [1, 3, 8, 8]
    assert native.threads_that_fit(equations, [4], 8, None) == 8


def test_large_pools_are_complete_and_sorted():
    rng = np.random.default_rng(0)
    problem = Problem.from_arrays(rng.normal(size=(60, 26)), rng.normal(size=60))
    pool = solve_pool(problem, 4, within=1e9)
    (members,) = pool.members.values()
    assert pool.complete["y0'"]
    assert len(members) == comb(26, 4) == len({member.support for member in members})
    assert all(a.objective <= b.objective for a, b in itertools.pairwise(members))
    few = solve_pool(problem, 4, count=1000)["y0'"]
    assert [m.support for m in few] == [m.support for m in members[:1000]]

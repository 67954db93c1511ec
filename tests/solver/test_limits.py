"""Limits, progress and interruption: the best answer so far, with a true bound."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from exactsindy.certificate import verify
from exactsindy.problem import Problem
from exactsindy.solver import Settings, Status, Total, refit, solve, solve_path, solve_pool
from exactsindy.solver.backends import native


def noise(rows, columns, targets=1, seed=0):
    """Nothing to find: the hardest kind of search for its size."""
    rng = np.random.default_rng(seed)
    return Problem.from_arrays(rng.standard_normal((rows, columns)), rng.standard_normal((rows, targets)))


@pytest.fixture(scope="module")
def easy():
    """Complete in a fraction of a second, and still some 100 000 nodes."""
    problem = noise(200, 80)
    best = solve(problem, 8, settings=Settings(threads=1))  # nodes are compared
    assert best.optimal
    return problem, best


@pytest.fixture(scope="module")
def hard():
    """No hope of completing it."""
    return noise(90, 80)


def assert_honest(solution, best):
    """The bound is below the true optimum, the answer is a fit of its support above it."""
    assert np.all(solution.lower_bound <= best.objective)
    assert np.all(solution.objective >= best.lower_bound)
    assert verify(solution.problem, solution).ok


@pytest.mark.parametrize("nodes", [1, 100, 10_000, 50_000])
@pytest.mark.parametrize("threads", [1, 2])
def test_node_limit(easy, nodes, threads):
    problem, best = easy
    solution = solve(problem, 8, settings=Settings(nodes=nodes, threads=threads))
    assert solution.status == (Status.NODE_LIMIT,)
    assert not solution.optimal
    assert_honest(solution, best)
    assert np.isnan(solution.margin[0])
    assert solution.gap[0] == pytest.approx(
        (solution.objective[0] - solution.lower_bound[0]) / solution.objective[0], rel=1e-12
    )
    assert solution.nodes[0] <= nodes + 50_000  # a limit, looked at now and then
    assert solution.objective[0] <= 1.1 * best.objective[0]  # the search begins with a good support
    assert solution.lower_bound[0] > 0.5 * best.objective[0]


@pytest.mark.parametrize("seconds", [1e-9, 1e-4, 0.02])
def test_time_limit(hard, seconds):
    started = time.perf_counter()
    solution = solve(hard, 9, settings=Settings(seconds=seconds))
    assert time.perf_counter() - started < 1.0
    assert solution.status == (Status.TIME_LIMIT,)
    assert len(solution.support[0]) <= 9
    assert 0 <= solution.lower_bound[0] < solution.objective[0]
    assert solution.objective[0] < solve(hard, 3).objective[0]
    assert verify(hard, solution).ok
    assert np.isnan(solution.margin[0])


def test_limit_that_is_not_reached_changes_nothing(easy):
    problem, best = easy
    solution = solve(problem, 8, settings=Settings(nodes=10**9, seconds=1000.0))
    assert solution.optimal
    assert solution.support == best.support
    assert np.array_equal(solution.coef, best.coef)
    assert np.array_equal(solution.margin, best.margin)


def test_longer_searches_prove_more(easy):
    problem, best = easy
    bounds = [
        solve(problem, 8, settings=Settings(nodes=nodes, threads=1)).lower_bound[0]
        for nodes in (1, 1000, 30_000, 10**9)
    ]
    assert bounds == sorted(bounds)
    assert bounds[-1] == best.lower_bound[0]
    assert bounds[0] < bounds[-1]


def test_bound_is_true_on_small_problems():
    for seed in range(15):
        rng = np.random.default_rng(seed)
        rows = int(rng.integers(6, 30))  # also fewer rows than columns
        problem = noise(rows, 14, seed=seed)
        best = solve(problem, 5, backend="enumerate")
        for nodes in (1, 5, 40):
            solution = solve(problem, 5, settings=Settings(nodes=nodes))
            assert solution.lower_bound[0] <= best.objective[0] * (1 + 1e-12)
            assert solution.objective[0] >= best.objective[0] * (1 - 1e-12)
            assert solution.optimal or solution.status == (Status.NODE_LIMIT,)


def test_limit_of_a_path_leaves_small_sizes_proved(hard):
    path = solve_path(hard, 9, settings=Settings(seconds=0.3))
    proved = [item.optimal for item in path]
    assert proved[:4] == [True] * 4
    assert not proved[9]
    assert proved == sorted(proved, reverse=True)
    assert path[9].status == (Status.TIME_LIMIT,)
    for k, item in enumerate(path):
        assert item.lower_bound[0] <= item.objective[0]
        assert len(item.support[0]) <= k
    assert np.all(np.diff(path.objectives[:, 0]) <= 0)
    assert np.array_equal(path[4].coef, solve(hard, 4).coef)


def test_limit_of_several_equations_is_for_the_whole_call():
    problem = noise(90, 80, targets=3)
    started = time.perf_counter()
    solution = solve(problem, 9, settings=Settings(seconds=0.3))
    assert time.perf_counter() - started < 1.0
    assert solution.status == (Status.TIME_LIMIT,) * 3
    limited = solve(problem, 9, settings=Settings(nodes=1000))
    assert limited.status == (Status.NODE_LIMIT,) * 3
    assert limited.nodes.sum() < 5000


def test_time_limit_of_a_shared_budget():
    problem = noise(90, 80, targets=3)
    started = time.perf_counter()
    solution = solve(problem, Total(24), settings=Settings(seconds=0.3))
    assert time.perf_counter() - started < 1.0
    assert solution.status == (Status.TIME_LIMIT,)
    assert 0 <= solution.lower_bound[0] < solution.objective[0]
    assert np.isnan(solution.margin[0])
    assert sum(map(len, solution.support)) <= 24
    assert verify(problem, solution).ok


def test_node_limit_of_a_shared_budget_is_for_the_whole_call():
    problem = noise(90, 80, targets=3)
    solution = solve(problem, Total(24), settings=Settings(nodes=1000))
    assert solution.status == (Status.NODE_LIMIT,)
    assert 0 <= solution.lower_bound[0] < solution.objective[0]
    assert solution.nodes[0] < 5000


def test_bound_of_a_limited_shared_budget_is_true():
    for seed in range(10):
        problem = noise(30, 14, targets=2, seed=seed)
        best = solve(problem, Total(8))
        assert best.optimal
        for nodes in (1, 10):
            limited = solve(problem, Total(8), settings=Settings(nodes=nodes))
            assert limited.lower_bound[0] <= best.objective[0]
            assert limited.objective[0] >= best.objective[0] * (1 - 1e-12)


# Gap


@pytest.mark.parametrize("gap", [0.5, 0.1, 0.05, 1e-3])
def test_gap_stops_early_and_is_kept(easy, gap):
    problem, best = easy
    solution = solve(problem, 8, settings=Settings(gap=gap, threads=1))
    assert solution.status == (Status.OPTIMAL,)
    assert solution.gap[0] <= gap
    assert_honest(solution, best)
    assert solution.nodes[0] <= best.nodes[0] * 1.05
    if gap == 0.5:
        assert solution.nodes[0] < best.nodes[0] / 10
        assert solution.gap[0] > 1e-9


def test_gap_that_was_not_reached_is_not_optimal(easy):
    problem, best = easy
    first = solve(problem, 8, settings=Settings(nodes=1))
    assert first.gap[0] > 0.01
    loose = solve(problem, 8, settings=Settings(nodes=1, gap=float(first.gap[0]) * 1.01))
    assert loose.status == (Status.OPTIMAL,)
    tight = solve(problem, 8, settings=Settings(nodes=1, gap=float(first.gap[0]) * 0.5))
    assert tight.status == (Status.NODE_LIMIT,)
    assert_honest(tight, best)


def test_text_of_a_loose_gap_does_not_claim_too_much(easy):
    problem, _ = easy
    solution = solve(problem, 8, settings=Settings(gap=0.5))
    assert solution.gap[0] > 0.01
    assert "proved optimal" not in str(solution)
    assert "proved optimal" not in repr(solution)


def test_zero_gap_is_a_complete_search(easy):
    problem, best = easy
    solution = solve(problem, 8, settings=Settings(gap=0.0))
    assert solution.optimal
    assert np.array_equal(solution.coef, best.coef)


# Progress


def test_progress_is_shown(hard):
    seen = []
    solution = solve(hard, 9, settings=Settings(seconds=0.8, progress=seen.append))
    assert 4 <= len(seen) <= 16  # about ten times a second
    assert all(list(p.incumbent) == list(p.lower_bound) == ["y0'"] for p in seen)
    incumbents = [p.incumbent["y0'"] for p in seen]
    bounds = [p.lower_bound["y0'"] for p in seen]
    assert incumbents == sorted(incumbents, reverse=True)
    assert bounds == sorted(bounds)
    assert [p.nodes for p in seen] == sorted({p.nodes for p in seen})
    assert [p.seconds for p in seen] == sorted(p.seconds for p in seen)
    assert all(0 <= low <= high for low, high in zip(bounds, incumbents, strict=True))
    assert incumbents[-1] >= solution.objective[0] * (1 - 1e-12)
    assert bounds[-1] <= solution.lower_bound[0] * (1 + 1e-12)
    assert 0 < seen[-1].seconds < 1.5


def test_progress_of_several_equations():
    problem = noise(90, 80, targets=3)
    seen = []
    solve(problem, 9, settings=Settings(seconds=0.5, progress=seen.append))
    assert seen
    assert all(set(p.incumbent) == {"y0'", "y1'", "y2'"} for p in seen)
    for target in ("y0'", "y1'", "y2'"):
        values = [p.incumbent[target] for p in seen]
        assert values == sorted(values, reverse=True)


def test_progress_of_a_shared_budget_goes_forward():
    problem = noise(90, 80, targets=3)
    seen = []
    solve(problem, Total(24), settings=Settings(seconds=0.8, progress=seen.append))
    assert seen
    assert [p.nodes for p in seen] == sorted(p.nodes for p in seen)
    assert [p.seconds for p in seen] == sorted(p.seconds for p in seen)


@pytest.mark.parametrize(
    "call",
    [
        lambda p, s: solve(p, 9, settings=s),
        lambda p, s: solve_path(p, 9, settings=s),
        lambda p, s: solve_pool(p, 9, count=3, settings=s),
        lambda p, s: solve(p, Total(9), settings=s),
    ],
    ids=["solve", "path", "pool", "total"],
)
def test_exception_in_the_callback_is_passed_on(hard, call):
    calls = []

    def stop(progress):
        calls.append(progress)
        raise LookupError("enough")

    started = time.perf_counter()
    with pytest.raises(LookupError, match="enough"):
        call(hard, Settings(seconds=20.0, progress=stop))
    assert len(calls) == 1
    assert time.perf_counter() - started < 20.0  # the limit


def test_callback_may_solve():
    problem, inner = noise(90, 80), noise(30, 8)
    expected = solve(inner, 3).objective[0]
    seen = []
    settings = Settings(seconds=0.3, progress=lambda p: seen.append(solve(inner, 3).objective[0]))
    solve(problem, 9, settings=settings)
    assert seen
    assert set(seen) == {expected}


# Ctrl-C

INTERRUPTED = """
import json, signal, sys
import numpy as np
from exactsindy.problem import Problem
from exactsindy.solver import Total, solve, solve_path, solve_pool

rng = np.random.default_rng(0)
one = Problem.from_arrays(rng.standard_normal((90, 80)), rng.standard_normal(90))
three = Problem.from_arrays(rng.standard_normal((90, 80)), rng.standard_normal((90, 3)))
calls = {
    "solve": lambda: [solve(one, 10)],
    "equations": lambda: [solve(three, 10)],
    "path": lambda: list(solve_path(one, 10)),
    "pool": lambda: solve_pool(one, 10, count=3),
    "total": lambda: [solve(three, Total(30))],
}
signal.signal(signal.SIGINT, signal.default_int_handler)
print("ready", flush=True)
result = calls[sys.argv[1]]()
if sys.argv[1] == "pool":
    row = {"complete": result.complete["y0'"], "values": [m.objective for m in result[0]]}
else:
    row = {
        "status": [s.name for item in result for s in item.status],
        "objective": [float(v) for item in result for v in item.objective],
        "lower_bound": [float(v) for item in result for v in item.lower_bound],
        "sizes": [len(s) for item in result for s in item.support],
    }
print(json.dumps(row), flush=True)
"""


def interrupted(kind, wait=0.6, patience=120.0):
    """Run a search that would take hours in its own process, send SIGINT, return what it printed."""
    command = [sys.executable, "-c", INTERRUPTED, kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(wait)
            assert process.poll() is None
            os.kill(process.pid, signal.SIGINT)
            try:
                out, err = process.communicate(timeout=patience)
            except subprocess.TimeoutExpired:
                pytest.fail(f"still running {patience} s after SIGINT")
        finally:
            process.kill()
    assert process.returncode == 0, err
    return json.loads(out)


posix = pytest.mark.skipif(os.name != "posix", reason="sends SIGINT to a process")


@pytest.fixture
def ctrl_c():
    """Python's own handler: a shell starts what runs in the background with Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@posix
@pytest.mark.parametrize("kind", ["solve", "equations", "total"])
def test_interrupt_keeps_the_best_answer(kind):
    row = interrupted(kind)
    assert set(row["status"]) == {"INTERRUPTED"}
    for objective, bound in zip(row["objective"], row["lower_bound"], strict=True):
        assert math.isfinite(objective)
        assert 0 <= bound < objective
    if kind == "total":  # sizes that were not reached cannot be part of the answer
        assert 0 < sum(row["sizes"]) <= 30
    else:
        assert sum(row["sizes"]) == {"solve": 10, "equations": 30}[kind]


@posix
def test_interrupt_between_two_searches_of_one_call(monkeypatch, ctrl_c):
    """A shared budget is many short searches: Ctrl-C arrives in one or between two of them."""
    run, calls = native.run, []

    def interrupting(*args, **options):
        calls.append(args)
        if len(calls) == 5:
            signal.raise_signal(signal.SIGINT)
        return run(*args, **options)

    monkeypatch.setattr(native, "run", interrupting)
    solution = solve(noise(90, 20, targets=3), Total(12))
    assert len(calls) == 5 + 3  # heuristics for the sizes of each equation that were not reached
    assert solution.status == (Status.INTERRUPTED,)
    assert 0 <= solution.lower_bound[0] < solution.objective[0] < math.inf
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_shared_budget_under_a_limit_is_spent():
    """Sizes that were not reached take part with what the heuristics find, not with nothing."""
    problem = noise(90, 60, targets=3)
    limited = solve(problem, Total(24), settings=Settings(nodes=50))
    assert limited.status == (Status.NODE_LIMIT,)
    assert sum(map(len, limited.support)) == 24
    even = sum(solve(problem, 8, settings=Settings(nodes=1)).objective)
    assert limited.lower_bound[0] <= limited.objective[0] <= even


@posix
def test_second_interrupt_is_raised(monkeypatch, ctrl_c):
    def twice(*args, **options):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(native, "run", twice)
    with pytest.raises(KeyboardInterrupt):
        solve(noise(90, 20), 3)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@posix
def test_interrupt_keeps_what_a_path_has_proved():
    row = interrupted("path", wait=1.0)
    assert row["status"][:4] == ["OPTIMAL"] * 4
    assert row["status"][-1] == "INTERRUPTED"
    assert row["objective"] == sorted(row["objective"], reverse=True)
    assert all(low <= high for low, high in zip(row["lower_bound"], row["objective"], strict=True))


@posix
def test_interrupt_leaves_a_pool_incomplete():
    row = interrupted("pool")
    assert row["complete"] is False
    assert row["values"] == sorted(row["values"])


@posix
def test_other_signal_handlers_are_heard():
    class Alarm(Exception):
        pass

    def ring(number, frame):
        raise Alarm("time is up")

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        started = time.perf_counter()
        with pytest.raises(Alarm, match="time is up"):
            solve(noise(90, 80), 10, settings=Settings(seconds=20.0))
        assert time.perf_counter() - started < 20.0  # the limit
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_terms_of_progress_fit_as_well_as_it_says():
    rng = np.random.default_rng(0)
    problem = Problem.from_arrays(rng.normal(size=(80, 70)), rng.normal(size=(80, 2)))
    seen = []
    solve(problem, 9, settings=Settings(seconds=0.6, progress=seen.append))
    shown = [state for state in seen if all(len(terms) == 9 for terms in state.terms.values())]
    assert shown
    state = shown[-1]
    supports = [[problem.names.index(name) for name in state.terms[target]] for target in problem.target_names]
    again = refit(problem, supports).objective
    for value, target in zip(again, problem.target_names, strict=True):
        assert state.incumbent[target] == pytest.approx(value, rel=1e-9)

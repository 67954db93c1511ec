"""Searches among signals, forks, threads and other processes: nothing is lost and nothing hangs."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import exactsindy as es

RNG = np.random.default_rng(3)
THETA = RNG.normal(size=(80, 24))
TARGET = THETA[:, :4].sum(axis=1) + 2.0 * RNG.normal(size=80)
PROBLEM = es.Problem.from_arrays(THETA, TARGET)
LARGE = es.Problem.from_arrays(RNG.normal(size=(130, 120)), RNG.normal(size=130))  # no hope of a proof
unix = pytest.mark.skipif(not hasattr(os, "fork"), reason="signals and forks of Unix")


def bits(solution):
    return solution.support, solution.objective.tobytes(), solution.coef.tobytes(), solution.margin.tobytes()


def solved(seed):
    """Solve one of several problems (in another process, too)."""
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=(60, 20))
    solution = es.solve(es.Problem.from_arrays(theta, theta[:, 0] + rng.normal(size=60)), 3)
    return bits(solution)


@unix
def test_a_storm_of_interrupts_ends_in_one_answer():
    started_with = signal.signal(signal.SIGINT, signal.default_int_handler)  # (a job in the background ignores it)
    before = signal.getsignal(signal.SIGINT)
    stop = threading.Event()

    def storm():
        time.sleep(0.1)
        while not stop.is_set():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.002)

    attacker = threading.Thread(target=storm)
    answers, interrupts = [], 0
    attacker.start()
    try:
        try:
            begin = time.monotonic()
            answers.append(es.solve(LARGE, 12, settings=es.Settings(seconds=20)))
        except KeyboardInterrupt:  # one that came after the answer was ready
            interrupts += 1
        assert time.monotonic() - begin < 10
    except KeyboardInterrupt:
        interrupts += 1
    finally:
        while True:
            try:
                stop.set()
                attacker.join()
                break
            except KeyboardInterrupt:
                interrupts += 1
    after = signal.signal(signal.SIGINT, started_with)
    assert answers or interrupts
    for answer in answers:
        assert answer.status[0].name == "INTERRUPTED"
        assert answer.lower_bound[0] <= answer.objective[0]
    assert after is before
    assert es.solve(PROBLEM, 4).optimal


def test_threads_give_the_same_bits():
    expected = [solved(seed) for seed in range(6)]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(solved, range(6))) == expected


@unix
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_give_the_same_bits(method, tmp_path):
    es.solve(PROBLEM, 3, settings=es.Settings(threads=2))  # (its threads have ended when it returns)
    expected = [solved(seed) for seed in range(2)]
    code = (
        "import sys, multiprocessing as m; sys.path.insert(0, sys.argv[1]); import test_processes as t\n"
        "if __name__ == '__main__':\n"
        f"    with m.get_context({method!r}).Pool(2) as pool: print(repr(pool.map(t.solved, range(2))))\n"
    )
    if method == "fork" and sys.version_info < (3, 12):  # (later versions warn about forks of threaded processes)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(solved, range(2)) == expected
        return
    (tmp_path / "script.py").write_text(code)
    command = [sys.executable, str(tmp_path / "script.py"), os.path.dirname(__file__)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == repr(expected)


@pytest.mark.parametrize("prefer", ["threads", "processes"])
def test_joblib_gives_the_same_bits(prefer):
    joblib = pytest.importorskip("joblib")
    found = joblib.Parallel(n_jobs=2, prefer=prefer)(joblib.delayed(es.solve)(PROBLEM, k) for k in range(1, 5))
    assert list(map(bits, found)) == [bits(es.solve(PROBLEM, k)) for k in range(1, 5)]


@unix
def test_a_search_without_memory_ends_in_memory_error_or_a_sentence():
    code = """
import resource, sys, numpy as np, exactsindy as es
from exactsindy.errors import ExactSindyError
rng = np.random.default_rng(0)
problem = es.Problem.from_arrays(rng.normal(size=(1300, 1200)), rng.normal(size=1300))
es.solve(es.Problem.from_arrays(rng.normal(size=(9, 3)), rng.normal(size=9)), 1)  # what is imported on first use
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[1]), -1))
try:
    es.solve(problem, 2, settings=es.Settings(threads=1, seconds=5))
    print("solved")
except (MemoryError, ExactSindyError) as error:
    print(type(error).__name__)
"""
    if not os.path.exists("/proc/self/statm"):
        pytest.skip("how much memory is in use is not known here")
    for extra in (1 << 20, 30 << 20):
        done = subprocess.run([sys.executable, "-c", code, str(extra)], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() in ("solved", "MemoryError", "SolverError", "ProblemError", "DataError")

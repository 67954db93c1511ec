"""How much faster two threads are than one, beside what the machine has to give."""

from __future__ import annotations

import math
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from exactsindy.problem import Problem
from exactsindy.solver import Settings, Solution, Total, solve
from exactsindy_experiments.pages import geometric_mean

SHORT = 0.2  # seconds: below this a second thread cannot show
_FEW, _LONG = 3, 2.0  # runs of a search, the least counts; one where it takes longer (seconds)

EXPLAINED = """For searches above 0.2 s, *two threads* is the ratio of elapsed times of one and two threads,
*machine* the same for two processes side by side with one thread each, which share nothing but the machine (2 would be
two whole cores), and *busy* how much of the processor time of both threads the busier one took (50 % is even). All in
one run, the least of three where a search takes less than 2 s; with other work on the machine only *busy* says much."""
HEAD = ("two threads", "machine", "busy")


@dataclass(frozen=True)
class Search:
    """One search: a problem, how many terms, constraints."""

    problem: Problem
    k: int | Total
    constraints: tuple[Any, ...] = ()

    def __call__(self, threads: int, seconds: float) -> Solution:
        """Solve the problem within a time limit."""
        settings = Settings(seconds=seconds, threads=threads)
        return solve(self.problem, self.k, constraints=self.constraints, settings=settings)


@dataclass(frozen=True)
class TwoThreads:
    """What a second thread brings; ``same`` says that both gave the same coefficients to the bit."""

    ratio: float
    machine: float
    busy: float
    same: bool

    def cells(self) -> tuple[str, str, str]:
        """Return the columns of a table, see `HEAD`."""
        return f"{self.ratio:.2f}", f"{self.machine:.2f}", f"{100 * self.busy:.0f} %"


Compare = Callable[[Search, float], TwoThreads | None]


@contextmanager
def comparing() -> Iterator[Compare]:
    """Yield a function that compares one and two threads; None where a search is too short or meets its limit."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, context, _meet, (context.Barrier(2),)) as pool:
        yield partial(_compare, pool)


def summary(found: Sequence[TwoThreads]) -> str:
    """Return the means of several searches as a sentence or two."""
    if not found:
        return "No search was long enough for two threads."
    ratios, machine = [two.ratio for two in found], [two.machine for two in found]
    same = "the same coefficients to the bit" if all(two.same for two in found) else "NOT the same coefficients"
    return (
        f"Two threads: geometric mean {geometric_mean(ratios):.2f}, least {min(ratios):.2f}; two processes side by "
        f"side {geometric_mean(machine):.2f}, least {min(machine):.2f} ({len(found)} searches). "
        f"One and two threads gave {same}."
    )


def _compare(pool: ProcessPoolExecutor, search: Search, seconds: float) -> TwoThreads | None:
    alone, one, _ = _timed(search, 1, seconds)
    if not alone.optimal or one < SHORT:
        return None
    together, two, busy = _timed(search, 2, seconds)
    runs = 1 if one > _LONG else _FEW
    beside = [pool.submit(_beside, search, seconds, runs) for _ in range(2)]
    machine = 2 * one / max(future.result() for future in beside)
    return TwoThreads(one / two, machine, busy, bool((together.coef == alone.coef).all()))


def _timed(search: Search, threads: int, seconds: float) -> tuple[Solution, float, float]:
    """Return a solution, the least elapsed time, and the share of the busier thread in the processor time of both."""
    least, share = math.inf, math.nan
    for _ in range(_FEW):
        start, own, all_of_them = time.perf_counter(), time.thread_time(), time.process_time()
        solution = search(threads, seconds)
        elapsed = time.perf_counter() - start
        own, all_of_them = time.thread_time() - own, time.process_time() - all_of_them
        if elapsed < least:
            least, share = elapsed, max(own, all_of_them - own) / all_of_them
        if elapsed > _LONG:
            break
    return solution, least, share


_barrier: Any = None  # of a process of the pool: both begin at the same time


def _meet(barrier: Any) -> None:
    global _barrier
    _barrier = barrier


def _beside(search: Search, seconds: float, runs: int) -> float:
    least = math.inf
    for _ in range(runs):
        _barrier.wait()
        start = time.perf_counter()
        search(1, seconds)
        least = min(least, time.perf_counter() - start)
    return least

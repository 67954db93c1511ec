"""Hard regressions for the exact search: time, nodes and gap of each, on one thread and on two."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from exactsindy.solver import Settings, Solution, solve
from exactsindy_experiments.cliff_cases import CLIFFS, Cliff
from exactsindy_experiments.pages import geometric_mean, table

_HEAD = """# Hard regressions

`exactsindy bench cliffs` writes this page. Libraries whose columns depend on each other, with fewer rows than terms,
with heavy noise, or with many candidates; each with optimum and margin proved, or the gap that is left at the limit of
{seconds:g} s. *cpu* is processor time on one thread, *two threads* the ratio of elapsed times where one thread needs
more than 0.2 s (in the same run; with other work on the machine it says little). The instances are in
`exactsindy_experiments/cliff_cases.py`.
"""
_SHORT = 0.2  # seconds: below this a second thread cannot show


@dataclass(frozen=True)
class CliffRow:
    """One case: processor seconds and elapsed seconds on one thread, elapsed seconds on two."""

    group: str
    case: Cliff
    columns: int
    rank: int
    cpu: float
    elapsed: float
    shared: float
    nodes: int
    gap: float
    proved: bool
    same: bool


def measure(group: str, case: Cliff, seconds: float) -> CliffRow:
    """Solve a case on one thread and, if it takes long enough, on two."""
    problem = case.make()
    alone, cpu, elapsed = _timed(problem, case.k, Settings(seconds=seconds, threads=1))
    shared, same = np.nan, True
    if alone.optimal and elapsed > _SHORT and (os.cpu_count() or 1) > 1:
        together, _, shared = _timed(problem, case.k, Settings(seconds=seconds, threads=2))
        same = not together.optimal or bool((together.coef == alone.coef).all())
    factor = problem.blocks[0].theta_factor
    rank = int(np.linalg.matrix_rank(factor / np.linalg.norm(factor, axis=0)))
    return CliffRow(
        group,
        case,
        len(problem.terms),
        rank,
        cpu,
        elapsed,
        float(shared),
        int(alone.nodes[0]),
        float(alone.gap[0]),
        alone.optimal,
        same,
    )


def _timed(problem: object, k: int, settings: Settings) -> tuple[Solution, float, float]:
    cpu, start = time.process_time(), time.perf_counter()
    solution = solve(problem, k, settings=settings)  # type: ignore[arg-type]
    return solution, time.process_time() - cpu, time.perf_counter() - start


def cases(groups: Sequence[str]) -> Iterable[tuple[str, Cliff]]:
    """Yield the cases of some groups, or all."""
    for group, members in CLIFFS.items():
        if not groups or group in groups:
            yield from ((group, case) for case in members)


def page(rows: Sequence[CliffRow], seconds: float, machine: str) -> str:
    """Return the page."""
    lines = [
        (
            row.group,
            row.case.name,
            row.columns,
            row.rank,
            row.case.k,
            f"{row.cpu:.2f}",
            row.nodes,
            "proved" if row.proved else f"gap {row.gap:.2g}",
            "-" if np.isnan(row.shared) else f"{row.elapsed / row.shared:.2f}",
        )
        for row in rows
    ]
    head = ("kind", "problem", "columns", "rank", "k", "cpu s", "nodes", "result", "two threads")
    ratios = [row.elapsed / row.shared for row in rows if not np.isnan(row.shared)]
    two = f"Two threads: geometric mean {geometric_mean(ratios):.2f}, least {min(ratios):.2f}." if ratios else ""
    same = "the same coefficients to the bit" if all(row.same for row in rows) else "NOT the same coefficients"
    summary = f"Proved: {sum(row.proved for row in rows)} of {len(rows)}. {two} One and two threads gave {same}."
    return f"{_HEAD.format(seconds=seconds)}\n{machine}\n\n{table(head, lines, 'llrrrrrlr')}\n{summary}\n"

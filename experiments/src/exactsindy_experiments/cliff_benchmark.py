"""Hard regressions for the exact search: time, nodes and gap of each, on one thread and on two."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from exactsindy_experiments.cliff_cases import CLIFFS, Cliff
from exactsindy_experiments.pages import table
from exactsindy_experiments.two_threads import EXPLAINED, HEAD, SHORT, Compare, Search, TwoThreads, summary

_HEAD = """# Hard regressions

`exactsindy bench cliffs` writes this page. Libraries whose columns depend on each other, with fewer rows than terms,
with heavy noise, or with many candidates; each with optimum and margin proved, or the gap that is left at the limit of
{seconds:g} s. *cpu* is processor time on one thread. The instances are in `exactsindy_experiments/cliff_cases.py`.

{explained}
"""


@dataclass(frozen=True)
class CliffRow:
    """One case on one thread, in processor seconds, and what a second one brings."""

    group: str
    case: Cliff
    columns: int
    rank: int
    cpu: float
    nodes: int
    gap: float
    proved: bool
    two: TwoThreads | None  # None: too short, or not proved


def measure(group: str, case: Cliff, seconds: float, compare: Compare) -> CliffRow:
    """Solve a case on one thread and, if it takes long enough, on two."""
    problem = case.make()
    search = Search(problem, case.k)
    start = time.process_time()
    alone = search(1, seconds)
    cpu = time.process_time() - start
    two = compare(search, seconds) if alone.optimal and cpu > SHORT else None
    factor = problem.blocks[0].theta_factor
    rank = int(np.linalg.matrix_rank(factor / np.linalg.norm(factor, axis=0)))
    return CliffRow(
        group,
        case,
        len(problem.terms),
        rank,
        cpu,
        int(alone.nodes[0]),
        float(alone.gap[0]),
        alone.optimal,
        two,
    )


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
            *(row.two.cells() if row.two else "-" * len(HEAD)),
        )
        for row in rows
    ]
    head = ("kind", "problem", "columns", "rank", "k", "cpu s", "nodes", "result", *HEAD)
    two = summary([row.two for row in rows if row.two])
    proved = f"Proved: {sum(row.proved for row in rows)} of {len(rows)}. {two}"
    top = _HEAD.format(seconds=seconds, explained=EXPLAINED)
    return f"{top}\n{machine}\n\n{table(head, lines, 'llrrrrrlrrr')}\n{proved}\n"

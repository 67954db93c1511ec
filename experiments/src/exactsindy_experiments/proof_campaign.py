"""Proof files of the search given to the independent checker: hostile problems, and problems of the paper's size."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from pathlib import Path

import numpy as np

from exactsindy.certificate import check_proof
from exactsindy.errors import ProblemError
from exactsindy.problem import Problem
from exactsindy.solver import Total, solve, solve_path, solve_pool
from exactsindy_check import Report
from exactsindy_experiments.instances import Instance, prepare
from exactsindy_experiments.torture_families import FAMILIES
from exactsindy_experiments.torture_instances import Task, draw

#: Paper-size problems: name, system with degree and seconds of data, number of terms.
LARGE = (
    ("Lorenz, 56 terms, 8 s", Instance("lorenz", degree=5, duration=8.0), 5),
    ("Lorenz, 56 terms, 0.5 s", Instance("lorenz", degree=5, duration=0.5), 5),
    ("Lorenz, 56 terms, 8 s", Instance("lorenz", degree=5, duration=8.0), 8),
    ("MHD, 84 terms, 2 s", Instance("mhd", degree=3, duration=2.0), 5),
)


@dataclass(frozen=True)
class ProofRow:
    """One proof: bytes, leaves, seconds of the solve without and with it, and of the check."""

    name: str
    k: int
    equations: int
    size: int
    leaves: int
    plain: float
    written: float
    checked: float
    outcome: str


def random_proofs(instances: int, seed: int, folder: Path) -> Iterator[tuple[Task, Report]]:
    """Yield hostile problems with what the checker says of their proofs."""
    names = (Task(family, seed, index) for index in count() for family in FAMILIES)
    for task in islice(names, instances):
        try:
            one = draw(task)
        except ProblemError:
            continue  # its numbers are refused before a search
        file = folder / "one.proof"
        verb, settings, ridge = one.verb, one.settings, one.ridge
        if verb == "total":
            budget = Total(one.size, weights=one.weights)
            solve(one.problem, budget, ridge=ridge * np.array(one.weights)[:, None], settings=settings, proof=file)
        elif verb == "path":
            solve_path(one.problem, one.size, ridge=ridge, settings=settings, proof=file)
        elif verb == "count":
            solve_pool(one.problem, one.size, count=one.count, ridge=ridge, settings=settings, proof=file)
        elif verb == "within":
            solve_pool(one.problem, one.size, within=one.within, ridge=ridge, settings=settings, proof=file)
        else:
            solve(one.problem, one.size, ridge=ridge, settings=settings, proof=file)
        yield task, check_proof(one.problem, file, jobs=0)


def large_proofs(folder: Path) -> Iterator[ProofRow]:
    """Yield what proofs of the paper's problems take."""
    for name, instance, k in LARGE:
        problem: Problem = prepare(instance).problem
        file = folder / "large.proof"
        plain = min(_seconds(partial(solve, problem, k)) for _ in range(3))
        written = min(_seconds(partial(solve, problem, k, proof=file)) for _ in range(3))
        begin = time.perf_counter()
        report = check_proof(problem, file)
        leaves = int(np.sum([section.leaves for section in report.sections]))
        seconds = time.perf_counter() - begin
        equations = len(problem.target_names)
        yield ProofRow(name, k, equations, file.stat().st_size, leaves, plain, written, seconds, report.outcome)


def _seconds(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin

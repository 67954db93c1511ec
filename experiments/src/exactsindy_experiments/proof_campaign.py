"""Proof files of the search given to the independent checker: hostile problems, and problems of the paper's size."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
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
from exactsindy_experiments.reaction_diffusion import weak_problem
from exactsindy_experiments.torture_families import FAMILIES
from exactsindy_experiments.torture_instances import Task, draw

_REPEATS = 3
#: How many times as long a solve may take with its proof.
MOST_SLOWER = 1.25
_PARTS = ("user", "system", "children_user", "children_system")  # of CPU time


def _generated(system: str, degree: int, duration: float) -> Callable[[], Problem]:
    return lambda: prepare(Instance(system, degree=degree, duration=duration)).problem


#: Paper-size problems: name, how it is made, number of terms.
LARGE: tuple[tuple[str, Callable[[], Problem], int], ...] = (
    ("Hopf, 10 terms, 2 s", _generated("hopf", 3, 2.0), 5),
    *((f"Lorenz, 56 terms, {t:g} s", _generated("lorenz", 5, t), 5) for t in (0.5, 2.0, 8.0, 32.0)),
    ("Lorenz, 56 terms, 8 s", _generated("lorenz", 5, 8.0), 8),
    *((f"MHD, 84 terms, {t:g} s", _generated("mhd", 3, t), 5) for t in (0.5, 2.0, 8.0, 32.0)),
    ("MHD, 84 terms, 2 s", _generated("mhd", 3, 2.0), 6),
    *(
        (f"reaction-diffusion, 109 terms, {100 * noise:g} % noise", partial(weak_problem, noise), 7)
        for noise in (0.025, 0.1, 0.3)
    ),
)


@dataclass(frozen=True)
class ProofRow:
    """One proof: bytes, leaves; CPU seconds of the solve without and with it, and of the check by all processes."""

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


def large_proofs(folder: Path, say: Callable[[str], None] = lambda text: None) -> Iterator[ProofRow]:
    """Yield what proofs of the paper's problems take."""
    for name, made, k in LARGE:
        problem, file = made(), folder / "large.proof"
        times = [(_cpu(partial(solve, problem, k)), _cpu(partial(solve, problem, k, proof=file)))]
        while len(times) < _REPEATS or (len(times) < 4 * _REPEATS and sum(times[0]) < 1.0):
            times.append((_cpu(partial(solve, problem, k)), _cpu(partial(solve, problem, k, proof=file))))
        plain, written = (min(column) for column in zip(*times, strict=True))
        before = os.times()
        report = check_proof(problem, file)
        after = os.times()
        seconds = sum(getattr(after, kind) - getattr(before, kind) for kind in _PARTS)
        leaves = sum(section.leaves for section in report.sections)
        equations = len(problem.target_names)
        say(f"{name}, k = {k}: {leaves} leaves, checked in {seconds:.1f} s of CPU")
        yield ProofRow(name, k, equations, file.stat().st_size, leaves, plain, written, seconds, report.outcome)


def _cpu(call: Callable[[], object]) -> float:
    """Return CPU seconds of all threads: the machine may have other work."""
    begin = time.process_time()
    call()
    return time.process_time() - begin


def slower(rows: Sequence[ProofRow]) -> str:
    """Return how much longer solves take with their proofs: all together, and those that take more than a quarter.

    Examples
    --------
    >>> from dataclasses import replace
    >>> row = ProofRow("a", 2, 1, 900, 7, 0.001, 0.0018, 0.1, "proved")
    >>> print(slower([row, replace(row, plain=0.9, written=0.95)]))
    All solves together took 1.06 times as long with their proofs.
    More than 1.25 times as long: 1 of 2, which take up to 1.0 ms alone and up to 0.8 ms more with a proof.
    """
    plain, written = sum(r.plain for r in rows), sum(r.written for r in rows)
    lines = [f"All solves together took {written / plain:.2f} times as long with their proofs."]
    slow = [r for r in rows if r.written > MOST_SLOWER * r.plain]
    text = f"More than {MOST_SLOWER} times as long: {len(slow)} of {len(rows)}"
    if slow:
        longest, added = max(r.plain for r in slow), max(r.written - r.plain for r in slow)
        text += f", which take up to {1e3 * longest:.1f} ms alone and up to {1e3 * added:.1f} ms more with a proof"
    return "\n".join([*lines, f"{text}."])

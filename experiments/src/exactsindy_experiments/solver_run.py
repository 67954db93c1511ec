"""Runs a preset row by row: resumable, with progress, safe to interrupt."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from exactsindy_experiments import pages
from exactsindy_experiments.peers import PeerPool
from exactsindy_experiments.results import Table
from exactsindy_experiments.solver_benchmark import Solver, measure, measure_path, native
from exactsindy_experiments.solver_presets import Preset
from exactsindy_experiments.solver_rows import OURS, REFUSALS, Case, Limits, PathRow, Row


def solver_table(folder: Path) -> Table[Row]:
    """Open the table of the solver benchmark."""
    return Table(folder / "solver.csv", Row)


def path_table(folder: Path) -> Table[PathRow]:
    """Open the table of the paths."""
    return Table(folder / "path.csv", PathRow)


def run(
    preset: Preset,
    folder: Path,
    *,
    foreign_python: Path | None = None,
    say: Callable[[str], None] = print,
    reference: Solver = native,
) -> None:
    """Measure what ``folder`` does not hold yet.

    Parameters
    ----------
    preset
        The cases and limits.
    folder
        Where ``solver.csv`` and ``path.csv`` are; each row is on disk as soon as it is measured.
    foreign_python
        Python of the environment of OKRidge and l0bnb.
    say
        Receives one line per measured row.
    reference
        Our solver; another one may stand in.
    """
    rows, clock = solver_table(folder), _Clock()
    todo = [case for case in preset.cases if not _measured(rows.find(case), case, preset.limits)]
    say(f"{preset.name}: {len(preset.cases) - len(todo)} rows present, {len(todo)} to measure.")
    with PeerPool(foreign_python) as peers:
        for index, case in enumerate(todo):
            proved = rows.find(replace(case, solver=OURS))
            started = time.perf_counter()
            row = measure(case, limits=preset.limits, proved=proved, peers=peers, reference=reference)
            clock.add(case.solver, time.perf_counter() - started)
            rows.append(row)
            left = clock.left([later.solver for later in todo[index + 1 :]])
            say(f"[{index + 1}/{len(todo)}, {pages.minutes(left)} left] {describe(row)}")


def run_paths(preset: Preset, folder: Path, *, say: Callable[[str], None] = print) -> None:
    """Measure the paths that ``folder`` does not hold yet."""
    rows = path_table(folder)
    todo = [task for task in preset.paths if rows.find(task) is None]
    for index, task in enumerate(todo):
        row = measure_path(task, limits=preset.limits)
        rows.append(row)
        say(
            f"[path {index + 1}/{len(todo)}] {task.library}, {task.duration:.3g} s, {task.equation}, "
            f"k <= {task.size}: {row.path_seconds:.3g} s, {row.ratio:.2f} x its costliest size"
        )


def describe(row: Row) -> str:
    """Return one line that tells what was measured."""
    task = row.task
    where = f"{task.library} (D={row.n_terms}), {task.duration:.3g} s, {task.equation}"
    what = f"{where}, k={task.size}, ridge {task.ridge:g}, {row.solver}: {row.status}"
    if row.status in REFUSALS:
        return f"{what} ({row.note})"
    verdict = {True: "", False: ", NOT optimal", None: ", not compared"}[row.truly_optimal]
    ratio = "" if row.solver == OURS or math.isnan(row.ratio) else f", {row.ratio:.3g} x ours"
    return f"{what} in {row.seconds:.3g} s{ratio}{verdict}"


def _measured(row: Row | None, case: Case, limits: Limits) -> bool:
    """Return True if a row is there, with the same limit, and not for want of an installed peer."""
    return row is not None and row.status != "not installed" and row.time_limit == limits.of(case.solver)


class _Clock:
    """Mean time per row of each solver, to say how long the rest will take."""

    def __init__(self) -> None:
        self._spent: dict[str, list[float]] = {}

    def add(self, solver: str, seconds: float) -> None:
        self._spent.setdefault(solver, []).append(seconds)

    def left(self, solvers: list[str]) -> float:
        every = [seconds for spent in self._spent.values() for seconds in spent]
        mean = sum(every) / len(every)
        means = {solver: sum(spent) / len(spent) for solver, spent in self._spent.items()}
        return sum(means.get(solver, mean) for solver in solvers)

"""Runs what a store does not hold yet."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path

from exactsindy_experiments import cluster
from exactsindy_experiments import workers as processes
from exactsindy_experiments.pages import minutes
from exactsindy_experiments.paper import evaluate
from exactsindy_experiments.paper.records import Case, Outcome, Result
from exactsindy_experiments.paper.studies import STUDIES, Study, find_study
from exactsindy_experiments.results import Table, read_rows

#: Where results are kept unless said otherwise.
DEFAULT_STORE = Path("paper_results.csv")
#: The paper has 50 trials of every cell.
PUBLISHED_TRIALS = 50
# A small part of each experiment: values along the axis, algorithms, systems.
_QUICK: dict[str, tuple[tuple[float, ...], tuple[str, ...] | None, tuple[str, ...]]] = {
    "differential": ((1.0, 4.0), ("exact", "ssr"), ("hopf", "lorenz")),
    "differential-small": ((1.0, 4.0), ("exact", "ssr"), ("hopf", "lorenz")),
    "weak": ((0.01, 0.12), ("exact", "ssr"), ("van_der_pol", "lotka_volterra")),
    "pde": ((0.5,), ("exact", "ssr"), ("kuramoto_sivashinsky",)),
    "constraint": ((10.0,), ("exact", "exact-constrained"), ("duffing",)),
    "runtime": ((0.5, 10.0), ("exact", "stlsq", "ssr"), ("hopf", "lorenz")),
}


@dataclass(frozen=True)
class Progress:
    """Where a run is: rows done now, rows to do, seconds left (nan before the first), the last row."""

    done: int
    total: int
    seconds_left: float
    case: Case
    outcome: Outcome

    def __str__(self) -> str:
        case, result = self.case, self.outcome
        duration = f" {case.duration:.3g} s," if case.duration else ""  # fields have the published one
        where = f"{case.system}{duration} noise {case.noise:.3g}, trial {case.trial}"
        text = result.error or _verdict(result)
        return (
            f"[{self.done}/{self.total}, {minutes(self.seconds_left)} left] {case.experiment}: {where}, "
            f"{case.protocol} {case.algorithm}: {text}"
        )


def _verdict(result: Outcome) -> str:
    if result.tpr is None:
        return f"{result.seconds:.3g} s"
    return f"{'exact' if result.exact else 'not exact'}, TPR {result.tpr:.2f}"


def experiments_list() -> list[Study]:
    """Return the experiments.

    Examples
    --------
    >>> [study.name for study in experiments_list()]
    ['differential', 'differential-small', 'weak', 'pde', 'constraint', 'runtime']
    """
    return list(STUDIES.values())


def run(
    experiment: str,
    *,
    systems: Sequence[str] | None = None,
    trials: int | Sequence[int] = PUBLISHED_TRIALS,
    algorithms: Sequence[str] | None = None,
    protocols: Sequence[str] | None = None,
    values: Sequence[float] | None = None,
    fixed: Sequence[float] | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    store: str | os.PathLike[str] = DEFAULT_STORE,
    quick: bool = False,
    retry: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> int:
    """Run an experiment and keep its rows; what the store has is not run again.

    Parameters
    ----------
    experiment
        Name of one of `experiments_list`.
    systems, algorithms, protocols
        Some of the experiment's; all by default.
    trials
        How many of the published trials, or which.
    values
        Some of the durations or noise levels; the nearest published ones are taken.
    fixed
        Some of the noise levels of the constraint experiment, which varies both.
    workers
        Processes of one thread each; one per core by default, 0 for this process. Timings are run by one.
    scheduler
        Address of a Dask scheduler whose workers take the place of those processes.
    store
        CSV file.
    quick
        A small part, for a look at everything within minutes.
    retry
        Whether cases that failed before are run again.
    progress
        Called after each row.

    Returns
    -------
    int
        Number of rows added.

    Raises
    ------
    DataError
        If a name is unknown or the store is not one.
    """
    study = find_study(experiment)
    if quick:
        few, some, names = _QUICK[study.name]
        values, algorithms, systems = values or few, algorithms or some, systems or names
        fixed = fixed or study.fixed[:1]
        trials = trials if not isinstance(trials, int) or trials != PUBLISHED_TRIALS else 1
    numbers = range(1, trials + 1) if isinstance(trials, int) else trials
    cases = study.cases(
        trials=list(numbers), systems=systems, algorithms=algorithms, protocols=protocols, values=values, fixed=fixed
    )
    count = _cores() if workers is None else workers
    if study.name == "runtime":
        count = min(count, 1)  # timings beside one another would time the neighbour too
    rows = Table(store, Result)
    present = {case for case, outcome in rows if not (retry and outcome.error)}
    todo = [case for case in cases if case not in present]
    tracker = _Tracker(len(todo), rows, progress)
    if scheduler is not None:
        cluster.run_bundles_on(scheduler, _bundles(todo), evaluate.run_case, tracker.take)
    else:
        run_bundles(_bundles(todo), count, tracker.take)
    return tracker.done


def take_rows(store: str | os.PathLike[str], path: str | os.PathLike[str]) -> int:
    """Add the rows of an earlier report to a store, all or none, but for cases that have a row; return how many."""
    table = Table(store, Result)
    rows = [row for row in read_rows(path, Result) if table.find(row.case) is None]
    if rows:
        table.append(*rows)
    return len(rows)


def run_bundles(bundles: Sequence[Sequence[Case]], workers: int, take: Callable[[Case, Outcome], None]) -> None:
    """Run bundles of cases by so many processes, 0 for this one; ``take`` receives each outcome when it is there."""
    if workers == 0:
        for bundle in bundles:
            for case in bundle:
                take(case, evaluate.run_case(case))
        return
    command = processes.command(evaluate.__name__)
    processes.run_bundles(bundles, workers, ask_worker, take, command=command)


def ask_worker(worker: processes.Worker, case: Case) -> Outcome:
    """Return the outcome of a case; if the process ends over it, that is the outcome."""
    try:
        return Outcome(**worker.ask(asdict(case)))
    except ConnectionError as error:
        return Outcome(error=f"{error} during this case".replace("the process", "the worker process"))


def _cores() -> int:
    # Not every system tells which cores this process may use.
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def _bundles(cases: Sequence[Case]) -> list[list[Case]]:
    """Return the cases of one trial of one system together: they share simulations and test sets."""
    return [list(group) for _, group in groupby(cases, key=lambda case: (case.system, case.degree, case.trial))]


class _Tracker:
    def __init__(self, total: int, rows: Table[Result], progress: Callable[[Progress], None] | None) -> None:
        self.done, self.total, self.rows, self.progress = 0, total, rows, progress
        self.begin = time.monotonic()

    def take(self, case: Case, outcome: Outcome) -> None:
        self.rows.append(Result(case, outcome))
        self.done += 1
        if self.progress is not None:
            left = (time.monotonic() - self.begin) / self.done * (self.total - self.done)
            self.progress(Progress(self.done, self.total, left, case, outcome))

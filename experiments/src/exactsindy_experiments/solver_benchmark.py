"""The solver benchmark: one case (equation and solver) or one path in, one measured row out."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from exactsindy.errors import SolverError
from exactsindy.solver import Settings, solve, solve_path
from exactsindy_experiments.instances import Equation, equation, prepare
from exactsindy_experiments.peers import PeerPool
from exactsindy_experiments.solver_rows import (
    AGREEMENT,
    OURS,
    REFUSALS,
    Answer,
    Case,
    Limits,
    PathRow,
    Row,
    Task,
)

Solver = Callable[[Equation, float], Answer]


def native(equation: Equation, seconds: float) -> Answer:
    """Solve with this package's own search."""
    settings = Settings(seconds=seconds)
    started = time.perf_counter()
    solution = solve(equation.problem, equation.size, ridge=equation.ridge, settings=settings)
    wall = time.perf_counter() - started
    return Answer(
        support=tuple(int(j) for j in solution.support[0]),
        status=solution.status[0].name.lower().replace("_", " "),
        seconds=float(np.sum(solution.seconds)),
        wall_seconds=wall,
        lower_bound=float(solution.lower_bound[0]),
        nodes=int(solution.nodes[0]),
    )


def measure(
    case: Case,
    *,
    limits: Limits | None = None,
    proved: Row | None = None,
    peers: PeerPool | None = None,
    reference: Solver = native,
) -> Row:
    """Measure one case.

    Parameters
    ----------
    case
        What to measure.
    limits
        Time limit and repeats.
    proved
        Our row for the same equation, size and ridge, with which a peer is compared.
    peers
        Where peers run; needed for every solver but our own.
    reference
        Our solver; another one may stand in.

    Raises
    ------
    KeyboardInterrupt
        If our solver reports that it was interrupted: no row is made of half a measurement.
    """
    limits = Limits() if limits is None else limits
    limit = limits.of(case.solver)
    prepared = prepare(case.task.instance)
    subject = _subject(case.task)
    if case.solver == OURS:
        answer, repeats = _repeat(lambda: reference(subject, limit), limits)
        if answer.status == "interrupted":
            raise KeyboardInterrupt
    else:
        answer, repeats = _repeat(_asking(case.solver, subject, limits, peers, reference), limits)
    refused = answer.status in REFUSALS
    objective = math.nan if refused else subject.objective(answer.support)
    row = Row(
        case=case,
        n_terms=len(subject.z),
        n_samples=prepared.problem.n_samples,
        status=answer.status,
        # A peer that looks at the clock late is not charged for that.
        seconds=min(answer.seconds, limit) if answer.status == "time limit" else answer.seconds,
        wall_seconds=answer.wall_seconds,
        repeats=repeats,
        time_limit=limit,
        objective=objective,
        lower_bound=answer.lower_bound,
        gap=(objective - answer.lower_bound) / objective if objective else math.nan,
        nodes=answer.nodes,
        truly_optimal=None,
        excess=math.nan,
        ratio=math.nan,
        call_ratio=math.nan,
        library_seconds=prepared.library_seconds,
        compress_seconds=prepared.compress_seconds,
        support="; ".join(prepared.problem.names[j] for j in answer.support),
        note=answer.note,
    )
    return row if refused else _compared(row, row if case.solver == OURS else proved)


def measure_path(task: Task, *, limits: Limits | None = None, single: Solver = native) -> PathRow:
    """Measure the path 0..size of a task and its single sizes, each the least of some repeats if it is fast."""
    limits = Limits() if limits is None else limits
    subject = _subject(task)

    def whole() -> Answer:
        started = time.perf_counter()
        path = solve_path(subject.problem, task.size, ridge=task.ridge, settings=Settings(seconds=limits.seconds))
        spent = time.perf_counter() - started
        proved = all(path[k].optimal for k in range(task.size + 1))
        return Answer((), "optimal" if proved else "time limit", spent, spent, math.nan, -1)

    path, _ = _repeat(whole, limits)
    alone = [
        _repeat(lambda size=size: single(replace(subject, size=size), limits.seconds), limits)[0]  # type: ignore[misc]
        for size in range(1, task.size + 1)
    ]
    times = [answer.wall_seconds for answer in alone]
    costliest = max(times)
    return PathRow(
        task=task,
        n_terms=len(subject.z),
        path_seconds=path.wall_seconds,
        sum_seconds=sum(times),
        costliest_seconds=costliest,
        costliest_size=1 + times.index(costliest),
        ratio=path.wall_seconds / costliest,
        proved=all(answer.status == "optimal" for answer in (path, *alone)),
    )


def _subject(task: Task) -> Equation:
    return equation(prepare(task.instance).problem, task.equation, task.size, task.ridge)


def _compared(row: Row, proved: Row | None) -> Row:
    """Compare a row with the proved optimum."""
    if proved is None or math.isnan(proved.objective):
        return row
    row = replace(row, ratio=row.seconds / proved.seconds, call_ratio=row.seconds / proved.wall_seconds)
    if len(row.support.split("; ")) > row.task.size:  # an answer to another question
        return replace(row, truly_optimal=False)
    excess = 0.0 if row.support == proved.support else row.objective / proved.objective - 1
    known = proved.status == "optimal"
    return replace(row, excess=excess, truly_optimal=excess <= AGREEMENT if known else None)


def _repeat(run: Callable[[], Answer], limits: Limits) -> tuple[Answer, int]:
    """Run up to ``limits.repeats`` times while it is fast; keep the least times."""
    best, count = run(), 1
    while count < limits.repeats and best.seconds < limits.repeat_below and best.status not in REFUSALS:
        again, count = run(), count + 1
        best = replace(
            best,
            seconds=min(best.seconds, again.seconds),
            wall_seconds=min(best.wall_seconds, again.wall_seconds),
        )
    return best, count


def _asking(
    solver: str, subject: Equation, limits: Limits, peers: PeerPool | None, reference: Solver
) -> Callable[[], Answer]:
    if peers is None:
        raise SolverError(f"measure(peers=None): the solver {solver!r} runs in a PeerPool; pass one.")
    seconds = limits.of(solver)
    penalty, largest = (0.0, 0.0) if solver != "l0bnb" else penalty_of_size(subject, seconds, reference)

    def ask() -> Answer:
        reply = peers.ask(solver, subject, seconds, penalty=penalty, largest=largest)
        support = tuple(sorted(reply["support"]))
        lower, nodes, note = reply["lower_bound"], reply["nodes"], reply["note"]
        return Answer(support, reply["status"], reply["seconds"], math.nan, lower, nodes, note)

    return ask


def penalty_of_size(subject: Equation, seconds: float, reference: Solver) -> tuple[float, float]:
    """Return an l0 penalty whose optimum has the wanted size, and a bound on the coefficients.

    l0bnb knows no size, only a penalty per term; it gets the middle of the interval that leads to this size,
    taken from the proved optima of the neighbouring sizes (0 if the interval is empty), and 1.5 times the
    largest coefficient of the optimum: more help than any user could give it.
    """
    answers = [reference(replace(subject, size=size), seconds) for size in range(subject.size + 2)]
    values = [subject.objective(answer.support) for answer in answers]
    here = values[subject.size]
    high = min((values[s] - here) / (subject.size - s) for s in range(subject.size))
    low = max(here - values[-1], 1e-12 * here)
    largest = _largest_coefficient(subject, answers[subject.size].support)
    return (math.sqrt(low * high) if high > low else 0.0), 1.5 * largest


def _largest_coefficient(subject: Equation, support: tuple[int, ...]) -> float:
    columns = np.vstack([subject.theta_factor[:, support], math.sqrt(subject.ridge) * np.eye(len(support))])
    target = np.concatenate([subject.z, np.zeros(len(support))])
    return float(np.abs(np.linalg.lstsq(columns, target)[0]).max(initial=0.0))

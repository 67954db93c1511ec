"""Searches of several equations side by side: by the threads of this process, or as tasks of a Dask cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from exactsindy import _cluster
from exactsindy.problem import Problem
from exactsindy.solver import interrupt
from exactsindy.solver.backends import native
from exactsindy.solver.equations import Equation
from exactsindy.solver.outcome import Outcome
from exactsindy.solver.settings import BRIEF, Deadline, Progress, Settings

# Columns of all equations together from which searches are sent to workers: with fewer they take less time than the way
# there. Not tuned on data.
_WORTH = 150
# Share of its time that a task searches: what comes back after the time is over would be lost.
_SEARCHING = 0.9


def run(
    equations: Sequence[Equation],
    sizes: Sequence[int],
    starts: Sequence[Sequence[tuple[int, ...]]],
    settings: Settings,
    *,
    path: bool = False,
) -> list[list[Outcome]]:
    """Return what `native.run` returns; if the caller has opened a Dask client, each equation is a task of its own.

    A task gets the triangle of its equation and nothing of the data. What the workers have not found when the time is
    over or Ctrl-C is pressed gets a brief search here, so that there is an answer with a true bound.
    """
    cluster = _cluster.client()
    if cluster is None or not _spreads(len(equations), sum(len(e.names) for e in equations), settings):
        return native.run(equations, sizes, starts, settings, path=path)
    deadline, rounds = Deadline(settings), -(-len(equations) // _cluster.threads(cluster))
    limits = replace(deadline.settings(rounds), progress=None, threads=settings.threads or 1)
    if limits.seconds is not None:
        limits = replace(limits, seconds=_SEARCHING * limits.seconds)
    tasks = [_Task(e, k, tuple(s), limits, path) for e, k, s in zip(equations, sizes, starts, strict=True)]
    found: dict[int, list[Outcome]] = {}
    for i, outcomes in _cluster.spread(cluster, _search, tasks, lambda: interrupt.pressed() or deadline.expired):
        found[i] = outcomes
        deadline.nodes += sum(outcome.nodes for outcome in outcomes)
        _tell(equations, found, deadline)
    rest = [i for i in range(len(equations)) if i not in found]
    if rest:
        brief = deadline.settings(least=BRIEF)
        open_sizes, open_starts = [sizes[i] for i in rest], [starts[i] for i in rest]
        late = native.run([equations[i] for i in rest], open_sizes, open_starts, brief, path=path)
        found |= dict(zip(rest, late, strict=True))
    return [found[i] for i in range(len(equations))]


def on_cluster(problems: Sequence[Problem], settings: Settings) -> bool:
    """Return True if the searches of all equations of these problems, in one call, are tasks of a Dask cluster."""
    columns = sum(len(problem.terms) * len(problem.target_names) for problem in problems)
    count = sum(len(problem.target_names) for problem in problems)
    return _spreads(count, columns, settings) and _cluster.client() is not None


def _spreads(count: int, columns: int, settings: Settings) -> bool:
    """Return True if searches are worth the way to a worker; nodes are counted by all together, so in one process."""
    return count > 1 and columns >= _WORTH and settings.nodes is None


@dataclass(frozen=True, eq=False)
class _Task:
    """One search, as it is sent to a worker."""

    equation: Equation
    size: int
    starts: tuple[tuple[int, ...], ...]
    settings: Settings
    path: bool


def _search(task: _Task) -> list[Outcome]:
    (outcomes,) = native.run([task.equation], [task.size], [task.starts], task.settings, path=task.path)
    return outcomes


def _tell(equations: Sequence[Equation], found: dict[int, list[Outcome]], deadline: Deadline) -> None:
    """Report what has been found so far, equation by equation."""
    report = deadline.limits.progress
    if report is None:
        return
    last = {equations[i].target: (equations[i], outcomes[-1]) for i, outcomes in found.items()}
    best = {target: outcome.objective for target, (_, outcome) in last.items()}
    bounds = {target: outcome.bound for target, (_, outcome) in last.items()}
    terms = {
        target: tuple(equation.names[j] for j in outcome.answers[0].support) if outcome.answers else ()
        for target, (equation, outcome) in last.items()
    }
    report(Progress(best, bounds, deadline.nodes, deadline.elapsed, terms))

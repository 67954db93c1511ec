"""The native search: requests in, outcomes per equation and size out."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence

import exactsindy._native as _native
from exactsindy.solver import interrupt
from exactsindy.solver.equations import Equation
from exactsindy.solver.outcome import Answer, Outcome
from exactsindy.solver.settings import Progress, Settings, Status


def run(
    equations: Sequence[Equation],
    sizes: Sequence[int],
    starts: Sequence[Sequence[tuple[int, ...]]],
    settings: Settings,
    *,
    path: bool = False,
    pool: bool = False,
    keep: int = 2,
    within: float = -1.0,
    capacity: int = 1_000_000,
) -> list[list[Outcome]]:
    """Solve the equations; one list of outcomes each: one entry, or one per size 0..k for a path."""
    requests = [
        (e.factor, e.z, e.rest, e.ridge, size, [list(s) for s in start])
        for e, size, start in zip(equations, sizes, starts, strict=True)
    ]
    results = _native.solve(
        requests,
        path=path,
        pool=pool,
        keep=keep,
        within=within,
        capacity=capacity,
        gap=settings.gap if settings.gap > Settings.gap else 0.0,
        seconds=settings.seconds or 0.0,
        nodes=settings.nodes or 0,
        threads=settings.threads or available_cores(),
        progress=_reporter(equations, settings),
        stopped=interrupt.pressed,
    )
    return [[outcome(raw) for raw in sizes_of] for sizes_of in results]


def available_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def refit(equation: Equation, support: Sequence[int]) -> Outcome:
    """Return the canonical fit of one support; nothing is said about others."""
    equation.size(len(support))
    fit, _ = _native.refit(equation.factor, equation.z, equation.rest, equation.ridge, list(support))
    return Outcome((_answer(fit),), -math.inf, stop=Status.REFITTED)


def _answer(raw: _native.Answer) -> Answer:
    return Answer(tuple(raw.support), tuple(raw.coef), raw.objective)


def outcome(raw: _native.Outcome) -> Outcome:
    """Return what a native search says as the record of all backends."""
    return Outcome(
        answers=tuple(_answer(answer) for answer in raw.answers),
        lower_bound=raw.lower_bound,
        runner_up=raw.runner_up,
        stop=None if raw.stop is None else Status[raw.stop],
        complete=raw.complete,
        nodes=raw.nodes,
        seconds=raw.seconds,
    )


def _reporter(
    equations: Sequence[Equation], settings: Settings
) -> Callable[[list[_native.Snapshot], int, float], None] | None:
    if settings.progress is None:
        return None
    report, targets = settings.progress, [equation.target for equation in equations]

    def show(snapshots: list[_native.Snapshot], nodes: int, seconds: float) -> None:
        terms = (tuple(e.names[j] for j in now.support) for e, now in zip(equations, snapshots, strict=True))
        report(
            Progress(
                incumbent={target: now.incumbent for target, now in zip(targets, snapshots, strict=True)},
                lower_bound={target: now.lower_bound for target, now in zip(targets, snapshots, strict=True)},
                nodes=nodes,
                seconds=seconds,
                terms=dict(zip(targets, terms, strict=True)),
            )
        )

    return show

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
    proof: str = "",
    limits: Sequence[Sequence[float]] | None = None,
) -> list[list[Outcome]]:
    """Solve the equations; one list of outcomes each: one entry, or one per size 0..k for a path.

    ``proof`` is the name of a file for the records of a proof; empty: none is written. With ``limits``, one list per
    equation: for each size 0..k, the pool of all supports with an objective of at most the limit of the size (negative:
    not asked for).
    """
    requests = [
        (
            e.factor,
            e.z,
            e.rest,
            e.ridge,
            size,
            [list(s) for s in start],
            list(e.required),
            list(e.forbidden),
            list(limit),
        )
        for e, size, start, limit in zip(equations, sizes, starts, limits or [()] * len(equations), strict=True)
    ]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
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
        threads=settings.threads or cores,
        coefficient_limit=settings.coefficient_limit,
        proof=proof,
        progress=reporter(settings, [e.target for e in equations], lambda i, j: equations[i].names[j]),
        stopped=interrupt.pressed,
    )
    return [[outcome(raw) for raw in sizes_of] for sizes_of in results]


def refit(equation: Equation, support: Sequence[int]) -> Outcome:
    """Return the canonical fit of one support; nothing is said about others."""
    equation.size(len(support))
    fit, _ = _native.refit(equation.factor, equation.z, equation.rest, equation.ridge, list(support))
    return Outcome((_answer(fit),), -math.inf, stop=Status.REFITTED)


def _answer(raw: _native.Answer) -> Answer:
    return Answer(tuple(raw.support), tuple(raw.coef), raw.objective)


def outcome(raw: _native.Outcome) -> Outcome:
    """Return what a native search says as the record of all backends."""
    answers, stop = tuple(_answer(answer) for answer in raw.answers), None if raw.stop is None else Status[raw.stop]
    return Outcome(
        answers,
        raw.lower_bound,
        raw.runner_up,
        stop,
        raw.complete,
        raw.nodes,
        raw.seconds,
        tuple(raw.written),
        raw.dependent,
    )


def reporter(
    settings: Settings, targets: Sequence[str], label: Callable[[int, int], str]
) -> Callable[[list[_native.Snapshot], int, float], None] | None:
    """Return what the native search calls to report; ``label(i, j)`` names term j of the i-th target."""
    if settings.progress is None:
        return None
    report = settings.progress

    def show(snapshots: list[_native.Snapshot], nodes: int, seconds: float) -> None:
        best = {target: now.incumbent for target, now in zip(targets, snapshots, strict=True)}
        bounds = {target: now.lower_bound for target, now in zip(targets, snapshots, strict=True)}
        terms = [tuple(label(i, j) for j in now.support) for i, now in enumerate(snapshots)]
        report(Progress(best, bounds, nodes, seconds, dict(zip(targets, terms, strict=True))))

    return show

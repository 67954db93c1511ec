"""The native search: requests in, outcomes per equation and size out."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import exactsindy._native as _native
from exactsindy.errors import SolverError
from exactsindy.solver import interrupt
from exactsindy.solver.equations import Equation
from exactsindy.solver.outcome import Answer, Outcome
from exactsindy.solver.settings import Progress, Settings, Status

SECTIONS = 2 * _native.max_size  # of a proof file, for each equation of a call


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
    first_section: int = 0,
    limits: Sequence[Sequence[float]] | None = None,
    save: Callable[[dict[int, list[int]]], None] | None = None,
    save_every: float = 10.0,
    resume: Mapping[int, Sequence[int]] | None = None,
) -> list[list[Outcome]]:
    """Solve the equations; one list of outcomes each: one entry, or one per size 0..k for a path.

    ``proof`` is the name of a file for the records of a proof; empty: none is written. Its sections are numbered from
    ``first_section`` on (`SECTIONS` for each equation); if that is not 0, the file of an earlier call goes on.

    With ``limits``, one list per equation: for each size 0..k, the pool of all supports with an objective of at most
    the limit of the size (negative: not asked for).

    ``save`` is called every ``save_every`` seconds and at the end with how far the searches have come, as numbers by
    section; with them as ``resume``, a later call goes on from there.
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
        threads=threads_that_fit(equations, sizes, threads(settings), physical_memory()),
        coefficient_limit=settings.coefficient_limit,
        proof=proof,
        first_section=first_section,
        progress=reporter(settings, [e.target for e in equations], lambda i, j: equations[i].names[j]),
        stopped=interrupt.pressed,
        save=save,
        save_every=save_every,
        resume={section: list(numbers) for section, numbers in (resume or {}).items()},
    )
    return [[outcome(raw) for raw in sizes_of] for sizes_of in results]


def threads(settings: Settings) -> int:
    """Return how many threads a search may use: as many as asked for, or one for each core."""
    if settings.threads is not None:
        return settings.threads
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_needed(columns: int, size: int, equations: int, threads: int) -> int:
    """Return how many bytes a search takes at most, but for what grows slower than the square of the columns.

    In arrays of columns x columns doubles: 7 for each equation that is searched at the same time (its numbers, the
    Gram matrix, the inverse, and four while they are made), and for each thread two for each of the terms but the last
    two and six more (see docs/proof.md).
    """
    return 8 * columns**2 * (7 * min(equations, threads) + threads * (2 * max(size - 2, 1) + 6))


@cache
def physical_memory() -> int | None:
    """Return the bytes of memory of this machine, None where the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def threads_that_fit(equations: Sequence[Equation], sizes: Sequence[int], wanted: int, memory: int | None) -> int:
    """Return how many of the threads the memory allows; refuse what does not fit at all."""
    columns, size = max((len(e.names) for e in equations), default=0), max(sizes, default=0)
    if memory is None or memory_needed(columns, size, len(equations), wanted) <= memory:
        return wanted
    need = memory_needed(columns, size, 1, 1)
    if need > memory:
        have, cure = f"this machine has {memory / 1e9:.3g} GB", "use a smaller library or a smaller k"
        raise SolverError(f"{columns} terms with k = {size} take {need / 1e9:.3g} GB of memory, {have}: {cure}.")
    return max(n for n in range(1, wanted) if n == 1 or memory_needed(columns, size, len(equations), n) <= memory)


def refit(equation: Equation, support: Sequence[int]) -> Outcome:
    """Return the canonical fit of one support; nothing is said about others."""
    equation.size(len(support))
    fit, _ = _native.refit(equation.factor, equation.z, equation.rest, equation.ridge, list(support))
    return Outcome((_answer(fit),), -math.inf, stop=Status.REFITTED)


def _answer(raw: _native.Answer) -> Answer:
    return Answer(tuple(raw.support), tuple(raw.coef), raw.objective, raw.fine)


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

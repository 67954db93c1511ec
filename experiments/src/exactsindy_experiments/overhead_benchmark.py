"""What a warm call of `solve` adds to the time of the native search: checks, requests, records."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import exactsindy as es
import exactsindy._native as native

ALLOWED = 80e-6  # seconds


def cases(columns: int = 56) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield a name and a call of `solve` each, k = 3."""
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(400, columns))
    for count in (1, 3):
        exact = theta[:, :9].reshape(400, 3, 3)[:, :, :count].sum(axis=1)
        noisy = es.Problem.from_arrays(theta, exact + 0.1 * rng.normal(size=exact.shape))
        clean, ridge = es.Problem.from_arrays(theta, exact), np.full((count, columns), 0.1)
        start, label = es.solve(noisy, 3), f"{count} equation{'s' if count > 1 else ''}"
        yield f"{label}, noise", lambda problem=noisy: es.solve(problem, 3)  # type: ignore[misc]
        yield f"{label}, exact fit", lambda problem=clean: es.solve(problem, 3)  # type: ignore[misc]
        yield (
            f"{label}, ridge matrix and start",
            lambda problem=noisy, weights=ridge, s=start: es.solve(problem, 3, ridge=weights, start=s),  # type: ignore[misc]
        )


def measure(call: Callable[[], Any], repeats: int = 300) -> tuple[float, float]:
    """Return the median seconds of Python and of the native search in one call."""
    inner, spent = native.solve, 0.0

    def timed(*arguments: Any, **options: Any) -> Any:
        nonlocal spent
        begin = time.perf_counter()
        try:
            return inner(*arguments, **options)
        finally:
            spent += time.perf_counter() - begin

    call()
    seconds = []
    native.solve = timed
    try:
        for _ in range(repeats):
            spent, begin = 0.0, time.perf_counter()
            call()
            seconds.append((time.perf_counter() - begin - spent, spent))
    finally:
        native.solve = inner
    outer, own = np.median(seconds, axis=0)
    return float(outer), float(own)


def page(say: Callable[[str], None]) -> str:
    """Return a table of the time that Python adds to the native search."""
    lines = ["# Small calls", "", "| call | Python (us) | native (us) | within 80 us |", "|---|---|---|---|"]
    for name, call in cases():
        outer, own = measure(call)
        say(f"{name}: {1e6 * outer:.0f} us")
        verdict = "yes" if outer <= ALLOWED else "NO"
        lines.append(f"| {name} | {1e6 * outer:.0f} | {1e6 * own:.0f} | {verdict} |")
    return "\n".join([*lines, ""])

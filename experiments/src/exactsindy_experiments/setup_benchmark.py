"""What is prepared before a search, beside LAPACK: one QR and one triangular inverse of the same size."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.linalg import lapack
from threadpoolctl import threadpool_limits

import exactsindy as es
from exactsindy.problem import Block, NamedTerm

ALLOWED = 2.0  # times LAPACK


def gaussian(columns: int, true: int = 3, noise: float = 0.03, seed: int = 0) -> es.Problem:
    """Return a problem of independent normal columns, three samples per column, and a target of a few of them.

    The triangle is drawn directly (Bartlett): its diagonal are chi variables, all else is normal.
    """
    rng = np.random.default_rng(seed)
    samples = 3 * columns
    factor = np.triu(rng.normal(size=(columns + 1, columns + 1)), 1)
    factor[np.diag_indices(columns)] = np.sqrt(rng.chisquare(samples - np.arange(columns)))
    scale = noise * np.sqrt(true)
    factor[:, columns] *= scale
    factor[columns, columns] = scale * np.sqrt(rng.chisquare(samples - columns))
    factor[:columns, columns] += factor[:columns, rng.choice(columns, true, replace=False)].sum(axis=1)
    return es.Problem((Block(factor, samples, tuple(NamedTerm(f"t{j}") for j in range(columns)), ("y'",)),))


def least(repeats: int, call: Callable[[], Any]) -> float:
    """Return the least time of some calls, in seconds."""
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def lapack_seconds(columns: int, repeats: int) -> float:
    """Return the time of one QR and one triangular inverse, on one thread."""
    matrix = np.asfortranarray(np.random.default_rng(0).normal(size=(columns, columns)))
    triangle = np.asfortranarray(np.triu(matrix) + columns * np.eye(columns))
    with threadpool_limits(1):
        return least(repeats, lambda: lapack.dgeqrf(matrix)) + least(repeats, lambda: lapack.dtrtri(triangle))


def page(sizes: Sequence[int], say: Callable[[str], None]) -> str:
    """Return a table of preparation times; a search that may look at one node does little else."""
    lines = [
        "# Set-up",
        "",
        "| terms | LAPACK, 1 thread (s) | set-up, 1 thread (s) | ratio | all threads (s) | 1 thread, ridge (s) | ok |",
        "|---|---|---|---|---|---|---|",
    ]
    es.solve(gaussian(50), 3)
    for columns in sizes:
        problem, repeats = gaussian(columns), 1 if columns > 2000 else 3
        peer = lapack_seconds(columns, repeats)

        def prepare(
            threads: int | None, ridge: float = 0.0, problem: es.Problem = problem, repeats: int = repeats
        ) -> float:
            limits = es.Settings(nodes=1, threads=threads)
            return least(repeats, lambda: es.solve(problem, 3, ridge=ridge, settings=limits))

        one, all_threads, ridge = prepare(1), prepare(None), prepare(1, 0.01)
        say(f"{columns} terms: {one:.3f} s, LAPACK {peer:.3f} s")
        verdict = "yes" if one <= ALLOWED * peer else "NO"
        lines.append(
            f"| {columns} | {peer:.3g} | {one:.3g} | {one / peer:.2f} | {all_threads:.3g} | {ridge:.3g} | {verdict} |"
        )
    return "\n".join([*lines, ""])

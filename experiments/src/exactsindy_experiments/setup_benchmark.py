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
    """Return the least processor time of some calls, in seconds: other programs disturb it less than the clock."""
    seconds = []
    for _ in range(repeats):
        begin = time.process_time()
        call()
        seconds.append(time.process_time() - begin)
    return min(seconds)


def lapack_seconds(columns: int, repeats: int) -> float:
    """Return the time of one QR and one triangular inverse, on one thread."""
    matrix = np.asfortranarray(np.random.default_rng(0).normal(size=(columns, columns)))
    triangle = np.asfortranarray(np.triu(matrix) + columns * np.eye(columns))
    with threadpool_limits(1):
        return least(repeats, lambda: lapack.dgeqrf(matrix)) + least(repeats, lambda: lapack.dtrtri(triangle))


def page(sizes: Sequence[int], say: Callable[[str], None]) -> str:
    """Return a table of processor times of the preparation: of searches that may look at one node.

    (That includes the first supports, which the search begins with.)
    """
    lines = [
        "# Set-up",
        "",
        "| terms | LAPACK (s) | set-up (s) | ratio | set-up with a ridge (s) | within 2 x LAPACK |",
        "|---|---|---|---|---|---|",
    ]
    es.solve(gaussian(50), 3)
    for columns in sizes:
        problem, repeats = gaussian(columns), 1 if columns > 2000 else 3
        peer = lapack_seconds(columns, repeats)

        def prepare(ridge: float, problem: es.Problem = problem, repeats: int = repeats) -> float:
            limits = es.Settings(nodes=1, threads=1)
            return least(repeats, lambda: es.solve(problem, 3, ridge=ridge, settings=limits))

        plain, ridge = prepare(0.0), prepare(0.01)
        say(f"{columns} terms: {plain:.3f} s, LAPACK {peer:.3f} s")
        verdict = "yes" if plain <= ALLOWED * peer else "NO"
        lines.append(f"| {columns} | {peer:.3g} | {plain:.3g} | {plain / peer:.2f} | {ridge:.3g} | {verdict} |")
    return "\n".join([*lines, ""])

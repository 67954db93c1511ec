"""The demonstration: from bundled noisy data to certified equations."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import comb
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exactsindy.solver import Solution

DEGREE, K_MAX = 5, 6


def run(show: Callable[[str], None]) -> Solution:
    """Solve for every number of terms, pick one per equation, certify and verify it."""
    from exactsindy.certificate import verify
    from exactsindy.datasets import dataset
    from exactsindy.form import StrongForm
    from exactsindy.library import Polynomials
    from exactsindy.selection import growth_ratio
    from exactsindy.solver import solve_path

    data = dataset("lorenz")
    problem = StrongForm().problem(data, Polynomials(DEGREE))
    candidates = len(problem.terms)
    show(f"Data: Lorenz system, {problem.n_samples} samples, 0.2 % noise.")
    show(f"Library: {candidates} monomials up to degree {DEGREE}.")
    begin = time.perf_counter()
    path = solve_path(problem, K_MAX)
    seconds = time.perf_counter() - begin
    show(f"Proved the best support of every size 0..{K_MAX} of every equation in {1e3 * seconds:.0f} ms:\n")
    show(str(path))
    solution = path.at(growth_ratio(path))
    show("\nThe size after which more terms stop helping (largest growth ratio), with its certificate:\n")
    show(str(solution))
    show("")
    for target, support, margin in zip(problem.target_names, solution.support, solution.margin, strict=True):
        k = len(support)
        show(
            f"{target}: of all {comb(candidates, k):,} combinations of {k} terms none fits these data better; "
            f"the next best is {100 * margin:.3g} % worse."
        )
    show("Not proved: that the system is this; only that this library and these data allow no better one.\n")
    show(str(verify(problem, solution)))
    return solution

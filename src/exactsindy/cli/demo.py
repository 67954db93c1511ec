"""The demonstration: from bundled noisy data to certified equations and a report."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from exactsindy.discovery import Discovery

DEGREE, K_MAX = 5, 6


def run(show: Callable[[str], None], report: Path | None = None) -> Discovery:
    """Find the equations, certify and verify them, write the report."""
    from exactsindy.certificate import verify
    from exactsindy.datasets import dataset
    from exactsindy.discovery import discover
    from exactsindy.errors import MissingDependency
    from exactsindy.library import Polynomials

    data = dataset("lorenz")
    show(f"Data: Lorenz system, {data.n_samples} samples, 0.2 % noise.")
    found = discover(data, library=Polynomials(DEGREE), k_max=K_MAX)
    candidates = len(found.problem.terms)
    show(f"Library: {candidates} monomials up to degree {DEGREE}. Every number of terms up to {K_MAX} was tried.\n")
    show(str(found))
    show("")
    for target, support in zip(found.problem.target_names, found.solution.support, strict=True):
        k, count = len(support), comb(candidates, len(support))
        show(f"{target}: of all {count:,} combinations of {k} terms none fits these data better.")
    show(f"\n{verify(found.problem, found.solution)}")
    if report is not None:
        try:
            found.report(report, title="Lorenz system, from bundled noisy data")
            show(f"\nReport: {report}")
        except MissingDependency as error:
            show(f"\nNo report: {error}")
    return found

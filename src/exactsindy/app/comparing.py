"""Two answers side by side: their equations, and how well each fits where both are about the same regression."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exactsindy.discovery import Discovery
from exactsindy.plots import worse


@dataclass(frozen=True)
class Side:
    """One of two answers: per equation its text, its misfit against the other, and its verdict."""

    equations: tuple[tuple[str, str, str], ...]


def side(one: Discovery, other: Discovery) -> Side:
    """Return an answer as it is compared with another."""
    rows = []
    for i, row in enumerate(one.model.rows):
        rows.append((row.text(4), _misfit(one, other, i), one.verdict.get(row.name, "")))
    return Side(tuple(rows))


def _misfit(one: Discovery, other: Discovery, i: int) -> str:
    """Return how the squared residuals compare; nothing if they are of different regressions."""
    if one.problem.fingerprint != other.problem.fingerprint or one.solution.joint or other.solution.joint:
        return ""
    here, there = float(one.solution.objective[i]), float(other.solution.objective[i])
    if one.solution.support[i] == other.solution.support[i]:
        return "Same terms."
    if not (np.isfinite([here, there]).all() and there > 0 and here > 0):
        return ""
    sizes = len(one.solution.support[i]), len(other.solution.support[i])
    terms = "" if sizes[0] == sizes[1] else f" with {sizes[0]} instead of {sizes[1]} terms"
    if here > there:
        return f"Squared residual {worse(here / there - 1)} larger{terms}."
    return f"Squared residual {worse(there / here - 1)} smaller{terms}."

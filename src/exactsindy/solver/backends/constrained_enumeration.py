"""Enumeration under constraints, for cross-checks: every support within the budgets, each fitted by itself.

The fit of one support is that of the native search, so this checks which support is best and that none was missed, not
the fit; `verify` has a fit of its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from exactsindy._types import Array
from exactsindy.errors import SolverError
from exactsindy.solver import interrupt
from exactsindy.solver.backends.component import Budget, Component
from exactsindy.solver.outcome import Answer, Outcome
from exactsindy.solver.settings import Deadline, Settings, Status

#: More supports than this are refused: each takes about 0.1 ms.
MOST_SUPPORTS = 1_000_000
#: The fit of a support is right to about this, relative to its objective.
_ROUNDING = 1e-10


def solve_component(component: Component, budgets: Sequence[Budget], settings: Settings) -> Outcome:
    """Fit every support that budgets and presence rows allow (one thread)."""
    deadline, width = Deadline(settings), len(component.variables)
    largest = min(width, min(budgets[0][1], width) if len(budgets[0][0]) == width else sum(n for _, n in budgets))
    if sum(math.comb(width, size) for size in range(largest + 1)) > MOST_SUPPORTS:
        raise SolverError(
            f"Enumeration refuses more than {MOST_SUPPORTS:.0e} supports ({width} coefficients): use backend='native'."
        )
    everything = tuple(component.variables.tolist())
    best: Answer | None = None
    for support in _allowed(component, budgets, largest):
        deadline.nodes += 1
        stop = Status.INTERRUPTED if interrupt.pressed() else Status.TIME_LIMIT if deadline.expired else None
        if settings.nodes is not None and deadline.nodes > settings.nodes:
            stop = Status.NODE_LIMIT
        if stop is not None:
            answers = () if best is None else (best,)
            return Outcome(answers, -math.inf, stop=stop, nodes=deadline.nodes, seconds=deadline.elapsed)
        absent = tuple(v for i, v in enumerate(everything) if i not in support)
        exactly = [(everything, len(support))]
        fit = component.solve([(absent, 0)] if absent else [], Settings(), runner_up=False, exactly=exactly)
        if fit.answers and (best is None or fit.objective < best.objective * (1 - 1e-12)):
            best = fit.answers[0]
    if best is None:
        return Outcome((), math.inf, nodes=deadline.nodes, seconds=deadline.elapsed)
    bound = best.objective * (1 - _ROUNDING)
    return Outcome((best,), bound, nodes=deadline.nodes, seconds=deadline.elapsed)


def _allowed(component: Component, budgets: Sequence[Budget], largest: int) -> Iterator[frozenset[int]]:
    """Yield the supports (positions in the search) that budgets and presence rows allow, smaller ones first."""
    rows = [(row.variables, row.coefs, row.rhs) for row in component.presence]
    rows += [(variables, (1.0,) * len(variables), float(limit)) for variables, limit in budgets]
    matrix: Array = np.zeros((len(rows), len(component.variables)))
    for line, (variables, coefs, _) in zip(matrix, rows, strict=True):
        line[[component.position[v] for v in variables]] = coefs
    rhs = np.array([limit for _, _, limit in rows])
    for size in range(largest + 1):
        for support in itertools.combinations(range(len(component.variables)), size):
            if np.all(matrix[:, support].sum(axis=1) <= rhs):
                yield frozenset(support)

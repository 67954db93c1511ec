"""What is proved about a selection, and which supports rival the chosen ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from exactsindy.discovery.refine import SURE
from exactsindy.discovery.stopwatch import Stopwatch
from exactsindy.selection import Selection
from exactsindy.solver import Pool, Status, Total, solve, solve_pool

# Rivals of the chosen size that are ranked.
RIVALS = 10
# Of the time limit.
_POOL_SHARE = 0.1


def resolved(selection: Selection) -> bool:
    """Say whether the chosen sizes and the next ones, which the choice rests on, are proved."""
    last = len(selection.path) - 1
    return all(
        selection.path[min(k, last)].status[i] in (Status.OPTIMAL, Status.INFEASIBLE)
        for i, choice in enumerate(selection.choices)
        for k in range(choice.k + 2)
    )


def unambiguous(selection: Selection) -> bool:
    """Say whether a longer search would change nothing, or must not be made: Ctrl-C was pressed.

    Either all sizes are proved, or those that the choice rests on are and the choice is beyond doubt; then the
    sizes far beyond it, which take nearly all of the time, need no proof.
    """
    if interrupted(selection) or all(row.proved for row in selection.table):
        return True
    return resolved(selection) and all(choice.confidence >= SURE for choice in selection.choices)


def interrupted(selection: Selection) -> bool:
    """Say whether Ctrl-C ended the search."""
    return any(Status.INTERRUPTED in solution.status for solution in selection.path)


def prove(selection: Selection, constraints: Sequence[Any], watch: Stopwatch) -> Selection:
    """Spend what is left on proving the chosen sizes, if the path ran out of time before them."""
    before = selection.solution
    if before.optimal or interrupted(selection):
        return selection
    settings = watch.share(1.0 - _POOL_SHARE)
    after = solve(
        before.problem, before.k, ridge=before.ridge, constraints=constraints, start=before, settings=settings
    )
    return replace(selection, solution=after)


def rivals(selection: Selection, constraints: Sequence[Any], watch: Stopwatch) -> Pool | None:
    """Return the best supports of the chosen sizes; none for a shared budget."""
    solution = selection.solution
    if isinstance(solution.k, Total) or interrupted(selection) or len(tuple(constraints)):
        return None
    sizes = [len(support) for support in solution.support]
    settings = replace(watch.share(_POOL_SHARE), progress=None)
    return solve_pool(solution.problem, sizes, count=RIVALS, ridge=solution.ridge, start=solution, settings=settings)

"""Select the sizes from proved paths, in attempts that get more time as long as the choice is ambiguous."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from exactsindy._limits import is_over
from exactsindy.discovery.prepare import Prepared
from exactsindy.discovery.read import Sampling
from exactsindy.discovery.request import Request
from exactsindy.selection import TRAJECTORY_FIT, PathEvidence, Selection
from exactsindy.selection import select as select_sizes
from exactsindy.solver import Deadline, Status, ctrl_c_pressed

# Fractions of the time limit. The first attempt is short and is kept if its choice is already unambiguous, or resolved
# by trajectory fits; otherwise the paths are searched again with 10 %, then 35 %.
SHORT = 0.02
_SHARES = (SHORT, 0.1, 0.35)
# Nodes of each search of the first attempt, about a tenth of a second: a longer time limit does not prolong it. Sizes
# up to 5 of 55 terms are proved by them. Rules that search resamples of the data need more of them.
_SHORT_NODES = 100_000
# Confidence from which an equation is resolved by the regression evidence alone: above it the evidence was right
# without exception on the tuning systems.
SURE = 0.98
# Samples per period below which regressions are right less often than their evidence says: the odds fall in proportion.
# `exactsindy bench selection --tune sampling` prints the power that tuning systems ask for (1 is used).
FINE = 35.0


@dataclass(frozen=True, eq=False)
class Searched:
    """A selection from the paths of one attempt; ``enough``: whether a longer search is not worth its time."""

    selection: Selection
    enough: bool


def attempts(prepared: Prepared, request: Request, clock: Deadline) -> Iterator[Searched]:
    """Yield selections, each from longer searches than the one before; the caller takes the first that serves.

    That of the short first attempt is yielded only if what its choice depends on is proved. Where the choice is still
    unsure it serves if trajectory fits resolve it: they need no proof of these paths.
    """
    folds = {variant.name: variant.folds for variant in prepared.variants}
    # Without a time limit every attempt would be the same search.
    for share in _SHARES if request.settings.seconds is not None else _SHARES[-1:]:
        settings = clock.share(share)
        if share == SHORT and request.allows_trajectory_fits:
            settings = replace(settings, nodes=min(settings.nodes or _SHORT_NODES, _SHORT_NODES))
        selection = select_sizes(
            folds,
            k_max=prepared.k_max,
            ridge=request.ridge,
            rule=prepared.rule,
            constraints=request.constraints,
            settings=settings,
        )
        if share != SHORT:
            yield Searched(selection, is_resolved(selection))
        elif is_unambiguous(selection):
            yield Searched(selection, True)
        elif is_resolved(selection) or is_over():
            yield Searched(selection, False)


def is_resolved(selection: Selection) -> bool:
    """Return True if the chosen sizes and the next ones, which the choice depends on, are proved."""
    last = len(selection.path) - 1
    return all(
        selection.path[min(k, last)].status[i] in (Status.OPTIMAL, Status.INFEASIBLE)
        for i, choice in enumerate(selection.choices)
        for k in range(choice.k + 2)
    )


def is_unambiguous(selection: Selection) -> bool:
    """Return True if a longer search would change nothing, or must not be made because Ctrl-C was pressed.

    Either all sizes are proved, or those that the choice depends on are and the choice is sure; then the sizes far
    beyond it, which take nearly all of the time, need no proof.
    """
    if is_interrupted(selection) or all(row.proved for row in selection.table):
        return True
    return is_resolved(selection) and all(choice.confidence >= SURE for choice in selection.choices)


def is_cut_short(selection: Selection) -> bool:
    """Return True if time ended the search of sizes that the choice depends on."""
    last = len(selection.path) - 1
    return any(
        selection.path[min(k, last)].status[i] is Status.TIME_LIMIT
        for i, choice in enumerate(selection.choices)
        for k in range(choice.k + 2)
    )


def is_interrupted(selection: Selection) -> bool:
    """Return True if Ctrl-C ended the search."""
    return ctrl_c_pressed() or any(Status.INTERRUPTED in solution.status for solution in selection.path)


def calibrated(selection: Selection, sampled: Sampling) -> Selection:
    """Return the selection with the odds of equations chosen by regression evidence lowered for coarse samples.

    Trajectory fits notice by themselves where quadrature is too coarse.
    """
    factor = min(sampled.per_period / FINE, 1.0)
    if factor == 1.0 or not isinstance(selection.rule, PathEvidence):
        return selection
    choices = tuple(
        choice
        if choice.variant == TRAJECTORY_FIT or math.isnan(choice.confidence)
        else replace(choice, confidence=factor * choice.confidence / (1 - (1 - factor) * choice.confidence))
        for choice in selection.choices
    )
    return replace(selection, choices=choices)

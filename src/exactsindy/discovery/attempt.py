"""One way through the stages up to the tests: a library is prepared, sizes are chosen and tested."""

from __future__ import annotations

from dataclasses import dataclass

from exactsindy.discovery.adequacy import tested
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.field_windows import in_windows
from exactsindy.discovery.prepare import Prepared, prepare
from exactsindy.discovery.read import Measurement
from exactsindy.discovery.refine import Refined, refine
from exactsindy.discovery.request import Request
from exactsindy.discovery.select import attempts, calibrated, is_cut_short, is_interrupted
from exactsindy.forms import Smoothed
from exactsindy.selection import Selection

# Fraction of the time limit for trajectory fits. Trial models, paths and rivals have others (prepare.py, select.py,
# prove.py); what is left proves the chosen sizes.
_FIT_SHARE = 0.4


@dataclass(frozen=True, eq=False)
class Attempt:
    """The answer within one library, before it is proved: the regressions, how they were refined, what was chosen."""

    prepared: Prepared
    refined: Refined
    selection: Selection


def attempt(measured: Measurement, request: Request, clock: Clock) -> Attempt:
    """Return what the library of the request gives, tested for whether it holds the law."""
    prepared = prepare(measured, request, clock)
    prepared, refined = in_windows(_chosen(prepared, request, clock), prepared, request, clock)
    selection = refined.selection
    if isinstance(prepared.variants[0].smoothed, Smoothed):
        selection = calibrated(selection, measured.sampling)
        clock.begin("testing whether the library holds the law")
        with clock.optional("tests whether the library holds the law"):
            selection = tested(selection, prepared, clock, refined.whiteness)
    return Attempt(prepared, refined, selection)


def _chosen(prepared: Prepared, request: Request, clock: Clock) -> Refined:
    """Return the first selection that is proved as far as it must be, or resolved by trajectory fits, or the last."""
    clock.begin("searching the best supports of every size")
    compared = None
    for searched in attempts(prepared, request, clock):
        selection = searched.selection
        refined = Refined(selection)
        if selection.solution.support != compared:  # where fits resolved nothing, a longer search alone changes nothing
            compared = selection.solution.support
            # Trajectory fits need no proof of these paths: what they choose is proved for a regression of their own.
            clock.begin("fitting trajectories")
            with clock.optional("trajectory fits"):
                refined = refine(selection, prepared, request, clock.share(_FIT_SHARE))
        if refined.whiteness is not None or searched.enough or is_interrupted(refined.selection) or clock.is_over():
            break
        clock.begin("searching the best supports of every size")
    if is_cut_short(refined.selection):
        clock.cut.append("the search of the best supports of every size")
    return refined

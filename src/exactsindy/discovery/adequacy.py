"""Test whether the library holds the law of each equation, and lower or withhold the confidence where it does not."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from exactsindy.data import Notice, Trajectories
from exactsindy.discovery.fit_tests import with_fit_tests
from exactsindy.discovery.phase_tests import phase_tests
from exactsindy.discovery.prepare import Prepared
from exactsindy.discovery.recognise import UNDERMINING, solver_output_notices, undermined
from exactsindy.discovery.row_tests import row_tests, with_least_residuals
from exactsindy.discovery.select import is_interrupted
from exactsindy.discovery.wide_library import WideLibrary
from exactsindy.errors import ExactSindyError
from exactsindy.forms import IncrementForm, Whiteness
from exactsindy.selection import HELD, Choice, LackOfFit, PathEvidence, Selection, unexplained
from exactsindy.solver import Deadline
from exactsindy.trajectory_fit import MeasuredTrajectories


def tested(selection: Selection, prepared: Prepared, clock: Deadline, whiteness: Whiteness | None) -> Selection:
    """Return the selection with the confidence lowered or withheld where tests speak against the library.

    ``whiteness`` are the residuals of the trajectory fit that decided: those of rows may be errors between samples.
    """
    lacks = lack_of_fit(selection, prepared, clock)
    choices = tuple(judged(choice, lacks.get(choice.equation)) for choice in selection.choices)
    left = {name: lack.ratio for name, lack in lacks.items()}
    if whiteness is not None:
        sizes = dict(zip(whiteness.target_names, map(float, whiteness.ratio), strict=True))
        left = {name: min(ratio, sizes.get(name, ratio)) for name, ratio in left.items()}
    shares = {name: unexplained(ratio) for name, ratio in left.items() if lacks[name].resolved}
    if all(share == 1.0 for share in shares.values()):
        return replace(selection, choices=choices)
    if _is_simulated(prepared):
        large = {name: lacks[name] for name, share in shares.items() if share < 1.0}
        return replace(selection, choices=tuple(_of_simulation(choice, large) for choice in choices))
    choices = tuple(
        replace(choice, confidence=shares.get(choice.equation, 1.0) * choice.confidence) for choice in choices
    )
    return replace(selection, choices=choices)


def _of_simulation(choice: Choice, lacks: Mapping[str, LackOfFit]) -> Choice:
    """Return a choice that says of what is left that it may be errors of a simulation, not a law of another kind."""
    lack = lacks.get(choice.equation)
    if not choice.withheld or lack is None:
        return choice
    text = f"errors of the simulation hide the law: residuals are {lack.ratio:.2g} times the noise"
    return replace(choice, withheld=text)


def _is_simulated(prepared: Prepared) -> bool:
    """Return True if errors of a simulation are what residuals are: a notice says so."""
    return isinstance(prepared.data, Trajectories) and bool(solver_output_notices(prepared.data))


def judged(choice: Choice, lack: LackOfFit | None) -> Choice:
    """Return a choice with its confidence after the tests: withheld if the library is unlikely to hold the law."""
    if lack is None or math.isnan(choice.confidence):
        return choice
    if lack.probability < HELD:
        reason = f"the library does not seem to hold this law: {lack.reason()}"
        return replace(choice, confidence=math.nan, withheld=reason)
    return replace(choice, confidence=lack.probability * choice.confidence)


def withheld(selection: Selection, notices: Sequence[Notice]) -> Selection:
    """Return the selection with no confidence in equations that misleading data cannot confirm."""
    reasons = undermined(notices, [choice.equation for choice in selection.choices])
    choices = tuple(
        replace(choice, confidence=math.nan, withheld=UNDERMINING[reasons[choice.equation].kind])
        if choice.equation in reasons and not choice.withheld and not math.isnan(choice.confidence)
        else choice
        for choice in selection.choices
    )
    return replace(selection, choices=choices)


def lack_of_fit(selection: Selection, prepared: Prepared, clock: Deadline) -> dict[str, LackOfFit]:
    """Return the tests of every equation that can be tested: of trajectories, chosen by regression evidence.

    Rows test every equation by itself. Trajectory fits tell more, but only where all equations together fit the data,
    and where noise, not errors between samples, is what is left.
    """
    data, samples = prepared.data, prepared.samples
    if isinstance(data, Trajectories) and isinstance(samples, MeasuredTrajectories) and samples.hidden:
        return _in_phase_space(selection, prepared, data, samples, clock)
    forms = [variant.form for variant in prepared.variants if isinstance(variant.form, IncrementForm)]
    if not isinstance(data, Trajectories) or not forms or not isinstance(selection.rule, PathEvidence):
        return {}
    if len(selection.choices) != len(data.targets) or is_interrupted(selection):
        return {}
    try:
        wide = WideLibrary.of(data, prepared.library, selection)
        if not wide.samples:
            return {}
        smoothed = forms[min(1, len(forms) - 1)]
        found = row_tests(wide, smoothed)
        for form in forms:
            if form is not smoothed:
                found = with_least_residuals(found, wide, form)
        if isinstance(samples, MeasuredTrajectories) and not clock.expired:
            found = with_fit_tests(found, wide, samples.smoothed, time.monotonic() + clock.left())
    except (ExactSindyError, np.linalg.LinAlgError):  # a function overflows, or two terms have one name: not tested
        return {}
    return found


def _in_phase_space(
    selection: Selection, prepared: Prepared, data: Trajectories, samples: MeasuredTrajectories, clock: Deadline
) -> dict[str, LackOfFit]:
    """Return the tests of equations for x''; none if there is no time, or too many columns."""
    if is_interrupted(selection) or clock.expired:
        return {}
    try:
        wide = WideLibrary.of(data, prepared.library, selection)
        return phase_tests(wide, samples, time.monotonic() + clock.left()) if wide.samples else {}
    except (ExactSindyError, np.linalg.LinAlgError):  # as above
        return {}

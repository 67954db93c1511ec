"""From data to regressions: which rows, in which parts, judged by which rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from exactsindy.data import Data, Field, Notice
from exactsindy.discovery.field_variants import INFORMED_CELLS, cells, whitened_modes
from exactsindy.discovery.request import named_form
from exactsindy.discovery.trajectory_variants import Variant, whitened_increments, whitened_windows
from exactsindy.errors import DataError
from exactsindy.forms import (
    IncrementForm,
    ModalForm,
    NotPositiveDefinite,
    Smoothed,
    SmoothedField,
    StrongForm,
    WeakForm,
    groups,
)
from exactsindy.library import Library
from exactsindy.problem import Problem
from exactsindy.selection import GrowthRatio, PathEvidence, Rule
from exactsindy.solver import Settings
from exactsindy.trajectory_fit import Measured, MeasuredModes, MeasuredTrajectories

# Parts of the data for inclusion probabilities.
_FOLDS = 20
# Fields with more work in a step than this are left to their rows: a step takes half a second, a comparison 100 steps.
_MOST_WORK = 2.5e7
# And those whose library on the grid is larger; with its slopes a few times as large.
_MOST_NUMBERS = 1 << 24


def prepare(data: Data, library: Library, form: Any, settings: Settings) -> tuple[list[Variant], list[Notice]]:
    """Return the rows of a named form or, for "auto", those that the data ask for, and what to say about them."""
    if not (isinstance(form, str) and form == "auto"):
        chosen = named_form(form)
        return [Variant("", chosen, chosen.problem(data, library))], []
    if isinstance(data, Field):
        return [whitened_modes(data, library, settings)], []
    if data[0].derivatives is not None:
        strong = StrongForm()
        note = Notice("derivatives", "Measured derivatives are used as they are (StrongForm).")
        return [Variant("measured derivatives", strong, strong.problem(data, library))], [note]
    if any(target.order > 1 for target in data.targets):
        return [whitened_windows(data, library, settings)], []
    try:
        return list(whitened_increments(data, library, settings)), []
    except NotPositiveDefinite:
        weak = WeakForm()
        note = Notice("coarse", "The samples are too far apart for increments: windows are used instead (WeakForm).")
        return [Variant("windows", weak, weak.problem(data, library))], [note]


def default_rule(select: Rule | str, prepared: Sequence[Variant]) -> Rule | str:
    """Return the rule: the weighed evidence where its weights were fitted, the growth ratio elsewhere."""
    if not (isinstance(select, str) and select == "auto"):
        return select
    if not prepared[0].name:
        return GrowthRatio()
    if isinstance(prepared[0].form, ModalForm):
        return PathEvidence.for_modes()
    return PathEvidence() if isinstance(prepared[0].form, IncrementForm) else GrowthRatio()


def folds_of(part: Variant, data: Data, library: Library) -> Problem | tuple[Problem, ...]:
    """Return the parts of a regression, or the whole where it has none or the data are too short."""
    count = min(_FOLDS, part.problem.n_samples // 8)
    if count < 5 or (isinstance(data, Field) and cells(data) > INFORMED_CELLS):
        return part.problem
    try:
        return part.form.folds(data, library, count)
    except DataError:
        return part.problem


def measured(form: Any, data: Data, library: Library) -> Measured | None:
    """Return the samples for orbits; None where there are none, or where a field has too many modes."""
    smoothed = getattr(form, "smoothed", None)
    if isinstance(smoothed, Smoothed):
        return MeasuredTrajectories(smoothed, groups(data, library))
    if isinstance(smoothed, SmoothedField) and isinstance(data, Field):
        modes = MeasuredModes(data, smoothed, groups(data, library))
        return modes if modes.work <= _MOST_WORK and modes.numbers <= _MOST_NUMBERS else None
    return None

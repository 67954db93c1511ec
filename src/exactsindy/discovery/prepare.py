"""Prepare the variants of the regression, the rule that weighs them, and the samples for trajectory fits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from exactsindy.data import Data, Field, Notice, Trajectories
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.in_pieces import over_all_pieces
from exactsindy.discovery.parameters import parameter_notices
from exactsindy.discovery.read import Measurement
from exactsindy.discovery.request import Request, default_library, largest_size
from exactsindy.discovery.thinning import stretches
from exactsindy.discovery.variants import (
    SMOOTHED_DERIVATIVES,
    Variant,
    second_order_variants,
    whitened_increments,
    whitened_modes,
)
from exactsindy.forms import (
    Form,
    NotPositiveDefinite,
    Smoothed,
    SmoothedField,
    StrongForm,
    WeakForm,
    groups,
    phase_space,
)
from exactsindy.library import Library
from exactsindy.selection import GrowthRatio, PathEvidence, Rule
from exactsindy.solver import Total
from exactsindy.trajectory_fit import Measured, MeasuredModes, MeasuredTrajectories

# Fraction of the time limit for each trial model.
_TRIAL_SHARE = 0.2
# Work of a step (times x cube of the modes of a field) above which trajectories are not fitted to a field: a step takes
# half a second there, a comparison 100 steps.
_MOST_WORK = 2.5e7
# The same for the numbers in its library on the grid; with slopes it takes a few times that memory.
_MOST_NUMBERS = 1 << 24


@dataclass(frozen=True, eq=False)
class Prepared:
    """The variants of the regression, each equation to be taken from the best one, and the rule that picks sizes."""

    data: Data
    library: Library
    variants: tuple[Variant, ...]
    k_max: int | Total
    rule: Rule
    notices: tuple[Notice, ...] = ()

    @cached_property
    def samples(self) -> Measured | None:
        """The samples for trajectory fits around the last variant, the most smoothed one; None if there are none."""
        return fit_samples(self.variants[-1], self.data, self.library)


def prepare(measured: Measurement, request: Request, clock: Clock) -> Prepared:
    """Return the variants of the form asked for or, by default, those that suit the data."""
    data = measured.used
    library = default_library(measured.data) if request.library is None else request.library
    if request.form is None:
        variants, rule, notices = _automatic(measured, library, clock)
    else:
        clock.begin("making the regression")
        form = _for_order(request.form, data)
        variants, rule, notices = (Variant.of("", form, data, library),), GrowthRatio(), ()
    if measured.source is not None:
        clock.begin("reading the data piece by piece")
        variants, more = over_all_pieces(variants, measured, library, clock, automatic=request.form is None)
        notices = (*notices, *more)
    notices = (*notices, *parameter_notices(data, library))
    k_max = largest_size(request.k_max, data, variants[0].problem)
    chosen = rule if isinstance(request.rule, str) else request.rule
    return Prepared(data, library, variants, k_max, chosen, notices)


def _automatic(
    measured: Measurement, library: Library, clock: Clock
) -> tuple[tuple[Variant, ...], Rule, tuple[Notice, ...]]:
    """Return variants, rule and notices for a form left open: regression evidence where its weights were fitted."""
    data, settings = measured.used, clock.share(_TRIAL_SHARE)
    if isinstance(data, Field) and data.rate_names:
        clock.begin("making the regression in windows")
        text = "Equations of second order of a field: windows are used (WeakForm), and no trajectories are fitted."
        note = Notice("windows", text)
        return (Variant.of("windows", WeakForm(), data, library),), GrowthRatio(), (note,)
    if isinstance(data, Field):
        return (whitened_modes(data, library, settings, clock),), PathEvidence.for_modes(), ()
    if data[0].derivatives is not None:
        note = Notice("derivatives", "Measured derivatives are used as they are (StrongForm).")
        return (Variant.of("measured derivatives", StrongForm(), data, library),), GrowthRatio(), (note,)
    if any(target.order > 1 for target in data.targets):
        return second_order_variants(data, measured.smoothed, library, settings, clock), GrowthRatio(), ()
    try:
        clock.begin("smoothing the states")
        few = stretches(measured.smoothed, measured.sampling)
        variants = whitened_increments(data, library, settings, measured.smoothed, clock, few)
        # The weights of the evidence are for whitened increments.
        rule = PathEvidence() if isinstance(variants[0].form, Form) and variants[0].form.whitened else GrowthRatio()
        return variants, rule, ()
    except NotPositiveDefinite:
        note = Notice("coarse", "The samples are too far apart for increments: windows are used instead (WeakForm).")
        return (Variant.of("windows", WeakForm(), data, library),), GrowthRatio(), (note,)


def _for_order(form: Form, data: Data) -> Form:
    """Return the form; the strong form as it is by default smooths too little for second derivatives."""
    second = isinstance(data, Trajectories) and any(target.order > 1 for target in data.targets)
    return SMOOTHED_DERIVATIVES if second and form == StrongForm() else form


def fit_samples(variant: Variant, data: Data, library: Library) -> Measured | None:
    """Return the samples for trajectory fits; None if nothing was smoothed, or if a field has too many modes."""
    smoothed = variant.smoothed
    if isinstance(smoothed, Smoothed) and isinstance(data, Trajectories):
        rates = data.rate_names
        states = phase_space(smoothed, rates) if rates else smoothed
        return MeasuredTrajectories(states, groups(data, library), hidden=rates)
    if isinstance(smoothed, SmoothedField) and isinstance(data, Field):
        modes = MeasuredModes(data, smoothed, groups(data, library))
        return modes if modes.work <= _MOST_WORK and modes.numbers <= _MOST_NUMBERS else None
    return None

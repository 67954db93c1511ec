"""Variants of the regression: a form, the parts of its rows, and the smoothed data that they were made from."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace

import numpy as np

from exactsindy._limits import OutOfTime, cut_short, go_on, until
from exactsindy.data import Data, Field, Trajectories
from exactsindy.differentiation import PenalisedSpline
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.row_tests import stretches
from exactsindy.errors import DataError
from exactsindy.forms import (
    Form,
    IncrementForm,
    ModalForm,
    Smoothed,
    SmoothedField,
    StartRegression,
    StrongForm,
    WeakForm,
    WindowedField,
    smooth,
    smooth_field,
    smooth_field_guided,
    smooth_guided,
)
from exactsindy.library import Library
from exactsindy.problem import Problem
from exactsindy.selection import Folds, growth_ratio, shared_path
from exactsindy.solver import Path, Settings, Solution, Status

# Parts of the data from which inclusion shares are drawn: at most _MOST, at least _LEAST, of _ROWS rows or more each.
_MOST, _LEAST, _ROWS = 20, 5, 8
# Numbers measured beyond which a field is neither divided nor smoothed around models: both cost much and gain nothing.
LARGE_FIELD = 4_000_000
# Terms of saturated trial models, and of those around whose flow states are smoothed: more than laws have, because a
# selected model would confirm itself. Five terms serve better at high noise, eight where laws are long.
SATURATED = 8
GUIDES = (8, 5)
# Share of measured derivatives below which residuals are rounding, of the data or of constants inside terms.
_EXACT = 1e-8
# Rounds of weighting the rows of a first regression, and of smoothing around a trial model.
_WEIGHT_ROUNDS, _ROUNDS = 2, 3
# Fractions of the time limit after which no more rounds of a start regression, of a variant, or of whitening modes are
# begun: what is there then must do, and the rest of the time is for the searches.
_START_UNTIL, _VARIANTS_UNTIL, _MODES_UNTIL = 0.2, (0.6, 0.65, 0.7), 0.5
# Samples of very long records that are kept for tests of residuals: their mean square is then known to half a percent.
_KEPT = 100_000
# Nodes of a trial path: trial models need not be proved, a good support found fast serves.
_TRIAL_NODES = 500
# Terms of the saturated trial model for at most _LARGE candidate terms, and for more: 8 of 19, 12 of 109 served best.
_MODE_TERMS, _MODE_TERMS_LARGE, _LARGE = 8, 12, 40
# Rounds of whitening by a trial model, and of smoothing around one.
_MODE_ROUNDS, _GUIDED_ROUNDS = 2, 2
# Nodes of a trial path of a field.
_MODE_NODES = 200
# Rows beyond this many add cost, not information: the highest modes are left out, but not below this wavenumber.
_MOST_ROWS, _LEAST_CUTOFF = 250_000, 8
# Grid points for products of smoothed fields: modes that would need a finer grid are dropped, where others suffice.
_MOST_POINTS = 1 << 14


# The strong form for equations of x'': x, x' and x'' of one smooth curve.
SMOOTHED_DERIVATIVES = StrongForm(PenalisedSpline(), smooth_states=True)


@dataclass(frozen=True, eq=False)
class Variant:
    """One way to make the regression: its name (empty if the user chose the form), the form, and the parts of its rows.

    Trajectories are fitted to ``smoothed``, the data that the rows were made from.
    """

    name: str
    form: Form
    folds: Folds
    smoothed: Smoothed | SmoothedField | WindowedField | None = None

    @property
    def problem(self) -> Problem:
        """The whole regression."""
        return self.folds.whole

    @classmethod
    def of(
        cls, name: str, form: Form, data: Data, library: Library, *, whole: Problem | None = None, rows: int = 0
    ) -> Variant:
        """Return the variant of a form, its rows in parts if the data are long enough.

        The whole regression, if it is known, or the number of its rows saves a pass over the rows.
        """
        if whole is None and not rows:
            whole = form.problem(data, library)
        count = min(_MOST, (rows if whole is None else whole.n_samples) // _ROWS)
        parts: tuple[Problem, ...] = ()
        if count >= _LEAST and not is_large(data):
            with contextlib.suppress(DataError, OutOfTime):  # the form cannot divide these data, or not in time
                parts = tuple(form.folds(data, library, count))
        if not parts:
            parts = (form.problem(data, library) if whole is None else whole,)
        smoothed = form.smoothed if isinstance(form, Form) else None
        variant = cls(name, form, Folds(parts, floor(parts[0], smoothed, data)), smoothed)
        with until(lambda: False):  # short beside the rows, and nothing goes without it
            assert variant.problem.target_names
        return variant


def floor(problem: Problem, smoothed: object, data: Data) -> tuple[float, ...]:
    """Return the residual sum of squares of each equation that says nothing about terms; empty if it is not known."""
    if isinstance(data, Trajectories) and data[0].derivatives is not None:
        square = sum((member.derivatives**2).sum(axis=0) for member in data if member.derivatives is not None)
        own = [data.state_names.index(target.state) for target in data.targets if target.name in problem.target_names]
        return tuple((_EXACT**2 * np.asarray(square)[own]).tolist())
    if not isinstance(smoothed, Smoothed) or not isinstance(data, Trajectories):
        return ()
    states = {target.name: target.state for target in data.targets}
    return smoothed.unresolved([states[name] for name in problem.target_names])


def is_large(data: Data) -> bool:
    """Return True if the data are a field of more numbers than are worth the costly steps."""
    return isinstance(data, Field) and int(np.prod(data.shape)) * len(data.names) > LARGE_FIELD


def whitened_increments(
    data: Trajectories,
    library: Library,
    settings: Settings,
    smoothed: Smoothed | None = None,
    clock: Clock | None = None,
    few: Smoothed | None = None,
) -> tuple[Variant, ...]:
    """Return the increment forms on measured states and, twice, on states smoothed around a model's flow.

    All need a trial model. The start regression gives the first, the growth ratio of the paths the next ones; guided
    smoothing is around the flow of the saturated end of the path. ``settings`` holds the time limit of each trial.
    ``few`` are stretches of long data on which trial models are found.

    Variants for which time is too short are left out; if that is all of them, the start regression is the only one.
    """
    clock = Clock(Settings()) if clock is None else clock
    trials = Trials(data, library, settings, clock)
    plain = smooth(data) if smoothed is None else smoothed
    few = plain if few is None else few
    clock.begin("solving the start regression")
    start = trials.start(few)
    variants: list[Variant] = []
    for terms, fraction in zip((0, *GUIDES), _VARIANTS_UNTIL, strict=True):
        name = f"smoothed states ({terms}-term flow)" if terms else "measured states"
        clock.begin(f"making the regression on {name}")
        with clock.optional(f"the regression on {name}", fraction):
            go_on()
            if not terms:
                variants.append(trials.raw(plain, few, start))
                start = start if few is plain else trials.path(variants[0].problem)
            else:
                variants.append(trials.guided(plain, start, terms, few is not plain))
    if not variants:
        # (Then `start` is still its path.)
        form = IncrementForm("raw", smoothed=few)
        variants = [Variant("start regression", form, Folds((start.problem,)), few)]
    return tuple(variants)


def second_order_variants(
    data: Trajectories, smoothed: Smoothed, library: Library, settings: Settings, clock: Clock
) -> tuple[Variant, ...]:
    """Return regressions for equations of x'': of smoothed derivatives, and in windows."""
    clock.begin("making the regression of smoothed derivatives")
    variants = [replace(Variant.of("smoothed derivatives", SMOOTHED_DERIVATIVES, data, library), smoothed=smoothed)]
    with clock.optional("the regression in windows", _VARIANTS_UNTIL[0]), contextlib.suppress(DataError):
        variants.append(replace(whitened_windows(data, library, settings, clock), smoothed=smoothed))
    return tuple(variants)


def whitened_windows(data: Trajectories, library: Library, settings: Settings, clock: Clock) -> Variant:
    """Return whitened weak rows, for equations that have no increments: those of higher derivatives."""
    form = WeakForm()
    clock.begin("making the regression in windows")
    trials = Trials(data, library, settings, clock)
    path = trials.path(form.problem(data, library))
    variants = [Variant("windows", form, Folds((path.problem,)))]
    with clock.optional("whitening of the windows", _MODES_UNTIL):
        for _ in range(_WEIGHT_ROUNDS - 1):
            form = replace(form, model=picked(path))
            path = trials.path(form.problem(data, library))
        form = replace(form, model=picked(path))
        variants.append(Variant.of("windows", form, data, library, rows=path.problem.n_samples))
    return variants[-1]


@dataclass(frozen=True)
class Trials:
    """The alternation of form and trial model for one data set and library."""

    data: Trajectories
    library: Library
    settings: Settings
    clock: Clock

    def path(self, problem: Problem) -> Path:
        """Return the path of a trial, proved only where that is quick."""
        limits = replace(self.settings, nodes=_TRIAL_NODES, threads=1, progress=None)
        path = shared_path(problem, min(SATURATED, len(problem.terms)), settings=limits)
        if any(Status.TIME_LIMIT in solution.status for solution in path):
            cut_short()
        return path

    def start(self, smoothed: Smoothed) -> Path:
        """Return the path of the start regression, its rows weighted by the drift of their errors."""
        form = StartRegression(smoothed=smoothed)
        path = self.path(form.problem(self.data, self.library))
        with self.clock.optional("weights of the start regression", _START_UNTIL):
            for _ in range(_WEIGHT_ROUNDS):
                ratios = form.drift_ratios(self.data, self.library, saturated(path))
                path = self.path(replace(form, drift_ratio=ratios.tolist()).problem(self.data, self.library))
        return path

    def raw(self, whole: Smoothed, few: Smoothed, start: Path) -> Variant:
        """Return increments with the library on measured states, powers corrected for the bias of noise."""
        polynomial = all(getattr(term, "polynomial", False) for term in start.problem.terms)
        form = IncrementForm("raw", model=self.picked(start, few), smoothed=few, hermite=polynomial)
        path = self.path(form.problem(self.data, self.library))
        model = self.picked(path, few)
        return self._variant("measured states", form, path, replace(form, model=model, smoothed=whole))

    def guided(self, smoothed: Smoothed, start: Path, terms: int, long: bool) -> Variant:
        """Return increments with the library on states smoothed around the flow of models of so many terms.

        Around those of ``start``, and then of regressions on what was smoothed so far, in every round. ``long`` data
        need one such regression before the last round only, because all samples have made their start.
        """
        path = start
        for round_ in range(_ROUNDS):
            smoothed = smooth_guided(self.data, self.library, path[min(terms, len(path) - 1)], start=smoothed)
            form = IncrementForm("guided", model=self.picked(path, smoothed), smoothed=smoothed)
            if not long or round_ == _ROUNDS - 2:
                path = self.path(form.problem(self.data, self.library))
        model = self.picked(path, smoothed)
        return self._variant(f"smoothed states ({terms}-term flow)", form, path, replace(form, model=model))

    def picked(self, path: Path, smoothed: Smoothed) -> Solution:
        """Return the model that the growth ratio picks from a path of increments of smoothed states."""
        return picked(path, floor(path.problem, smoothed, self.data))

    def _variant(self, name: str, trial: IncrementForm, path: Path, form: IncrementForm) -> Variant:
        """Return the variant of a form, or that of the trial before it if there is no time for more."""
        rows = 0 if form.smoothed is None else sum(len(piece) - 1 for piece in form.smoothed.pieces)
        try:
            return _light(Variant.of(name, form, self.data, self.library, rows=rows))
        except OutOfTime:
            self.clock.cut.append(f"the last round of the regression on {name}")
            unresolved = floor(path.problem, trial.smoothed, self.data)
            return Variant(name, trial, Folds((path.problem,), unresolved), trial.smoothed)


def _light(variant: Variant) -> Variant:
    """Return a variant without most of the smoothed states of a very long record, once its rows are made.

    Residuals are tested on the stretches that are left, and trajectories are fitted to parts of them.
    """
    form = variant.form
    if not isinstance(form, IncrementForm) or not isinstance(form.smoothed, Smoothed):
        return variant
    if sum(map(len, form.smoothed.pieces)) <= 2 * _KEPT:
        return variant
    smoothed = stretches(form.smoothed, _KEPT)
    smoothed = replace(smoothed, values=tuple(values.copy() for values in smoothed.values))  # not parts of the whole
    return replace(variant, form=replace(form, smoothed=smoothed), smoothed=smoothed)


def saturated(path: Path) -> Solution:
    """Return the largest model of a path."""
    return path[len(path) - 1]


def picked(path: Path, floor: tuple[float, ...] = ()) -> Solution:
    """Return the model that the growth ratio picks from a path."""
    return path.at(growth_ratio(path, floor))


def whitened_modes(data: Field, library: Library, settings: Settings, clock: Clock | None = None) -> Variant:
    """Return the modal form, whitened by the slopes of saturated trial models.

    A selected model is a worse trial: a wrong small model makes a wrong weight.
    """
    clock = Clock(Settings()) if clock is None else clock
    clock.begin("smoothing the modes of the field")
    smoothed = few_modes(smooth_field(data))
    clock.begin("making the regression of the modes")
    form = ModalForm(smoothed=smoothed)
    problem = form.problem(data, library)
    guided = not is_large(data) and len(problem.terms) <= _LARGE
    with clock.optional("rounds of whitening the modes", _MODES_UNTIL):
        for round_ in range(_MODE_ROUNDS + (_GUIDED_ROUNDS if guided else 0)):
            trial = saturated(_mode_path(problem, settings))
            if round_ >= _MODE_ROUNDS:
                smoothed = smooth_field_guided(data, library, trial, start=smoothed)
            whitened = ModalForm(model=trial, smoothed=smoothed)
            problem = whitened.problem(data, library)
            form = whitened
    return Variant.of("modes", form, data, library, whole=problem)


def few_modes(smoothed: SmoothedField | WindowedField) -> SmoothedField | WindowedField:
    """Return the field with a lower cutoff if its modes make more rows than are of use."""
    if not isinstance(smoothed, SmoothedField):
        return smoothed
    times = smoothed.measured.shape[1]
    while 2 * int(smoothed.kept.sum()) * times > _MOST_ROWS and smoothed.cutoff > _LEAST_CUTOFF:
        smoothed = replace(smoothed, cutoff=smoothed.cutoff - 1)
    box, unit = smoothed.box, 1.0 / max(smoothed.box.lengths)
    per_axis = int(_MOST_POINTS ** (1 / len(box.sizes)))
    reach = [min(int(smoothed.cutoff * unit * w + 1e-9), k) for w, k in zip(box.lengths, box.largest, strict=True)]
    largest = tuple(min(k, max((per_axis - j - 2) // 3, j)) for k, j in zip(box.largest, reach, strict=True))
    return smoothed if largest == box.largest else smoothed.within(largest)


def _mode_path(problem: Problem, settings: Settings) -> Path:
    terms = len(problem.terms)
    size = min(_MODE_TERMS if terms <= _LARGE else _MODE_TERMS_LARGE, terms)
    return shared_path(problem, size, settings=replace(settings, nodes=_MODE_NODES, threads=1, progress=None))

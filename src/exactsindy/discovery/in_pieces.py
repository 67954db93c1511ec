"""Data that are read piece by piece: a sample gives the trial models, one pass the regressions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

from exactsindy.chunked import EachApart, Pieces, Plan, Together, assemble, opened, pieces_of, reading, required
from exactsindy.data import Columns, Data, Field, Notice, Trajectories, is_xarray
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.read import Measurement, OutOfCore
from exactsindy.discovery.recognise import leave_out_sentinels
from exactsindy.discovery.variants import GUIDES, Trials, Variant, few_modes
from exactsindy.discovery.watching import Watching
from exactsindy.errors import DataError
from exactsindy.forms import Form, IncrementForm, MapForm, ModalForm, Smoothed, smooth_field
from exactsindy.library import Library
from exactsindy.problem import Problem
from exactsindy.selection import Folds

# Pieces that the sample is taken from, and its samples: few enough for trajectory fits, enough for trial models.
_PIECES, _SAMPLES = 24, 40_000
# Samples of each trajectory that is in the sample, where it has as many.
_LEAST_SAMPLES = 512
# Parts from which inclusion shares are drawn.
_MOST_PARTS, _LEAST_PARTS = 20, 5
# Passes over all of the data that one call may take.
_PASSES = 3


def sampled(source: object, columns: Columns) -> Measurement | None:
    """Return a sample of data that are read piece by piece; None for data in memory."""
    if isinstance(source, str | os.PathLike):
        pieces = opened(source, columns)
        columns = Columns()  # they say how it is opened
    else:
        pieces = pieces_of(source) if isinstance(source, Pieces | Field) or is_xarray(source) else None
    if pieces is None:
        return None
    asked = {name: getattr(columns, name) for name in ("time", "states", "controls", "trajectory", "parameters")}
    unused = ", ".join(name for name, value in asked.items() if value is not None)
    if unused:
        raise DataError(f"{unused}: data that are read piece by piece carry their own names; leave it out.")
    if columns.targets is not None:
        raise DataError(
            "targets: data that are read piece by piece carry their own; give them to scan_parquet or Field."
        )
    out = OutOfCore(pieces)
    data = _field_sample(pieces) if pieces.field is not None else _trajectory_sample(pieces)
    out.count.size += _size(data)
    good = leave_out_sentinels(Measurement(data, data)).used  # (what all data hold is said after the pass)
    return Measurement(good, good, source=out)


def _trajectory_sample(pieces: Pieces) -> Trajectories:
    """Return stretches of pieces spread over the data."""
    each = _SAMPLES // min(pieces.count or 1, _PIECES)
    chosen = []
    for piece in pieces.spread(_PIECES):
        assert isinstance(piece.data, Trajectories)
        share = max(each // len(piece.data), min(_LEAST_SAMPLES, each))
        step = max(share * len(piece.data) // each, 1)
        chosen += [member.slice(0, min(len(member), share)) for member in piece.data.members[::step]]
    head = pieces.head
    return Trajectories(chosen, head.targets, time_name=head.time_name)


def _field_sample(pieces: Pieces) -> Field:
    """Return the piece in the middle of a field."""
    assert pieces.field is not None
    for piece in pieces.spread(1):
        data = piece.apart()
        assert isinstance(data, Field)
        return data
    raise DataError("the field has no times.")


def _size(data: Data) -> int:
    return 8 * data.n_samples * len(data.state_names)


@dataclass(frozen=True)
class _Apart:
    """The regression of a form on each piece by itself."""

    form: Form
    library: Library

    def __call__(self, data: Data) -> Problem:
        form = self.form
        if isinstance(form, ModalForm) and isinstance(data, Field):
            form = replace(form, smoothed=few_modes(smooth_field(data)))
        return form.problem(data, self.library)


def over_all_pieces(
    variants: Sequence[Variant], measured: Measurement, library: Library, clock: Clock, *, automatic: bool
) -> tuple[tuple[Variant, ...], tuple[Notice, ...]]:
    """Return the variants with the regressions of all pieces in place of those of the sample: one pass for all of them.

    Smoothed states and noise stay those of the sample: trajectories are fitted to it, and residuals are tested on it.
    Notices say what the pass has seen; steady tails and jumps of inputs if the form is ``automatic``, as in memory.
    """
    source = measured.source
    assert source is not None
    if source.count.passes >= _PASSES:
        text = f"The data were read {_PASSES} times: what was tried after that is from a sample of {measured.data!r}."
        return tuple(variants), (Notice("pieces", text),)
    plans = Together(tuple(_plan(v, i, source.pieces, measured, library, clock) for i, v in enumerate(variants)))
    known = source.pieces.count or 1
    parts = min(_MOST_PARTS, known) if known >= _LEAST_PARTS else 1

    def tell(done: int) -> None:
        clock.begin(f"reading the data piece by piece ({done} of {source.pieces.count or 'an unknown number'} done)")

    source.count.tell = tell
    with reading(source.count):
        problems, notices = _assembled(plans, measured, parts, automatic=automatic)
    full = []
    for i, variant in enumerate(variants):
        share = sum(part[i].n_samples for part in problems) / max(variant.problem.n_samples, 1)
        floor = tuple(share * value for value in variant.folds.floor)
        full.append(replace(variant, folds=Folds(tuple(part[i] for part in problems), floor)))
    return tuple(full), notices


def _assembled(
    plans: Together, measured: Measurement, parts: int, *, automatic: bool
) -> tuple[list[tuple[Problem, ...]], tuple[Notice, ...]]:
    """Return the problems of each part of the data, by variant, and what was seen on the way."""
    assert measured.source is not None
    pieces, sample = measured.source.pieces, measured.data
    if not isinstance(sample, Trajectories):
        return [plans.apart(problem) for problem in assemble(pieces, plans, parts)], ()
    noise = measured.smoothed.noise if automatic else None
    watched: Any = assemble(pieces, Watching.beside(plans, sample, noise), parts)  # sums of what the plan gives
    seen = reduce(add, [part.seen for part in watched])
    return [plans.apart(required(part.problem)) for part in watched], seen.notices(sample)


def _plan(variant: Variant, i: int, pieces: Pieces, measured: Measurement, library: Library, clock: Clock) -> Plan:
    """Return how a variant's rows are made of pieces: by the models that whiten and guide it on the sample."""
    form = variant.form
    if isinstance(form, IncrementForm) and isinstance(form.smoothed, Smoothed):
        guide = None
        if form.states == "guided":
            assert isinstance(measured.used, Trajectories)
            path = Trials(measured.used, library, clock.limits, clock).path(variant.problem)
            guide = path[min(GUIDES[min(i, len(GUIDES)) - 1], len(path) - 1)]
        return replace(form, guide=guide, smoothed=form.smoothed.only_noise()).plan(pieces, library)
    if hasattr(form, "plan") and not isinstance(form, ModalForm):
        return form.plan(pieces, library)  # type: ignore[no-any-return]
    more = 1 if isinstance(form, ModalForm | MapForm) else 0
    return EachApart(_Apart(form, library), more)


def reading_notices(measured: Measurement) -> tuple[Notice, ...]:
    """Return what was read, for the reader of the answer."""
    if measured.source is None:
        return ()
    text = (
        f"The data were {measured.source.count}; smoothing, noise, tests and trajectory fits are those of a sample, "
        f"{measured.data!r}."
    )
    return (Notice("pieces", text),)

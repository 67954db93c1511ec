"""Rows for fields: whitened increments of low spatial modes, smoothed around saturated models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from exactsindy.data import Field
from exactsindy.discovery.trajectory_variants import Variant, saturated
from exactsindy.forms import ModalForm, SmoothedField, WindowedField, smooth_field, smooth_field_guided
from exactsindy.library import Library
from exactsindy.problem import Problem
from exactsindy.selection import shared_path
from exactsindy.solver import Path, Settings

# Terms of the saturated trial model: 8 of 19 candidates, 12 of 109.
_SATURATED, _SATURATED_LARGE, _LARGE = 8, 12, 40
_ROUNDS = 2
_INFORMED_ROUNDS = 2
_TRIAL_NODES = 200
# Fields with more cells than this, or large libraries, are not smoothed around models: it costs much and gains nothing.
INFORMED_CELLS = 4_000_000
# Rows beyond this many add cost, not information: the highest modes are left out.
_MOST_ROWS = 250_000
_LEAST_CORNER = 8
# Grid points for products of smoothed fields: modes that would need a finer grid are dropped, where others suffice.
_MOST_POINTS = 1 << 14


def whitened_modes(data: Field, library: Library, settings: Settings) -> Variant:
    """Return the modal form, whitened by the slopes of saturated trial models.

    A selected model is a worse trial: a wrong small model makes a wrong weight.
    """
    smoothed = _fewer_modes(smooth_field(data))
    form = ModalForm(smoothed=smoothed)
    problem = form.problem(data, library)
    for _ in range(_ROUNDS):
        form = replace(form, model=saturated(_path(problem, settings)))
        problem = form.problem(data, library)
    if cells(data) <= INFORMED_CELLS and len(problem.terms) <= _LARGE:
        for _ in range(_INFORMED_ROUNDS):
            guide = saturated(_path(problem, settings))
            smoothed = smooth_field_guided(data, library, guide, start=smoothed)
            form = ModalForm(model=guide, smoothed=smoothed)
            problem = form.problem(data, library)
    return Variant("modes", form, problem)


def cells(data: Field) -> int:
    """Return how many numbers were measured."""
    return int(np.prod(data.shape)) * len(data.names)


def _fewer_modes(smoothed: SmoothedField | WindowedField) -> SmoothedField | WindowedField:
    """Return the field with a lower corner if its modes make more rows than are of use."""
    if not isinstance(smoothed, SmoothedField):
        return smoothed
    times = smoothed.measured.shape[1]
    while 2 * int(smoothed.kept.sum()) * times > _MOST_ROWS and smoothed.cutoff > _LEAST_CORNER:
        smoothed = replace(smoothed, cutoff=smoothed.cutoff - 1)
    box = smoothed.box
    per_axis = int(_MOST_POINTS ** (1 / len(box.sizes)))
    unit = 1.0 / max(box.lengths)
    reach = [
        min(int(smoothed.cutoff * unit * length + 1e-9), k) for length, k in zip(box.lengths, box.largest, strict=True)
    ]
    largest = tuple(min(k, max((per_axis - j - 2) // 3, j)) for k, j in zip(box.largest, reach, strict=True))
    return smoothed if largest == box.largest else smoothed.within(largest)


def _path(problem: Problem, settings: Settings) -> Path:
    terms = len(problem.terms)
    size = min(_SATURATED if terms <= _LARGE else _SATURATED_LARGE, terms)
    return shared_path(problem, size, settings=replace(settings, nodes=_TRIAL_NODES, threads=1, progress=None))

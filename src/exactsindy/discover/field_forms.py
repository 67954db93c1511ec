"""Rows for fields: whitened increments of low spatial modes, smoothed around over-full models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from exactsindy.data import Field
from exactsindy.discover.trajectory_forms import Prepared, overfull
from exactsindy.form import ModalForm, inform_field, smooth_field
from exactsindy.library import Library
from exactsindy.problem import Problem
from exactsindy.selection import fair_path
from exactsindy.solver import Path, Settings

# Terms of the over-full trial model: 8 of 19 candidates, 12 of 109.
_OVERFULL, _OVERFULL_LARGE, _LARGE = 8, 12, 40
_ROUNDS = 2
_INFORMED_ROUNDS = 2
_TRIAL_NODES = 200
# Fields with more cells than this are not smoothed around models: it costs much and gains nothing there.
_INFORMED_CELLS = 4_000_000


def whitened_modes(data: Field, library: Library, settings: Settings) -> Prepared:
    """Return the modal form, whitened by the slopes of over-full trial models.

    A selected model is a worse trial: a wrong small model makes a wrong weight.
    """
    smoothed = smooth_field(data)
    form = ModalForm(smoothed=smoothed)
    path = _path(form.problem(data, library), settings)
    for _ in range(_ROUNDS):
        form = replace(form, model=overfull(path))
        problem = form.problem(data, library)
        path = _path(problem, settings)
    if int(np.prod(data.shape)) * len(data.names) <= _INFORMED_CELLS:
        for _ in range(_INFORMED_ROUNDS):
            smoothed = inform_field(data, library, overfull(path), start=smoothed)
            form = ModalForm(model=overfull(path), smoothed=smoothed)
            problem = form.problem(data, library)
            path = _path(problem, settings)
    return Prepared("modes", form, problem)


def _path(problem: Problem, settings: Settings) -> Path:
    terms = len(problem.terms)
    size = min(_OVERFULL if terms <= _LARGE else _OVERFULL_LARGE, terms)
    return fair_path(problem, size, settings=replace(settings, nodes=_TRIAL_NODES, threads=1, progress=None))

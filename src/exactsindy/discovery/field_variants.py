"""The variant for fields: whitened increments of low spatial modes, smoothed around saturated models."""

from __future__ import annotations

from dataclasses import replace

from exactsindy.data import Field
from exactsindy.discovery.trajectory_variants import saturated
from exactsindy.discovery.variant import Variant, is_large
from exactsindy.forms import ModalForm, SmoothedField, WindowedField, smooth_field, smooth_field_guided
from exactsindy.library import Library
from exactsindy.problem import Problem
from exactsindy.selection import shared_path
from exactsindy.solver import Path, Settings

# Terms of the saturated trial model for at most _LARGE candidate terms, and for more: 8 of 19, 12 of 109 served best.
_SATURATED, _SATURATED_LARGE, _LARGE = 8, 12, 40
# Rounds of whitening by a trial model, and of smoothing around one.
_ROUNDS, _GUIDED_ROUNDS = 2, 2
# Nodes of a trial path, which need not be proved.
_TRIAL_NODES = 200
# Rows beyond this many add cost, not information: the highest modes are left out, but not below this wavenumber.
_MOST_ROWS, _LEAST_CUTOFF = 250_000, 8
# Grid points for products of smoothed fields: modes that would need a finer grid are dropped, where others suffice.
_MOST_POINTS = 1 << 14


def whitened_modes(data: Field, library: Library, settings: Settings) -> Variant:
    """Return the modal form, whitened by the slopes of saturated trial models.

    A selected model is a worse trial: a wrong small model makes a wrong weight.
    """
    smoothed = _fewer_modes(smooth_field(data))
    form = ModalForm(smoothed=smoothed)
    problem = form.problem(data, library)
    guided = not is_large(data) and len(problem.terms) <= _LARGE
    for round_ in range(_ROUNDS + (_GUIDED_ROUNDS if guided else 0)):
        trial = saturated(_path(problem, settings))
        if round_ >= _ROUNDS:
            smoothed = smooth_field_guided(data, library, trial, start=smoothed)
        form = ModalForm(model=trial, smoothed=smoothed)
        problem = form.problem(data, library)
    return Variant.of("modes", form, data, library, whole=problem)


def _fewer_modes(smoothed: SmoothedField | WindowedField) -> SmoothedField | WindowedField:
    """Return the field with a lower cutoff if its modes make more rows than are of use."""
    if not isinstance(smoothed, SmoothedField):
        return smoothed
    times = smoothed.measured.shape[1]
    while 2 * int(smoothed.kept.sum()) * times > _MOST_ROWS and smoothed.cutoff > _LEAST_CUTOFF:
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

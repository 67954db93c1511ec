"""Tests of single equations on whitened rows: size and correlation of residuals, and what functions would add."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from exactsindy._types import Array
from exactsindy.discovery.wide_library import WideLibrary, with_additions
from exactsindy.forms import IncrementForm, Smoothed
from exactsindy.selection import LackOfFit, additions, mean_correlation
from exactsindy.solver import Solution

# Stretches in which long data are tested, and the fewest samples of each.
_STRETCHES, _LEAST = 5, 8
# Share of the noise that is error of integrals or of a simulation beyond which data count as free of noise.
CLEAN = 0.5


def row_tests(wide: WideLibrary, form: IncrementForm) -> dict[str, LackOfFit]:
    """Return the tests on the rows of a form that has a trial model; none if it has no model or smoothed states."""
    if form.smoothed is None or not isinstance(form.model, Solution):
        return {}
    smoothed = stretches(form.smoothed, wide.samples)
    states = {target.name: target.state for target in wide.data.targets}
    found = {}
    rows = replace(form, model=wide.coefficients(form.model), smoothed=smoothed).rows(wide.data, wide.wide)
    for name, columns, target in rows:
        if wide.places[name].support:
            found[name] = _row_test(wide, name, columns, target, smoothed.unresolved([states[name]])[0])
    return found


def _row_test(wide: WideLibrary, name: str, columns: Array, target: Array, floor: float) -> LackOfFit:
    places, rows = wide.places[name], len(target)
    residual = _residual(columns, target, places.support)
    square, whole = float(residual @ residual), float(target @ target)
    known = (places.support, places.outside, rows, floor, places.complexity, places.degrees)
    added = additions(columns, target, 0.0, *known)
    wider = [*places.support, added.column] if places.outside else places.support
    lack = LackOfFit(
        rows=rows,
        ratio=math.sqrt(square / rows),
        share=math.sqrt(square / whole) if whole else 0.0,
        correlation=mean_correlation(_residual(columns, target, wider)),
        resolved=square > floor,
        noisy=floor < CLEAN * rows,
    )
    return with_additions(lack, added, places.names)


def with_least_residuals(
    found: Mapping[str, LackOfFit], wide: WideLibrary, form: IncrementForm
) -> dict[str, LackOfFit]:
    """Return tests with the size of residuals in the rows of another form, where these are smaller.

    Rows on smoothed states may be weighted wrongly; a law that the library lacks fits badly in rows of all kinds.
    """
    result = dict(found)
    if form.smoothed is None:
        return result
    smoothed = stretches(form.smoothed, wide.samples)
    for name, columns, target in replace(form, smoothed=smoothed).rows(wide.data, wide.library):
        if name in result:
            names, old = wide.inside(name), result[name]
            residual = _residual(columns, target, [names.index(t) for t in wide.selection.solution.terms[name]])
            result[name] = replace(old, ratio=min(old.ratio, math.sqrt(float(residual @ residual) / len(target))))
    return result


def _residual(columns: Array, target: Array, support: Sequence[int]) -> Array:
    chosen = columns[:, list(support)]
    return np.asarray(target - chosen @ np.linalg.lstsq(chosen, target, rcond=None)[0])


def stretches(smoothed: Smoothed, most: int) -> Smoothed:
    """Return at most so many samples in a few stretches spread over all pieces; all of them if they are fewer."""
    lengths = [len(piece) for piece in smoothed.pieces]
    total, size = sum(lengths), most // _STRETCHES
    if total <= most:
        return smoothed
    starts = np.cumsum([0, *lengths]).tolist()
    cuts = []
    for low in np.linspace(0, total - size, _STRETCHES).astype(int).tolist():
        for i, (start, length) in enumerate(zip(starts[:-1], lengths, strict=True)):
            first, last = max(low - start, 0), min(low + size - start, length)
            if last - first >= _LEAST:
                cuts.append((i, first, last))
    if not cuts:
        return smoothed
    pieces = tuple(smoothed.pieces[i].slice(first, last) for i, first, last in cuts)
    return replace(smoothed, pieces=pieces, values=tuple(smoothed.values[i][first:last] for i, first, last in cuts))

"""Recognise values that stand for "missing" (999, -9999, ...) and single samples far outside all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.data import Field, Notice, Trajectories
from exactsindy.discovery.read import Measurement

# Numbers that instruments write for "no value".
_CODES = np.array([99.0, 999.0, 9999.0, 99999.0, 999999.0, 32767.0, 1e20, 1e30, 9.969209968386869e36])
# A value is suspect if it is farther from the middle 90 % than so many times their width, ...
_SUSPECT = 3.0
# ... and outside if its distance from all values that are not suspect is at least the range of those.
_OUTSIDE = 1.0
# Largest share of the samples that may be outside.
_MOST = 0.05
# Least number of samples, and rows that are named.
_LEAST, _NAMED = 20, 6
# Samples of a piece that is kept.
_LEAST_PIECE = 3


@dataclass(frozen=True, eq=False)
class _Outside:
    """The samples of a column that are far outside all others: per trajectory a mask, and whether it is a sentinel."""

    column: str
    masks: tuple[NDArray[np.bool_], ...]
    values: Array
    sentinel: bool


def leave_out_sentinels(measured: Measurement) -> Measurement:
    """Return the measurement without rows that hold a number for "missing", and with notices that name them.

    A sentinel lies far outside all other values of its column, and is a usual code such as 999 or one number that comes
    several times exactly (states only: inputs may have pulses). It is left out as ``gaps="split"`` leaves out a missing
    value. Other samples far outside are only named.
    """
    data = measured.used
    if isinstance(data, Field) or data.n_samples < _LEAST:
        return measured
    columns = _outside_columns(data)
    if not columns:
        return measured
    notices = tuple(_notice(data, column) for column in columns)
    bad = [np.zeros(len(member), dtype=bool) for member in data]
    for column in columns:
        if column.sentinel:
            bad = [mask | more for mask, more in zip(bad, column.masks, strict=True)]
    ranges = [(i, start, stop) for i, mask in enumerate(bad) for start, stop in good_runs(~mask)]
    if not any(mask.any() for mask in bad) or not ranges:
        return replace(measured, notices=(*measured.notices, *notices))
    kept = data.slices(ranges)
    return replace(measured, data=kept, used=kept, notices=(*measured.notices, *notices))


def _outside_columns(data: Trajectories) -> list[_Outside]:
    names = (*data.state_names, *data.control_names)
    found = []
    for j, name in enumerate(names):
        parts = [m.states[:, j] if j < len(m.names) else m.controls[:, j - len(m.names)] for m in data]
        values = np.concatenate(parts)
        limits = far_limits(values)
        if limits is None:
            continue
        outside = (values <= limits[0]) | (values >= limits[1])
        if not outside.any():
            continue
        numbers, counts = np.unique(values[outside], return_counts=True)
        is_state = j < len(data.state_names)  # inputs may have pulses
        sentinel = is_sentinel(numbers, int(counts.sum()), is_state=is_state)
        masks = tuple(np.split(outside, np.cumsum([len(part) for part in parts])[:-1]))
        if sentinel or (is_state and all(_isolated(mask) for mask in masks)):
            found.append(_Outside(name, masks, numbers, sentinel))
    return found


def far_limits(values: Array) -> tuple[float, float] | None:
    """Return the values below and above which a sample is far outside all others; None if they do not tell."""
    low, high = np.quantile(values, (0.05, 0.95))
    width = high - low
    suspect = (values < low - _SUSPECT * width) | (values > high + _SUSPECT * width)
    if suspect.mean() > _MOST or width == 0:
        return None
    rest = values[~suspect] if suspect.any() else values
    least, most = float(rest.min()), float(rest.max())
    return least - _OUTSIDE * (most - least), most + _OUTSIDE * (most - least)


def are_codes(values: Array) -> NDArray[np.bool_]:
    """Return which values are numbers that instruments write for "no value"."""
    return np.isin(np.abs(values), _CODES)


def is_sentinel(numbers: Sequence[float] | Array, count: int, *, is_state: bool) -> bool:
    """Return True if far samples hold usual codes, or all of them one number that comes several times."""
    coded = bool(are_codes(np.asarray(numbers)).all())
    return coded or (is_state and len(numbers) == 1 and count > 1)


def _isolated(outside: NDArray[np.bool_]) -> bool:
    """Return True if every sample outside has neighbours on both sides that are not."""
    return not (outside[0] or outside[-1] or (outside[1:] & outside[:-1]).any())


def _notice(data: Trajectories, column: _Outside) -> Notice:
    count = sum(int(mask.sum()) for mask in column.masks)
    places = []
    for i, mask in enumerate(column.masks):
        rows = [str(row) for row in np.flatnonzero(mask)[:_NAMED]]
        if rows:
            where = f" of trajectory {i + 1}" if len(data) > 1 else ""
            more = ", ..." if mask.sum() > _NAMED else ""
            places.append(f"{_listed(rows) if not more else ', '.join(rows)}{more}{where}")
    rows_text = f"Row{'s' if count > 1 else ''} {'; '.join(places[:_NAMED])}"
    if column.sentinel:
        numbers = _listed([f"{value:.10g}" for value in column.values[:_NAMED]])
        text = (
            f"{rows_text} hold{'s' if count == 1 else ''} {numbers} in {column.column!r}, far outside its other values"
        )
        return Notice("sentinel", f"{text}: left out, as missing values are with gaps='split'.")
    one = count == 1
    text = f"{rows_text} of {column.column!r} lie{'s' if one else ''} far outside its other values"
    faults = "If it is a fault, set it" if one else "If they are faults, set them"
    return Notice("outlier", f"{text}. {faults} to nan and pass gaps='split'.")


def good_runs(good: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the ranges of samples that are good and long enough to be kept."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], good.astype(np.int8), [0]))))
    return [(int(a), int(b)) for a, b in list(pairwise(edges))[::2] if b - a >= _LEAST_PIECE]


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

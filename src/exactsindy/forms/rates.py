"""Velocities of measured positions: x' beside x wherever an equation is for x''."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import overload

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Data, Field, Target, Trajectories, Trajectory, gap_starts, parse_targets
from exactsindy.differentiation import PenalisedSpline
from exactsindy.errors import DataError
from exactsindy.forms.derivative import derive
from exactsindy.forms.increment.smoothing import Smoothed

# Fewest samples in a row from which a velocity is estimated: what smoothing needs.
_LEAST = 8


def rate_targets(names: Sequence[str], states: tuple[str, ...], *, field: bool = False) -> tuple[Target, ...]:
    """Return which derivatives of states rates such as ``x'`` (``u_t`` of fields) are."""
    return parse_targets(tuple(names), states, field=field) if names else ()


@overload
def with_rates(data: Trajectories) -> Trajectories: ...
@overload
def with_rates(data: Field) -> Field: ...
@overload
def with_rates(data: Data) -> Data: ...
def with_rates(data: Data) -> Data:
    """Return the data with a column, or a field, for every rate that an equation of higher order leaves free.

    The states stay as they were measured; a rate is the derivative of the smoothed state, from both sides of a gap.
    """
    names = data.rate_names
    if not names:
        return data
    wanted = rate_targets(names, data.state_names, field=isinstance(data, Field))
    if isinstance(data, Field):
        fields = tuple(PenalisedSpline(d=t.order)(data[t.state], data.times, axis=-1) for t in wanted)
        return replace(data, values=(*data.values, *fields), names=(*data.names, *names))
    members = [_extended(member, np.hstack([member.states, _estimated(member, wanted)]), names) for member in data]
    return replace(data, members=tuple(members))


def phase_space(smoothed: Smoothed, names: Sequence[str]) -> Smoothed:
    """Return smoothed states with rates beside them, in which trajectories of equations for x'' can be fitted.

    Rates have no samples: in their place stand the smoothed ones. Their unit, in which trajectory fits measure how far
    equations may err, is the noise of the state times the mean rate over the spread of the state: an error of one such
    unit in the rate becomes one of about one unit of noise in the state within a period.
    """
    wanted = rate_targets(names, smoothed.pieces[0].names)
    rates = [
        _derivatives(values, piece.times, piece.names, wanted)
        for piece, values in zip(smoothed.pieces, smoothed.values, strict=True)
    ]
    pieces = tuple(
        _extended(piece, np.hstack([piece.states, more]), names)
        for piece, more in zip(smoothed.pieces, rates, strict=True)
    )
    values = tuple(np.hstack(pair) for pair in zip(smoothed.values, rates, strict=True))
    own = [smoothed.pieces[0].names.index(target.state) for target in wanted]
    spread = np.maximum(np.vstack(smoothed.values)[:, own].std(axis=0), np.finfo(float).tiny)
    scale = np.sqrt(np.mean(np.vstack(rates) ** 2, axis=0)) / spread
    scale = np.where(scale > 0, scale, 1.0)

    def extended(row: Array) -> Array:
        return np.concatenate([row, scale * row[own]])

    noise, floor, score = extended(smoothed.measured_noise), extended(smoothed.floor), map(extended, smoothed.score)
    return Smoothed(pieces, values, noise, floor, tuple(score))


def _estimated(member: Trajectory, wanted: Sequence[Target]) -> Array:
    """Return derivatives of the smoothed states of a trajectory (samples x rates), piece by piece between gaps."""
    borders = [0, *(gap_starts(member.times) + 1).tolist(), len(member)]
    parts = []
    for low, high in pairwise(borders):
        if high - low < _LEAST:
            cure = "leave them out (gaps='split' parts the data there), or sample longer."
            raise DataError(
                f"x'' of {high - low} samples in a row: at least {_LEAST} are needed to estimate a velocity; {cure}"
            )
        part = member.slice(low, high)
        if part.derivatives is not None:
            columns = [
                derive(PenalisedSpline(), part.derivatives[:, part.names.index(t.state)], part.times, t.order - 1)
                for t in wanted
            ]
            parts.append(np.column_stack(columns))
        else:
            smooth = PenalisedSpline().states(part.states, part.times)
            parts.append(_derivatives(smooth, part.times, part.names, wanted))
    return np.vstack(parts)


def _derivatives(values: Array, times: Array, names: Sequence[str], wanted: Sequence[Target]) -> Array:
    """Return derivatives of states that are smooth (samples x rates)."""
    from scipy.interpolate import make_interp_spline  # loaded when needed: it costs more than numpy

    curve = make_interp_spline(times, values, k=5)
    return np.column_stack([curve.derivative(t.order)(times)[:, names.index(t.state)] for t in wanted])


def _extended(member: Trajectory, states: Array, names: Sequence[str]) -> Trajectory:
    """Return a trajectory with more columns of states."""
    return replace(member, states=states, names=(*member.names, *names), derivatives=None)

"""Recognise a column that lags behind the others: shifted by some samples, or measured by a slow sensor."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from exactsindy.data import Notice
from exactsindy.discovery.recognise.view import View

# Longest shift that is tried, as a share of a period and in samples, and the number of shifts tried on each side.
_LONGEST, _MOST, _TRIED = 0.12, 60, 8
# Points looked at; degree of the polynomials for few columns and for more; most columns.
_POINTS, _FEW, _MANY = 1000, 3, 6
# What polynomials leave of the rates must fall by this factor when the column is moved back, and by this one at half
# a quarter of the longest shift (a real lag has a valley, not a hole).
_FALLS, _VALLEY = 2.5, 1.2
# Least number of periods.
_PERIODS = 1.5
# Noise that smoothing leaves, as a share of the spread, above which nothing is tried.
_CALM = 0.05


def shift_notices(view: View) -> tuple[Notice, ...]:
    """Return a notice on the column that, moved in time against the others, makes the rates far better explained."""
    d = len(view.states)
    if not 2 <= len(view.names) <= _MANY or not np.isfinite(view.per_period):
        return ()
    if (view.smooth_noise[:d] > _CALM * view.spread[:d]).any() or (view.spread == 0).any():
        return ()
    if sum(map(len, view.pieces)) < _PERIODS * view.per_period:
        return ()
    reach = int(min(_LONGEST * view.per_period, _MOST))
    if reach < 2 or sum(max(0, len(piece) - 2 * reach) for piece in view.pieces) < 100:
        return ()
    still = _unexplained(view, 0, 0.0, reach)
    best = (still / _FALLS, 0, 0.0)
    for j in range(d):
        nearby = reach / 4
        ahead, behind = (_unexplained(view, j, sign * nearby, reach) for sign in (1.0, -1.0))
        if min(ahead, behind) * _VALLEY > still:
            continue
        sign = 1.0 if ahead < behind else -1.0
        for shift in sign * np.linspace(reach / _TRIED, reach, _TRIED):
            best = min(best, (_unexplained(view, j, float(shift), reach), j, float(shift)))
    _, j, shift = best
    if shift == 0:
        return ()
    name = view.states[j]
    step = float(np.median(np.concatenate([np.diff(piece.times) for piece in view.pieces])))
    text = f"{name} seems to {'lag behind' if shift > 0 else 'run ahead of'} the other columns"
    text = f"{text} by about {abs(shift):.0f} samples ({abs(shift) * step:.2g} in time)"
    why = "moved back by that, the rates are far better explained. The columns may be shifted, or a sensor is slow"
    cure = "Correct the times of the columns, or the delay of the sensor"
    return (Notice("shifted", f"{text}: {why}. {cure}."),)


def _unexplained(view: View, j: int, shift: float, reach: int) -> float:
    """Return what polynomials leave of the rates, state j moved ahead by so many samples; geometric mean of states."""
    points, rates = [], []
    total = sum(map(len, view.pieces))
    stride = max(1, total // _POINTS)
    for piece, values in zip(view.pieces, view.smoothed, strict=True):
        rows = np.arange(reach, len(piece) - reach, stride)
        if not len(rows):
            continue
        moved = values.copy()
        grid = np.arange(len(piece), dtype=float)
        moved[:, j] = np.interp(grid + shift, grid, values[:, j])
        points.append(np.hstack((moved, piece.controls))[rows])
        slope = (moved[rows + 1] - moved[rows - 1]) / (piece.times[rows + 1] - piece.times[rows - 1])[:, None]
        rates.append(slope)
    x, y = np.vstack(points), np.vstack(rates)
    x = (x - x.mean(axis=0)) / view.spread
    y = y / np.sqrt((y**2).mean(axis=0))
    degree = _FEW if x.shape[1] <= 3 else 2
    words = [w for k in range(degree + 1) for w in combinations_with_replacement(range(x.shape[1]), k)]
    columns = np.column_stack([np.prod(x[:, list(word)], axis=1) for word in words])
    q, _ = np.linalg.qr(columns)
    left = ((y - q @ (q.T @ y)) ** 2).mean(axis=0)
    return float(np.exp(np.log(left + 1e-12).mean()))

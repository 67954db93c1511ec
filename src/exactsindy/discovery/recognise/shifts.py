"""Recognise a column that lags behind the others: shifted by some samples, or measured by a slow sensor."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.data import Notice
from exactsindy.discovery.recognise.monomials import left_over, monomials
from exactsindy.discovery.recognise.view import View

# Longest shift that is tried, as a share of a period and in samples, and the number of shifts tried on each side.
_LONGEST, _MOST, _TRIED = 0.2, 100, 6
_FINE = np.array([-0.5, -0.25, 0.25, 0.5])
# What polynomials leave of the rates must fall by this factor when the column is moved back.
_FALLS = 1.8
# Points looked at; columns up to which the polynomials are cubic, otherwise quadratic; most columns.
_POINTS, _FEW, _MANY = 500, 3, 5
# Least number of periods, of samples in one, and of points: a short record, or slopes of coarse samples, fit any shift.
_PERIODS, _PER_PERIOD, _LEAST = 4.0, 40.0, 100
# Noise that smoothing leaves, as a share of the spread, above which nothing is tried.
_CALM = 0.05
# Share of a rate that is rounding.
_TINY = 1e-12


def shift_notices(view: View) -> tuple[Notice, ...]:
    """Return a notice on the column that, moved in time against the others, makes the rates far better explained.

    A column y that lags by s is moved back as y(t + s) and, in case a sensor of first order is slow, as y + s y'.
    """
    reach = _reach(view)
    if reach < 2:
        return ()
    best = (_unexplained(view, 0, 0.0, reach, slow=False) / _FALLS, 0, 0.0, False)
    grid = np.linspace(reach / _TRIED, reach, _TRIED)
    for j in range(len(view.states)):
        for slow, shifts in ((False, grid), (False, -grid), (True, grid)):
            best = min(best, _best_shift(view, j, shifts, reach, slow=slow))
    _, j, shift, slow = best
    if shift:  # between the shifts that were tried
        between = np.clip(shift + grid[0] * _FINE, -reach, reach)
        best = min(best, _best_shift(view, j, between, reach, slow=slow))
        _, j, shift, slow = best
    # What helps most at the longest shift has no best shift: it is no lag. What functions of the states without a shift
    # explain as well is a law that polynomials lack: on one closed orbit a shift imitates it.
    if not 1 <= abs(shift) < reach or _unexplained(view, 0, 0.0, reach, slow=False, bent=True) <= best[0]:
        return ()
    return (_notice(view, view.states[j], shift, slow),)


def _best_shift(view: View, j: int, shifts: Array, reach: int, *, slow: bool) -> tuple[float, int, float, bool]:
    """Return the best of some shifts of a state: what is left of the rates, the state, the shift, and ``slow``."""
    return min((_unexplained(view, j, float(shift), reach, slow=slow), j, float(shift), slow) for shift in shifts)


def _reach(view: View) -> int:
    """Return the longest shift in samples that is tried; 0 if the data do not allow any."""
    d = len(view.states)
    if not 2 <= len(view.names) <= _MANY or (view.spread == 0).any():
        return 0
    if d + _moving_inputs(view) < 2:  # one column that moves has no other to be late against
        return 0
    if (view.smooth_noise[:d] > _CALM * view.spread[:d]).any():
        return 0
    if view.per_period < _PER_PERIOD or sum(map(len, view.pieces)) < _PERIODS * view.per_period:
        return 0
    reach = int(min(_LONGEST * view.per_period, _MOST))
    return reach if sum(max(0, len(piece) - 2 * reach - 4) for piece in view.pieces) >= _LEAST else 0


def _moving_inputs(view: View) -> int:
    """Return how many inputs change within pieces. Those that are held in each say nothing about a shift."""
    return int(np.any([np.ptp(piece.inputs, axis=0) > 0 for piece in view.pieces], axis=0).sum())


def _notice(view: View, name: str, shift: float, slow: bool) -> Notice:
    step = float(np.median(np.concatenate([np.diff(piece.times) for piece in view.pieces])))
    count = round(abs(shift))
    size = f"about {count} sample{'s' if count > 1 else ''} ({abs(shift) * step:.2g} in time)"
    if slow:
        what = f"{name} seems to come from a slow sensor, with a time constant of {size}"
        cure = f"Replace {name} by {name} + {abs(shift) * step:.2g} {name}'"
    else:
        what = f"{name} seems to {'lag behind' if shift > 0 else 'run ahead of'} the other columns by {size}"
        cure = "Correct the times of the columns, or the delay of a sensor"
    return Notice("shifted", f"{what}: corrected for that, the states explain their rates far better. {cure}.")


def _unexplained(view: View, j: int, shift: float, reach: int, *, slow: bool, bent: bool = False) -> float:
    """Return what polynomials leave of the rates, state j moved ahead by so many samples; geometric mean of states.

    ``bent``: other functions of each column are added to the polynomials.
    """
    points, rates = [], []
    stride = max(1, sum(map(len, view.pieces)) // _POINTS)
    for piece, values in zip(view.pieces, view.smoothed, strict=True):
        rows = np.arange(reach + 2, len(piece) - reach - 2, stride)
        if not len(rows):
            continue
        before, here, after = (values[rows + k] for k in (-1, 0, 1))
        for k, states in ((-1, before), (0, here), (1, after)):
            states[:, j] = _moved(values[:, j], rows + k, shift, slow=slow)
        points.append(np.hstack((here, piece.inputs[rows])))
        rates.append((after - before) / (piece.times[rows + 1] - piece.times[rows - 1])[:, None])
    x = np.vstack(points)
    columns = monomials((x - x.mean(axis=0)) / x.std(axis=0), 3 if x.shape[1] <= _FEW else 2)
    if bent:
        columns = np.hstack((columns, _bent(x / x.std(axis=0))))
    return float(np.exp(np.log(left_over(columns, np.vstack(rates)) + _TINY).mean()))


def _bent(x: Array) -> Array:
    """Return functions of single columns that are bent more sharply than polynomials: absolute values, saturation."""
    size = np.abs(x)
    return np.hstack((size, x * size, x / (1 + size), x / (1 + 4 * size), np.sin(x), np.cos(x)))


def _moved(column: Array, rows: NDArray[np.intp], shift: float, *, slow: bool) -> Array:
    """Return a column at rows so many samples later, or corrected for a sensor of first order."""
    if slow:
        return np.asarray(column[rows] + shift * (column[rows + 1] - column[rows - 1]) / 2)
    whole = int(np.floor(shift))
    rest = shift - whole
    return np.asarray((1 - rest) * column[rows + whole] + rest * column[rows + whole + 1])

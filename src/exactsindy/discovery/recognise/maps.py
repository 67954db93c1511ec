"""Recognise samples of a discrete map that were given as samples of a flow."""

from __future__ import annotations

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Notice, Trajectories
from exactsindy.discovery.recognise.monomials import monomials

# Half the mean square of a step over the variance: 1 for white noise, 0.05 at 20 samples per period, 0.2 at 10.
_JUMP = 0.5
# Share of the variance of the next sample that a polynomial of this one must predict, on samples it was not fitted to.
_PREDICTED = 0.8
# Degree of that polynomial for so many states at most, samples looked at, and samples needed for each of its terms.
_DEGREE, _FEW_STATES, _MOST, _PER_TERM = 3, 4, 4000, 4


def map_notices(data: Trajectories) -> tuple[Notice, ...]:
    """Return a notice if consecutive samples jump, and each is a smooth function of the one before."""
    now = np.vstack([member.states[:-1] for member in data])[:_MOST]
    later = np.vstack([member.states[1:] for member in data])[:_MOST]
    width = now.std(axis=0)
    moving = width > 0
    if not moving.any() or data.control_names or data.parameter_names:
        return ()
    now, later = (
        (now - now.mean(axis=0))[:, moving] / width[moving],
        (later - now.mean(axis=0))[:, moving] / width[moving],
    )
    if np.mean((later - now) ** 2) / 2 < _JUMP:
        return ()
    if _predicted(now, later) < _PREDICTED:
        return ()
    names = ", ".join(name for name, moves in zip(data.state_names, moving, strict=True) if moves)
    text = "Consecutive samples jump about as far as the data spread, and each is a function of the one before"
    what = f"this looks like a discrete map of {names}, or a flow sampled far too rarely, and x' says nothing about it"
    cure = "For the map pass form='map' (--map on the command line)"
    return (Notice("map", f"{text}: {what}. {cure}: its equations give the next sample, x[k+1]."),)


def _predicted(now: Array, later: Array) -> float:
    """Return the share of the variance of the next sample that polynomials of this one predict, halves exchanged."""
    degree = _DEGREE if now.shape[1] <= _FEW_STATES else 1
    columns = monomials(now, degree)
    if len(now) < 2 * _PER_TERM * columns.shape[1]:
        return 0.0
    half = len(now) // 2
    left = 0.0
    for fitted, kept in ((slice(0, half), slice(half, None)), (slice(half, None), slice(0, half))):
        coefficients = np.linalg.lstsq(columns[fitted], later[fitted], rcond=None)[0]
        left += float(((later[kept] - columns[kept] @ coefficients) ** 2).sum())
    return 1.0 - left / float(((later - later.mean(axis=0)) ** 2).sum())

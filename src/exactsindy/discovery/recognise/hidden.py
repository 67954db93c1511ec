"""Recognise states that do not determine their own rates: positions without velocities, or a state left out."""

from __future__ import annotations

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Notice
from exactsindy.discovery.recognise.monomials import left_over, monomials
from exactsindy.discovery.recognise.view import View

# Points looked at, and the share of closest pairs among their nearest neighbours that are compared.
_POINTS, _CLOSEST = 500, 0.3
# Largest distance of a pair in units of the spread, and least number of pairs.
_NEAR, _LEAST = 0.1, 30
# Mean square difference of the rates at close points over the sum of their mean squares: 0 if the states determine the
# rates, 1 if the rates know nothing of each other, 2 if they are opposite.
_DISAGREE = 0.5
# Share of the mean square of a rate that polynomials of the states leave over; a steep law they can follow.
_UNEXPLAINED, _DEGREE, _FEW = 0.5, 3, 4
# What they leave, as such a share, times how much that differs at close points. Laws of first order with an input give
# up to 0.011 on tuning systems with noise of 5 %, positions of driven oscillators 0.018 to 1.5.
_SEVERAL = 0.015
# Most columns.
_MOST = 12
# Noise that smoothing leaves, as a share of the spread, above which crossings are no evidence.
_CALM = 0.05


def hidden_notices(view: View) -> tuple[Notice, ...]:
    """Return a notice if trajectories pass the same point of the states in different directions."""
    left = _undetermined(view)
    if left.max() < _UNEXPLAINED:
        return ()
    names, worst = view.states, view.states[int(left.argmax())]
    if len(names) == 1:
        text = f"{worst} rises and falls through the same values, which no law {worst}' = f({worst}) does"
    else:
        text = f"{worst}' differs where {', '.join(view.names)} are the same, so they do not determine it"
    cure = f"ask for its acceleration, targets=\"{worst}''\", or add its velocity as a state if it was measured"
    return (Notice("hidden state", f"{text}: a state is missing. If {worst} is a position, {cure}."),)


def undetermined(view: View) -> tuple[str, ...]:
    """Return the states whose rates the states do not determine."""
    return tuple(name for name, left in zip(view.states, _undetermined(view), strict=True) if left >= _UNEXPLAINED)


def _undetermined(view: View) -> Array:
    """Return what polynomials of the states leave of each rate that differs at close points; 0 for other rates."""
    disagreement = rate_disagreement(view)
    if disagreement is None or disagreement.max() < _DISAGREE:
        return np.zeros(len(view.states))
    return np.where(disagreement >= _DISAGREE, _unexplained(view), 0.0)


def has_several_rates(view: View) -> bool:
    """Return True if a rate takes several values where states and inputs are the same, whatever function it were.

    What polynomials leave of a rate differs at close points, where any function of states and inputs that they lack
    would be the same.
    """
    pairs = _close_pairs(view)
    if pairs is None:
        return False
    left, rest = _residual_rates(view)
    return bool((left * _disagreement(rest, *pairs) >= _SEVERAL).any())


def rate_disagreement(view: View) -> Array | None:
    """Return for each state how much its rates differ at close points that lie apart in time; None if there are few."""
    pairs = _close_pairs(view)
    return None if pairs is None else _disagreement(view.rates, *pairs)


def _disagreement(rates: Array, first: Array, second: Array) -> Array:
    """Return the mean square difference of rates at pairs of points over the sum of their mean squares."""
    one, other = rates[first], rates[second]
    both = (one**2 + other**2).sum(axis=0)
    return np.asarray(((one - other) ** 2).sum(axis=0) / np.where(both > 0, both, 1.0))


def _close_pairs(view: View) -> tuple[Array, Array] | None:
    """Return places of close points that lie apart in time; None if there are few, or the samples too noisy."""
    d = len(view.states)
    moving = view.spread > 0
    if len(view.names) > _MOST or (view.smooth_noise[:d] > _CALM * view.spread[:d]).any() or not moving[:d].any():
        return None
    picked = np.unique(np.linspace(0, len(view.calm) - 1, _POINTS).astype(int))
    points = ((view.calm - view.calm.mean(axis=0)) / np.where(moving, view.spread, 1.0))[picked]
    piece = np.repeat(np.arange(len(view.pieces)), [len(p.times[:: view.stride]) for p in view.pieces])[picked]
    size = (points**2).sum(axis=1)
    squared = np.maximum(size[:, None] + size[None] - 2 * points @ points.T, 0.0)
    # Neighbours in time are close because nothing moved: a quarter of a period must lie between.
    apart = np.abs(picked[:, None] - picked[None]) * view.stride > view.per_period / 4
    squared[~(apart | (piece[:, None] != piece[None]))] = np.inf
    nearest = squared.argmin(axis=1)
    distance = np.sqrt(squared[np.arange(len(picked)), nearest] / points.shape[1])
    chosen = np.argsort(distance)[: max(_LEAST, int(_CLOSEST * len(picked)))]
    chosen = chosen[distance[chosen] < _NEAR]
    if len(chosen) < _LEAST:
        return None
    return picked[chosen], picked[nearest[chosen]]


def _unexplained(view: View) -> Array:
    """Return the share of the mean square of each rate that polynomials of the columns leave over."""
    picked = np.unique(np.linspace(0, len(view.calm) - 1, 4 * _POINTS).astype(int))
    return left_over(_monomials(view)[picked], view.rates[picked])


def _residual_rates(view: View) -> tuple[Array, Array]:
    """Return what polynomials of the columns leave of each rate: its share of the mean square, and itself."""
    q, _ = np.linalg.qr(_monomials(view))
    rest = view.rates - q @ (q.T @ view.rates)
    size = (view.rates**2).sum(axis=0)
    return np.asarray((rest**2).sum(axis=0) / np.where(size > 0, size, 1.0)), rest


def _monomials(view: View) -> Array:
    width = np.where(view.spread > 0, view.spread, 1.0)
    points = (view.calm - view.calm.mean(axis=0)) / width
    return monomials(points, _DEGREE if points.shape[1] <= _FEW else 2)

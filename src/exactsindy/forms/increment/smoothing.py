"""Smoothed states for the increment form: from the data alone, or guided by a trial model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.data import Trajectories, Trajectory, gap_starts
from exactsindy.differentiation import Smooth, whittaker
from exactsindy.errors import DataError
from exactsindy.forms.base import EquationGroup, Trial, TrialLike, groups, trajectory_inputs, trial
from exactsindy.forms.increment.resolution import unresolved_errors
from exactsindy.forms.quadrature import integrate_intervals, interval_weights, sections
from exactsindy.library import Library

# The least number of samples in a row that can be smoothed: twice the four of a third difference.
_LEAST = 8
# Least noise, as a share of the root mean square of the state: below it stands rounding, and clean data are weighted as
# if they had this much.
_FLOOR = 1e-9
# Samples of long data that are worked on at once.
_SECTION = 1 << 14
# Samples beyond which states are smoothed one by one, to save memory.
_LONG = 1 << 17


@dataclass(frozen=True, eq=False)
class Smoothed:
    """Pieces of trajectories without gaps, their smoothed states, and the noise of each state.

    ``values[i]`` belongs to ``pieces[i]``; ``measured_noise`` (d,) is pooled over all pieces by degrees of freedom;
    ``floor`` (d,) is the size of errors that are no measurement noise (see `unresolved_errors`), and ``noise`` the
    larger of the two, by which rows are weighted; ``score[i]`` is noise^2 / degrees of freedom of each state, by which
    smooths of a piece are compared; ``plain`` is the smooth without a model, if a model guided this one.
    """

    pieces: tuple[Trajectory, ...]
    values: tuple[Array, ...]
    measured_noise: Array
    floor: Array
    score: tuple[Array, ...]
    plain: Smoothed | None = None

    @cached_property
    def noise(self) -> Array:
        """Return the error of each state that rows are weighted by."""
        return np.asarray(np.maximum(self.measured_noise, self.floor))

    def only_noise(self) -> Smoothed:
        """Return the noise alone, without samples."""
        return Smoothed((), (), self.measured_noise, self.floor, ())

    @cached_property
    def largest_noise(self) -> float:
        """Return the largest noise of a state as a share of its spread over all samples."""
        count = sum(map(len, self.pieces))
        mean = sum(piece.states.sum(axis=0) for piece in self.pieces) / count
        square = sum(((piece.states - mean) ** 2).sum(axis=0) for piece in self.pieces) / count
        spread = np.maximum(np.sqrt(square), np.finfo(float).tiny)
        return float(np.max(self.noise / spread))

    def unresolved(self, states: Sequence[str]) -> tuple[float, ...]:
        """Return for equations of these states the residual sum of squares that says nothing about terms.

        It is in units of the noise, for whitened rows: one per interval.
        """
        rows = sum(len(piece) - 1 for piece in self.pieces)
        own = [self.pieces[0].names.index(state) for state in states]
        return tuple(float(rows * (self.floor[j] / self.noise[j]) ** 2) for j in own)


def smooth(data: Trajectories) -> Smoothed:
    """Return the trajectories cut at gaps and smoothed by `whittaker`."""
    cut = _pieces(data)
    fits = [whittaker(piece.states, piece.times) for piece in cut]
    go_on()
    score = tuple(fit.noise**2 / fit.degrees_of_freedom for fit in fits)
    noise, floor = pooled_noise(fits, [piece.states for piece in cut]), unresolved_errors(cut)
    return Smoothed(cut, tuple(fit.values for fit in fits), noise, floor, score)


def pooled_noise(fits: Sequence[Smooth], states: Sequence[Array]) -> Array:
    """Return the noise of each state, pooled over fits by degrees of freedom, at least rounding level of the states."""
    squares = sum(fit.noise**2 * fit.degrees_of_freedom for fit in fits)
    return _floored(np.sqrt(squares / sum(fit.degrees_of_freedom for fit in fits)), states)


def smooth_guided(data: Trajectories, library: Library, model: TrialLike, *, start: Smoothed | None = None) -> Smoothed:
    """Return states smoothed around the flow of a model: z + W(y - z) with z the integral of its rates.

    Where that does not beat the plain smooth of a state, the plain one is kept. A saturated model (8 terms
    per equation) serves best: a selected one would confirm itself. The model's rates are evaluated on ``start``, from
    `smooth` (the default) or from an earlier round, whose states of very long pieces are overwritten.
    """
    equations = groups(data, library)
    flow = trial(model, equations, "smooth_guided")
    plain = smooth(data) if start is None else start.plain or start
    before = plain if start is None else start
    if flow is None:
        return before
    values, scores = [], []
    squares, freedom = np.zeros(len(plain.floor)), np.zeros(len(plain.floor))
    for piece, states, best, score in zip(plain.pieces, before.values, plain.values, plain.score, strict=True):
        scratch = states if len(piece) > _LONG and before is not plain else None
        z = _integrated(piece, states, equations, flow, np.zeros(states.shape) if scratch is None else scratch)
        chosen, chosen_score = best, score
        if np.isfinite(z).all():
            guided = _smooth_around(z, piece)
            better = guided < score
            chosen = z
            chosen[:, ~better] = best[:, ~better]
            chosen_score = np.where(better, guided, score)
        values.append(chosen)
        scores.append(chosen_score)
        # score = s^2 / (n - tr); the residual of the chosen smooth gives both factors.
        rss = _squares(piece.states, chosen)
        degrees = np.sqrt(rss / np.maximum(chosen_score, np.finfo(float).tiny))
        squares += rss
        freedom += degrees
    noise = _floored(np.sqrt(squares / np.maximum(freedom, 1.0)), [piece.states for piece in plain.pieces])
    return Smoothed(plain.pieces, tuple(values), noise, plain.floor, tuple(scores), plain)


def _integrated(piece: Trajectory, states: Array, equations: Sequence[EquationGroup], flow: Trial, z: Array) -> Array:
    """Write the integral of a model's rates from the start of a piece into ``z``, 0 where there is no equation.

    ``z`` may be ``states`` themselves: a section needs the two samples before it, which are kept.
    """
    n = len(piece)
    kept, at = states[:0].copy(), 0  # samples from ``at`` on that are overwritten and still needed
    for first, last in sections(n - 1, _SECTION):
        low, high = max(first - 1, 0), min(last + 2, n)
        part = np.concatenate([kept[low - at :], states[at + len(kept) if len(kept) else low : high]])
        weights = interval_weights(piece.times[low:high])
        changes = np.zeros((last - first, states.shape[1]))
        for group in equations:
            inputs = trajectory_inputs(group.features, piece, part, low, high)
            integrals = integrate_intervals(weights, flow.predict(group, inputs))[first - low : last - low]
            for j, target in enumerate(group.targets):
                changes[:, piece.names.index(target.state)] = integrals[:, j]
        at = max(last - 1, 0)
        kept = part[at - low : last + 1 - low].copy()
        z[first + 1 : last + 1] = changes
    z[0] = 0.0
    return np.asarray(np.cumsum(z, axis=0, out=z))


def _smooth_around(z: Array, piece: Trajectory) -> Array:
    """Add the smooth of what a piece has beyond z to z, and return noise^2 / degrees of freedom of each state."""
    together = len(piece) <= _LONG
    score = np.empty(z.shape[1])
    for j in [slice(None)] if together else [slice(k, k + 1) for k in range(z.shape[1])]:
        fit = whittaker(piece.states[:, j] - z[:, j], piece.times)
        z[:, j] += fit.values
        score[j] = fit.noise**2 / fit.degrees_of_freedom
    return score


def _squares(values: Array, others: Array | None = None) -> Array:
    """Return the sum of squares of each column, or of its difference to another one."""
    total = np.zeros(values.shape[1])
    for start in range(0, len(values), _SECTION):
        rows = slice(start, start + _SECTION)
        total += ((values[rows] if others is None else values[rows] - others[rows]) ** 2).sum(axis=0)
    return total


def _floored(noise: Array, states: Sequence[Array]) -> Array:
    squares = np.sum([_squares(values) for values in states], axis=0)
    return floored(noise, np.sqrt(squares / sum(map(len, states))))


def floored(noise: Array, size: Array) -> Array:
    """Return noise levels, at least rounding level of states of the given sizes (root mean squares)."""
    least = size.max() * _FLOOR or 1.0  # states that are all zero have no size
    return np.asarray(np.maximum(noise, _FLOOR * np.maximum(size, least)))


def _pieces(data: Trajectories) -> tuple[Trajectory, ...]:
    pieces = tuple(data[i].slice(a, b) for i, a, b in unbroken_ranges(data))
    if not pieces:
        raise DataError(
            f"IncrementForm: no trajectory has {_LEAST} samples in a row without a gap; measure longer "
            "ones, or use form=StrongForm(FiniteDifference()), which needs few samples but little noise."
        )
    return pieces


def unbroken_ranges(data: Trajectories) -> list[tuple[int, int, int]]:
    """Return the stretches (trajectory, start, stop) between gaps that are long enough to be smoothed."""
    ranges = []
    for i, member in enumerate(data):
        borders = [0, *(gap_starts(member.times) + 1).tolist(), len(member)]
        ranges += [(i, a, b) for a, b in pairwise(borders) if b - a >= _LEAST]
    return ranges


def order_one(equations: Sequence[EquationGroup], form: str) -> None:
    """Refuse equations for other than first derivatives."""
    for target in (target for group in equations for target in group.targets if target.order != 1):
        raise DataError(
            f"{form}: the equation {target.name} is of order {target.order}; only first derivatives have increments. "
            "Add the velocities as states, or use WeakForm."
        )

"""What the recognisers look at: measured and smoothed columns, their noise, and how fast they move."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.data import Trajectory
from exactsindy.discovery.read import Measurement

# Samples that are looked at; of longer data every second, third, ... one.
_MOST = 20_000
# Share of the root mean square of a column below which differences are rounding or the tolerance of a simulation.
ROUNDING = 1e-5
# Rows whose squares are formed at once.
_SECTION = 1 << 16


@dataclass(frozen=True, eq=False)
class View:
    """Pieces of trajectories with their smoothed states; the columns are the states and then the inputs.

    Inputs are the controls and, if ``constants`` is set, the parameters.

    ``noise`` (columns,) is the measurement noise, at least rounding; ``smooth_noise`` what smoothing leaves of it.
    ``per_period`` is the number of samples in a period, infinite if nothing moves.
    """

    pieces: tuple[Trajectory, ...]
    smoothed: tuple[Array, ...]
    noise: Array
    smooth_noise: Array
    per_period: float
    constants: bool = False

    @property
    def states(self) -> tuple[str, ...]:
        """Return the names of the states."""
        return self.pieces[0].names

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the columns: states, then inputs."""
        first = self.pieces[0]
        return (*first.names, *first.control_names, *(first.parameters if self.constants else ()))

    def inputs(self, piece: Trajectory) -> Array:
        """Return the inputs of a piece (n x inputs)."""
        return piece.inputs if self.constants else piece.controls

    @property
    def stride(self) -> int:
        """Return which share of the samples is looked at: 2 is every second one."""
        return max(1, -(-sum(map(len, self.pieces)) // _MOST))

    @cached_property
    def raw(self) -> Array:
        """Return the measured columns of all pieces, one below the other."""
        return np.vstack([np.hstack((p.states, self.inputs(p)))[:: self.stride] for p in self.pieces])

    @cached_property
    def calm(self) -> Array:
        """Return the smoothed columns of all pieces, one below the other; inputs as they are."""
        pairs = zip(self.smoothed, self.pieces, strict=True)
        return np.vstack([np.hstack((values, self.inputs(p)))[:: self.stride] for values, p in pairs])

    @cached_property
    def spread(self) -> Array:
        """Return the standard deviation of each smoothed column."""
        return np.asarray(self.calm.std(axis=0))

    @cached_property
    def rates(self) -> Array:
        """Return the slopes of the smoothed states, one piece below the other."""
        pairs = zip(self.smoothed, self.pieces, strict=True)
        return np.vstack([_rates(values, p.times, self.stride) for values, p in pairs])

    @cached_property
    def block(self) -> int:
        """Return how many of the samples looked at may be averaged without averaging the motion: a tenth of a period.

        At least 20 blocks are left.
        """
        count = len(self.raw)
        period = self.per_period / self.stride
        return max(1, int(min(period / 10, count / 20)) if math.isfinite(period) else count // 20)


def view_of(measured: Measurement, *, constants: bool = False) -> View:
    """Return the view of trajectories, ``constants``: with parameters; `DataError` if they are too short to smooth."""
    smoothed = measured.smoothed
    pieces = smoothed.pieces
    count = sum(map(len, pieces))
    squares = [np.hstack((_squares(p.states), _squares(p.inputs if constants else p.controls))) for p in pieces]
    size = np.sqrt(np.sum(squares, axis=0) / count)
    controls = len(size) - len(pieces[0].names)
    noise = np.maximum(np.concatenate((smoothed.measured_noise, np.zeros(controls))), ROUNDING * size)
    # score = noise^2 / degrees of freedom of the residual: what they leave of the samples follows the data.
    rows = zip(smoothed.values, pieces, smoothed.score, strict=True)
    left = sum(_residual_freedom(values, piece.states, score) for values, piece, score in rows)
    share = np.sqrt(np.clip(1.0 - left / count, 1.0 / count, 1.0))
    kept = noise * np.concatenate((share, np.ones(controls)))
    noise = np.where(noise > 0, noise, 1.0)
    return View(pieces, smoothed.values, noise, kept, measured.sampling.per_period, constants)


def _residual_freedom(values: Array, states: Array, score: Array) -> Array:
    """Return the degrees of freedom of a smooth's residual: score = (rss / freedom) / freedom."""
    rss = _squares(states, values)
    return np.asarray(np.sqrt(rss / np.maximum(score, np.finfo(float).tiny)))


def _squares(values: Array, others: Array | None = None) -> Array:
    """Return the sum of squares of each column, or of its difference to another one, a section at a time."""
    total = np.zeros(values.shape[1])
    for low in range(0, len(values), _SECTION):
        go_on()
        part = values[low : low + _SECTION]
        total += ((part if others is None else part - others[low : low + _SECTION]) ** 2).sum(axis=0)
    return total


def _rates(values: Array, times: Array, stride: int) -> Array:
    """Return the slopes of every so-manieth row of values, from its neighbours."""
    if stride == 1:
        return np.asarray(np.gradient(values, times, axis=0))
    at = np.arange(0, len(values), stride)
    before, after = np.maximum(at - 1, 0), np.minimum(at + 1, len(values) - 1)
    return np.asarray((values[after] - values[before]) / (times[after] - times[before])[:, None])

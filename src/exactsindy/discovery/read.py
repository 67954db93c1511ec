"""Read data of any accepted kind, and see how often they were sampled: the first stage of `discover`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from exactsindy._types import Array
from exactsindy.chunked import Assembly, Pieces
from exactsindy.data import Columns, Data, Field, Notice, Trajectories, as_data, parse_targets
from exactsindy.errors import DataError
from exactsindy.forms import Smoothed, smooth

# A state that moves by less than this share of its noise crosses its mean by chance. Half is little, because what is
# too coarse to be smoothed is taken for noise.
_STILL = 0.5


@dataclass(frozen=True)
class Sampling:
    """Samples of all trajectories, and periods of the state that has most (0 if nothing moves)."""

    samples: int
    periods: float

    @property
    def per_period(self) -> float:
        """Return the samples in a period; infinite if there is none."""
        return self.samples / self.periods if self.periods else math.inf


def _mean_crossings(values: Array) -> Array:
    """Return how often each state (samples x states) crosses its mean."""
    counts = np.zeros(values.shape[1])
    for j, column in enumerate(values.T):  # one by one: long data would need several times their memory
        signs = np.sign(column - column.mean()).astype(np.int8)
        counts[j] = np.count_nonzero(np.diff(signs))
    return counts


def crossings(states: Sequence[Array]) -> Array:
    """Return how often each smoothed state crosses its mean, in the trajectory in which it does so most often."""
    return np.asarray(np.max([_mean_crossings(values) for values in states], axis=0))


def sampling(states: Sequence[Array], noise: Array) -> Sampling:
    """Count the periods of smoothed states (samples x states of each trajectory) by crossings of their mean."""
    total, samples = np.zeros(len(noise)), 0
    for values in states:
        total += _mean_crossings(values)
        samples += len(values)
    spread = [[column.std() for column in values.T] for values in states]
    moves = np.max(spread, axis=0) > _STILL * noise
    return Sampling(samples, float((total * moves).max()) / 2)


@dataclass(frozen=True, eq=False)
class OutOfCore:
    """Data that are read piece by piece, and how much of them was read so far."""

    pieces: Pieces
    count: Assembly = field(default_factory=Assembly)


@dataclass(frozen=True, eq=False)
class Measurement:
    """What was measured, and the part of it that equations are sought in: all, unless steady tails were cut.

    Data that are read piece by piece are the ``source``; then what is here is a sample of them.
    """

    data: Data
    used: Data
    notices: tuple[Notice, ...] = ()
    source: OutOfCore | None = None

    @cached_property
    def smoothed(self) -> Smoothed:
        """The used trajectories, smoothed; computed once for trimming, forms and notices."""
        if isinstance(self.used, Field):
            raise DataError("smoothed states are those of trajectories; these data are a field.")
        return smooth(self.used)

    @cached_property
    def sampling(self) -> Sampling:
        """Samples and periods of the used trajectories."""
        return sampling(self.smoothed.values, self.smoothed.noise)


def read(source: Any, columns: Columns) -> Measurement:
    """Return the data as they were measured; refuse columns for data that are already read."""
    data = as_data(source, columns)
    if isinstance(source, Trajectories | Field):
        names = ("time", "states", "controls", "trajectory")
        unused = ", ".join(name for name in names if getattr(columns, name) is not None)
        if unused:
            raise DataError(f"{unused}: the data are already {type(data).__name__} and carry their own; leave it out.")
        if columns.parameters is not None and isinstance(data, Field):
            raise DataError("parameters: a field has none; expected trajectories.")
        if columns.targets is not None:
            wanted = parse_targets(columns.targets, data.state_names, field=isinstance(data, Field))
            data = replace(data, targets=wanted)
    return Measurement(data, data)

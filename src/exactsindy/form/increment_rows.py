"""Whitened increments of equations that share a library, block after block of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from exactsindy.form.equations import Group, trajectory_inputs
from exactsindy.form.hermite import HermiteFeatures
from exactsindy.form.quadrature import interval_weights
from exactsindy.form.smoothing import Smoothed
from exactsindy.form.trial import Trial
from exactsindy.form.whitening import Increments, Whitening, increment_covariance
from exactsindy.library import Features, Variable
from exactsindy.problem import Problem
from exactsindy.problem.build import Collector

Array = NDArray[np.float64]
# (theta, target) of each equation: their rows differ by the whitening only, so they come together.
Chunks = tuple[tuple[Array, Array], ...]

# Rows whitened together: few enough that the tables of all equations stay in the second-level cache.
BLOCK_ROWS = 1024


@dataclass(frozen=True, eq=False)
class GroupRows:
    """The whitened rows of the equations of a group, piece after piece."""

    group: Group
    smoothed: Smoothed
    model: Trial | None
    raw: bool
    hermite: bool

    @property
    def n_rows(self) -> int:
        """Return the number of rows: one per interval."""
        return sum(len(piece) - 1 for piece in self.smoothed.pieces)

    def chunks(self) -> Iterator[Chunks]:
        """Yield whitened (theta, target) of every equation."""
        for i in range(len(self.smoothed.pieces)):
            yield from self._piece(i)

    @cached_property
    def _columns(self) -> Features | HermiteFeatures:
        features = self.group.features
        return HermiteFeatures(features, self.smoothed.noise) if self.hermite else features

    def _piece(self, i: int) -> Iterator[Chunks]:
        piece, values = self.smoothed.pieces[i], self.smoothed.values[i]
        states = piece.states if self.raw else values
        own = [piece.names.index(target.state) for target in self.group.targets]
        weights = interval_weights(piece.times)
        whitenings = self._whitenings(i)
        previous = np.zeros((len(own), len(self.group.features.terms) + 1))
        n = len(piece)
        for start in range(0, n - 1, BLOCK_ROWS):
            stop = min(start + BLOCK_ROWS, n - 1)
            low, high = max(start - 1, 0), min(stop + 2, n)
            inputs = trajectory_inputs(self.group.features, piece, states[low:high], low, high)
            columns = np.ascontiguousarray(self._columns.evaluate(inputs).T)
            increments = Increments(columns, start - low, weights[start:stop])
            change = np.diff(piece.states[start : stop + 1], axis=0)
            rows = [
                whitening.apply(increments, change[:, state], start, before)
                for whitening, state, before in zip(whitenings, own, previous, strict=True)
            ]
            yield tuple((table[:-1].T, table[-1:].T) for table in rows)

    def _whitenings(self, i: int) -> list[Whitening]:
        piece, values = self.smoothed.pieces[i], self.smoothed.values[i]
        targets = self.group.targets
        slopes = np.zeros((len(piece), len(targets), len(piece.names)))
        if self.model is not None:
            inputs = trajectory_inputs(self.group.features, piece, values, 0, len(piece))
            slopes = self.model.jacobian(self.group, inputs, [Variable(name) for name in piece.names])
        steps = np.diff(piece.times)
        return [
            Whitening.of(
                *increment_covariance(steps, slopes[:, j], self.smoothed.noise, piece.names.index(target.state))
            )
            for j, target in enumerate(targets)
        ]


def compressed(group: Group, chunks: Iterable[Chunks]) -> list[Problem]:
    """Return the problem of every equation of a group, all compressed in step."""
    collectors = [Collector(group.features.terms, (name,)) for name in group.target_names]
    for together in chunks:
        for collector, chunk in zip(collectors, together, strict=True):
            collector.add(chunk)
    return [Problem((collector.block(),)) for collector in collectors]


def split(chunks: Iterable[Chunks], borders: list[int]) -> Iterator[list[Chunks]]:
    """Yield the chunks between borders (row numbers), cutting them where a border falls inside."""
    stream = iter(chunks)
    held = next(stream)
    at = 0
    for low, high in pairwise(borders):
        part: list[Chunks] = []
        wanted = high - low
        while wanted:
            if at == len(held[0][0]):
                held, at = next(stream), 0
            count = min(wanted, len(held[0][0]) - at)
            part.append(tuple((theta[at : at + count], y[at : at + count]) for theta, y in held))
            at, wanted = at + count, wanted - count
        yield part

"""Samples in the units and the order in which orbits are fitted to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from exactsindy.form.equations import Group
from exactsindy.form.quadrature import integrate_intervals, interval_weights
from exactsindy.form.smoothing import Smoothed
from exactsindy.library import Features
from exactsindy.likelihood.step import Flow, Support

Array = NDArray[np.float64]


class Measured(Protocol):
    """Samples of states in units of their noise, piece after piece, and the equations that some states obey."""

    @property
    def equations(self) -> tuple[Group, ...]:
        """Return the equations with their libraries."""

    @property
    def samples(self) -> Array:
        """Return the measured states (samples x states)."""

    @property
    def guess(self) -> Array:
        """Return the smoothed states."""

    @property
    def times(self) -> tuple[Array, ...]:
        """Return the times of every piece."""

    @property
    def weights(self) -> Array:
        """Return the weights of the integrals over intervals; rows between two pieces are 0."""

    @property
    def own(self) -> NDArray[np.int64]:
        """Return the states that have an equation, in its order."""

    def columns_of(self, equation: int) -> NDArray[np.int64]:
        """Return the states whose rates an equation of `equations` gives: one, or all modes of a field."""

    def flow(self, supports: tuple[Support, ...]) -> Flow:
        """Return the model with these terms in its equations."""


@dataclass(frozen=True, eq=False)
class MeasuredTrajectories:
    """Trajectories cut at gaps, end to end, in units of the noise of each state.

    Parameters
    ----------
    smoothed
        The pieces, a first guess of their states, and the noise.
    equations
        The equations with their libraries.
    """

    smoothed: Smoothed
    equations: tuple[Group, ...]

    @cached_property
    def samples(self) -> Array:
        """Return the measured states (samples x states)."""
        return np.vstack([piece.states for piece in self.smoothed.pieces]) / self.smoothed.noise

    @cached_property
    def guess(self) -> Array:
        """Return the smoothed states."""
        return np.vstack(self.smoothed.values) / self.smoothed.noise

    @property
    def times(self) -> tuple[Array, ...]:
        """Return the times of every piece."""
        return tuple(piece.times for piece in self.smoothed.pieces)

    @cached_property
    def weights(self) -> Array:
        """Return the weights of the integrals over intervals; rows between two pieces are 0."""
        gap = np.zeros((1, 4))
        parts = [part for times in self.times for part in (interval_weights(times), gap)]
        return np.vstack(parts[:-1])

    @cached_property
    def own(self) -> NDArray[np.int64]:
        """Return the state whose rate each equation gives."""
        names = self.smoothed.pieces[0].names
        return np.array([names.index(t.state) for group in self.equations for t in group.targets], dtype=np.int64)

    def columns_of(self, equation: int) -> NDArray[np.int64]:
        """Return the state whose rate an equation gives."""
        return self.own[[equation]]

    def flow(self, supports: tuple[Support, ...]) -> Flow:
        """Return the model with these terms in its equations."""
        from exactsindy.likelihood.trajectory_flow import TrajectoryFlow

        return TrajectoryFlow(self, supports)


def within(measured: Measured) -> NDArray[np.bool_]:
    """Return which intervals lie within a piece."""
    return np.asarray(measured.weights.any(axis=1))


def row_count(measured: Measured) -> int:
    """Return how many equations the states must obey: intervals times states that have one."""
    return int(within(measured).sum()) * len(measured.own)


def target_names(measured: Measured) -> tuple[str, ...]:
    """Return the names of the equations."""
    return tuple(target.name for group in measured.equations for target in group.targets)


def features_of(measured: Measured, equation: int) -> Features:
    """Return the library of an equation."""
    return [group.features for group in measured.equations for _ in group.targets][equation]


def by_piece(measured: Measured, rows: Array) -> list[Array]:
    """Return rows, one per sample, piece by piece."""
    ends = np.cumsum([len(times) for times in measured.times])[:-1]
    return list(np.split(rows, ends))


def defects(measured: Measured, states: Array, rates: Array) -> Array:
    """Return what states leave of their equations, given their rates (intervals x equations of states)."""
    change = np.diff(states[:, measured.own], axis=0) - integrate_intervals(measured.weights, rates)
    change[~within(measured)] = 0.0
    return np.asarray(change)


def by_group(measured: Measured, supports: tuple[Support, ...]) -> Iterator[tuple[Group, tuple[Support, ...], slice]]:
    """Yield the groups of equations that share a library, the supports of their equations, and which those are."""
    at = 0
    for group in measured.equations:
        mine = slice(at, at + len(group.targets))
        yield group, supports[mine], mine
        at = mine.stop


def offsets(supports: Sequence[Support]) -> NDArray[np.int64]:
    """Return where the coefficients of each equation begin, and the end."""
    return np.concatenate([[0], np.cumsum([len(s) for s in supports])]).astype(np.int64)

"""Samples of trajectories in the units and the order in which orbits are fitted to them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy.form.equations import Group
from exactsindy.form.quadrature import interval_weights
from exactsindy.form.smoothing import Smoothed
from exactsindy.library import Features

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Measured:
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

    @cached_property
    def weights(self) -> Array:
        """Return the weights of the integrals over intervals; rows between two pieces are 0."""
        gap = np.zeros((1, 4))
        parts = [part for piece in self.smoothed.pieces for part in (interval_weights(piece.times), gap)]
        return np.vstack(parts[:-1])

    @cached_property
    def within(self) -> NDArray[np.bool_]:
        """Return which intervals lie within a piece."""
        return np.asarray(self.weights.any(axis=1))

    @cached_property
    def own(self) -> NDArray[np.int64]:
        """Return the state whose rate each equation gives."""
        names = self.smoothed.pieces[0].names
        return np.array([names.index(t.state) for group in self.equations for t in group.targets], dtype=np.int64)

    @cached_property
    def noise(self) -> Array:
        """Return the noise of that state, for each equation."""
        return np.asarray(self.smoothed.noise[self.own])

    @property
    def n_rows(self) -> int:
        """Return how many equations the states must obey: intervals times equations."""
        return int(self.within.sum()) * len(self.own)

    def pieces(self, states: Array) -> list[Array]:
        """Return states, given in units of the noise, piece by piece in their own units."""
        ends = np.cumsum([len(piece) for piece in self.smoothed.pieces])[:-1]
        return list(np.split(states * self.smoothed.noise, ends))

    def features_of(self, equation: int) -> Features:
        """Return the library of an equation."""
        return [group.features for group in self.equations for _ in group.targets][equation]

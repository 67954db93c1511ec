"""Trajectories in the units and the order in which orbits are fitted to them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy.forms import EquationGroup, Smoothed, interval_weights
from exactsindy.trajectory_fit.protocols import Flow, Support

Array = NDArray[np.float64]


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
    equations: tuple[EquationGroup, ...]

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
        from exactsindy.trajectory_fit.trajectory_flow import TrajectoryFlow

        return TrajectoryFlow(self, supports)

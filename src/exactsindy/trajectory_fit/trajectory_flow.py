"""A model of trajectories as the equations of their states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy import _native
from exactsindy.forms import integrate_intervals
from exactsindy.trajectory_fit.dynamics import Dynamics
from exactsindy.trajectory_fit.measured import by_group, by_piece, defects, offsets
from exactsindy.trajectory_fit.measured_trajectories import MeasuredTrajectories
from exactsindy.trajectory_fit.protocols import GaussNewtonStep, Support

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TrajectoryFlow:
    """One equation per state; each Gauss-Newton step is one banded solve.

    Parameters
    ----------
    measured
        The samples.
    supports
        Per equation the columns of its terms.
    """

    measured: MeasuredTrajectories
    supports: tuple[Support, ...]

    @cached_property
    def _parts(self) -> tuple[tuple[Dynamics, slice], ...]:
        """Return the equations of every group, and which they are."""
        parts = by_group(self.measured, self.supports)
        return tuple((Dynamics(group, supports), mine) for group, supports, mine in parts)

    @cached_property
    def _noise(self) -> Array:
        """Return the noise of the state of each equation."""
        return np.asarray(self.measured.smoothed.noise[self.measured.own])

    def _pieces(self, states: Array) -> list[Array]:
        """Return the states piece by piece in their own units."""
        return by_piece(self.measured, states * self.measured.smoothed.noise)

    def rates(self, states: Array, coef: Sequence[Array]) -> Array:
        """Return the right-hand sides (samples x equations), in units of the noise."""
        pieces, trajectories = self._pieces(states), self.measured.smoothed.pieces
        found = [
            np.vstack([part.rates(*both, coef[mine]) for both in zip(trajectories, pieces, strict=True)])
            for part, mine in self._parts
        ]
        return np.hstack(found) / self._noise

    def step(self, states: Array, coef: Sequence[Array], precision: float, damping: float) -> GaussNewtonStep | None:
        """Return the change that minimises the linearised misfit; None where the model overflows."""
        m, p = self.measured, sum(map(len, coef))
        with np.errstate(all="ignore"):
            parts = [np.ascontiguousarray(part) for part in self._linear(states, coef)]
        if not all(np.isfinite(part).all() for part in parts):
            return None
        defect, integrals, slopes = parts
        to = (np.empty_like(states), np.empty(p), np.empty((p, p)), np.empty(p))
        given = (m.samples - states, defect, m.weights, slopes, integrals, m.own, offsets(self.supports))
        profiled, moves = _native.trajectory_step(*given, precision, damping, *to)
        return GaussNewtonStep(*to, moves) if profiled else None

    def _linear(self, states: Array, coef: Sequence[Array]) -> tuple[Array, Array, Array]:
        """Return the defects, the integrated terms (intervals x coefficients) and the slopes, in units of the noise."""
        m, pieces = self.measured, self._pieces(states)
        rates, terms, slopes = [], [], []
        for part, mine in self._parts:
            found = [part.linear(*both, coef[mine]) for both in zip(m.smoothed.pieces, pieces, strict=True)]
            rates.append(np.vstack([r for r, _, _ in found]))
            terms += [np.hstack([t[j] for _, t, _ in found]) for j in range(mine.stop - mine.start)]
            slopes.append(np.vstack([s for _, _, s in found]))
        columns = np.vstack([theta / noise for theta, noise in zip(terms, self._noise, strict=True)])
        scaled = np.concatenate(slopes, axis=1) * (m.smoothed.noise / self._noise[:, None])
        return (
            defects(m, states, np.hstack(rates) / self._noise),
            integrate_intervals(m.weights, columns.T),
            scaled,
        )

"""The most likely orbit of a model through noisy samples, and how well it fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy import _native
from exactsindy.data import Trajectory
from exactsindy.form.quadrature import integrate_intervals
from exactsindy.likelihood.dynamics import Dynamics
from exactsindy.likelihood.measured import Measured

Array = NDArray[np.float64]
Support = tuple[int, ...]

# Errors that the equations may have in a step, in units of the noise: loose at first, so that the states can follow
# the data while the coefficients settle, then tight.
SCHEDULE = (0.3, 0.1, 0.03, 0.01)
# From the orbit of a model that differs in few terms the last one will do.
WARM = SCHEDULE[-1:]
_STEPS, _LAST_STEPS = 4, 15
# A step that lowers the misfit by less (units of the noise squared; before the last tolerance a share) is the last.
_ENOUGH, _ENOUGH_BEFORE = 5e-2, 1e-3
# Raises of the damping, ten-fold each, before a step is given up.
_TRIES = 6


@dataclass(frozen=True, eq=False)
class Orbit:
    """States and coefficients that fit best.

    Parameters
    ----------
    states
        In units of the noise (samples x states).
    coef
        Per equation the coefficients of its terms.
    misfit
        Squared distance to the samples plus the squared errors of the equations in units of their tolerance; about
        as large as the number of rows if the model is right and the noise as estimated. Infinite if no orbit was
        found.
    """

    states: Array
    coef: tuple[Array, ...]
    misfit: float


@dataclass(frozen=True, eq=False)
class Step:
    """A Gauss-Newton step, and the least misfit as a function of changed coefficients dp.

    It is ``constant - 2 slope' dp + dp' curvature dp``. ``moves`` says whether the changes of states and coefficients
    are defined: not if terms are dependent.
    """

    states: Array
    coef: Array
    curvature: Array
    slope: Array
    moves: bool


@dataclass(frozen=True, eq=False)
class OrbitModel:
    """A model whose coefficients and orbit are sought together.

    Between samples the orbit obeys the equations (integrals by local cubics) up to a tolerance far below the noise;
    the states are free otherwise, so that chaos does no harm. Each Gauss-Newton step is one banded solve.

    Parameters
    ----------
    measured
        The samples.
    supports
        Per equation the columns of its terms.
    """

    measured: Measured
    supports: tuple[Support, ...]

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Return where the coefficients of each equation begin, and the end."""
        return np.concatenate([[0], np.cumsum([len(s) for s in self.supports])]).astype(np.int64)

    @cached_property
    def _parts(self) -> tuple[tuple[Dynamics, slice], ...]:
        """Return the equations of every group, and which they are."""
        found, at = [], 0
        for group in self.measured.equations:
            mine = slice(at, at + len(group.targets))
            found.append((Dynamics(group, self.supports[mine]), mine))
            at = mine.stop
        return tuple(found)

    def split(self, coef: Array) -> list[Array]:
        """Return the coefficients of each equation."""
        return [coef[a:b] for a, b in zip(self.first[:-1], self.first[1:], strict=True)]

    def misfit(self, states: Array, coef: Array, tolerance: float) -> float:
        """Return the misfit of states and coefficients; infinite where the model overflows."""
        xi, pieces = self.split(coef), self.measured.pieces(states)
        with np.errstate(all="ignore"):
            rates = [
                np.vstack([part.rates(*both, xi[mine]) for both in zip(self._trajectories, pieces, strict=True)])
                for part, mine in self._parts
            ]
            defect = self._defect(states, np.hstack(rates))
            total = ((self.measured.samples - states) ** 2).sum() + (defect**2).sum() / tolerance**2
        return float(total) if np.isfinite(total) else np.inf

    @property
    def _trajectories(self) -> tuple[Trajectory, ...]:
        return self.measured.smoothed.pieces

    def _defect(self, states: Array, rates: Array) -> Array:
        """Return what states leave of the equations (intervals x equations), in units of the noise."""
        m = self.measured
        change = np.diff(states[:, m.own], axis=0) - integrate_intervals(m.weights, rates / m.noise)
        change[~m.within] = 0.0
        return np.asarray(change)

    def _linear(self, states: Array, coef: Array) -> tuple[Array, Array, Array]:
        """Return the defects, the integrated terms (intervals x coefficients) and the slopes, in units of the noise."""
        m, xi, pieces = self.measured, self.split(coef), self.measured.pieces(states)
        rates, terms, slopes = [], [], []
        for part, mine in self._parts:
            found = [part.linear(*both, xi[mine]) for both in zip(self._trajectories, pieces, strict=True)]
            rates.append(np.vstack([r for r, _, _ in found]))
            terms += [np.hstack([t[j] for _, t, _ in found]) for j in range(mine.stop - mine.start)]
            slopes.append(np.vstack([s for _, _, s in found]))
        columns = np.vstack([theta / noise for theta, noise in zip(terms, m.noise, strict=True)])
        scaled = np.concatenate(slopes, axis=1) * (m.smoothed.noise / m.noise[:, None])
        return self._defect(states, np.hstack(rates)), integrate_intervals(m.weights, columns.T), scaled

    def quadrature_error(self, orbit: Orbit) -> float:
        """Return how much the integrals over intervals err, in units of the noise (root mean square, worst equation).

        The cubic through four samples errs by 11/720 of the step times the fourth difference of the rates.
        """
        m, pieces = self.measured, self.measured.pieces(orbit.states)
        worst = 0.0
        for part, mine in self._parts:
            errors = []
            for piece, x in zip(self._trajectories, pieces, strict=True):
                rates = part.rates(piece, x, orbit.coef[mine]) / m.noise[mine]
                steps = np.diff(piece.times)[: max(len(piece) - 4, 0), None]
                errors.append(11 / 720 * steps * np.diff(rates, 4, axis=0))
            worst = max(worst, float(np.sqrt(np.mean(np.vstack(errors) ** 2, axis=0)).max()))
        return worst

    def step(self, states: Array, coef: Array, tolerance: float, damping: float = 0.0) -> Step | None:
        """Return the change that minimises the linearised misfit; None where the model overflows."""
        m, p = self.measured, len(coef)
        with np.errstate(all="ignore"):
            parts = [np.ascontiguousarray(part) for part in self._linear(states, coef)]
        if not all(np.isfinite(part).all() for part in parts):
            return None
        defect, integrals, slopes = parts
        to = (np.empty_like(states), np.empty(p), np.empty((p, p)), np.empty(p))
        given = (m.samples - states, defect, m.weights, slopes, integrals, m.own, self.first)
        profiled, moves = _native.orbit_step(*given, tolerance**-2, damping, *to)
        return Step(*to, moves) if profiled else None

    def fit(self, coef: Sequence[Array], states: Array | None = None, schedule: Sequence[float] = SCHEDULE) -> Orbit:
        """Return the best states and coefficients near a first guess (the smoothed states by default)."""
        x = self.measured.guess if states is None else states
        xi = np.concatenate([np.asarray(part, dtype=float) for part in coef])
        misfit = np.inf
        for tolerance in schedule:
            last = tolerance == schedule[-1]
            misfit = self.misfit(x, xi, tolerance)
            damping = 0.0
            for _ in range(_LAST_STEPS if last else _STEPS):
                moved = self._descend(x, xi, misfit, tolerance, damping)
                if moved is None:
                    break
                x, xi, after, damping = moved
                fall, misfit = misfit - after, after
                if fall < (_ENOUGH if last else _ENOUGH_BEFORE * misfit):
                    break
        return Orbit(x, tuple(self.split(xi)), misfit)

    def _descend(
        self, x: Array, xi: Array, misfit: float, tolerance: float, damping: float
    ) -> tuple[Array, Array, float, float] | None:
        """Return states, coefficients, misfit and damping after a step that does not raise the misfit."""
        for _ in range(_TRIES):
            step = self.step(x, xi, tolerance, damping)
            if step is not None and step.moves:
                after = self.misfit(x + step.states, xi + step.coef, tolerance)
                if after <= misfit:
                    return x + step.states, xi + step.coef, after, damping / 10 if damping > 1e-6 else 0.0
            damping = max(10 * damping, 1e-3)
        return None

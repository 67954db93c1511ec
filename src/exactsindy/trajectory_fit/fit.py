"""Find the most likely trajectory of a model through noisy samples, and how well it fits."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.trajectory_fit.protocols import Flow, GaussNewtonStep, Measured, Support, offsets, residuals

# Tolerances of the equations over an interval, in units of the noise: loose at first, so that the states can follow
# the data while the coefficients converge, then tight. Each is about a third of the one before; at 0.01 the errors of
# the equations no longer show in the misfit.
SCHEDULE = (0.3, 0.1, 0.03, 0.01)
# The tolerances for a start at the fit of a model that differs in few terms: the last one suffices.
WARM = SCHEDULE[-1:]
# Samples beyond which the last tolerance falls in proportion: errors of the equations add up along a record, and could
# take for the law's what is noise. (20,000 samples of a circle: three cubic terms gain 190 instead of 4.)
_LONG = 5_000
# Largest number of Gauss-Newton steps at every tolerance but the last, and at the last.
_STEPS, _LAST_STEPS = 4, 15
# A step that lowers the misfit by less than this is the last one: at the last tolerance in units of the noise squared,
# far below the cost of a term; before it as a share of the misfit.
_ENOUGH, _ENOUGH_BEFORE = 5e-2, 1e-3
# At most so often is a fit continued because its last states ask for more sub-steps of the integration.
_REFINEMENTS = 3
# Attempts at a step, the Marquardt damping raised ten-fold after each, before the fit ends.
_TRIES = 6


def schedule(measured: Measured) -> tuple[float, ...]:
    """Return the tolerances of a fit to these samples; see `last_tolerance`."""
    last = last_tolerance(measured)
    return SCHEDULE if last == SCHEDULE[-1] else (*SCHEDULE, last)


def last_tolerance(measured: Measured) -> float:
    """Return the tolerance of the equations over an interval in units of the noise, smaller for long records.

    Not smaller than errors between samples are.
    """
    count = sum(map(len, measured.times))
    least = getattr(measured, "least_tolerance", SCHEDULE[-1])
    return float(min(SCHEDULE[-1], max(SCHEDULE[-1] * _LONG / count, least)))


@dataclass(frozen=True, eq=False)
class TrajectoryFit:
    """States (samples x states, in units of the noise) and coefficients of each equation that fit the samples best.

    ``misfit`` is the squared distance to the samples plus the squared errors of the equations in units of their
    tolerance; about as large as the number of rows if the model is right and the noise as estimated. It is infinite
    if no trajectory was found.
    """

    states: Array
    coef: tuple[Array, ...]
    misfit: float


@dataclass(frozen=True, eq=False)
class TrajectoryModel:
    """A model whose coefficients and states are fitted together.

    Between samples the trajectory obeys the equations (by local cubics or integrated) up to a tolerance far below the
    noise; the states are free otherwise, so that chaos does no harm. Coefficients of the equations ``held`` stay.
    """

    measured: Measured
    supports: tuple[Support, ...]
    held: frozenset[int] = frozenset()

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """Return where the coefficients of each equation begin, and the end."""
        return offsets(self.supports)

    @cached_property
    def _flow(self) -> Flow:
        return self.measured.flow(self.supports)

    def split(self, coef: Array) -> list[Array]:
        """Return the coefficients of each equation."""
        return [coef[a:b] for a, b in zip(self.first[:-1], self.first[1:], strict=True)]

    def misfit(self, states: Array, coef: Array, tolerance: float, flow: Flow | None = None) -> float:
        """Return the misfit of states and coefficients; infinite where the model overflows."""
        with np.errstate(all="ignore"):
            defect = (self._flow if flow is None else flow).defects(states, self.split(coef))
            total = (residuals(self.measured, states) ** 2).sum() + (defect**2).sum() / tolerance**2
        return float(total) if np.isfinite(total) else np.inf

    def errors(self, fit: TrajectoryFit) -> Array:
        """Return how much integrals over intervals err (intervals x states with an equation), in units of the noise."""
        with np.errstate(all="ignore"):
            return self._flow.errors(fit.states, fit.coef)

    def step(self, states: Array, coef: Array, tolerance: float, damping: float = 0.0) -> GaussNewtonStep | None:
        """Return the change that minimises the linearised misfit; None where the model overflows."""
        parts = self.split(coef)
        return self._flow.refined(states, parts).step(states, parts, tolerance**-2, damping, self.held)

    def fit(
        self,
        coef: Sequence[Array],
        states: Array | None = None,
        tolerances: Sequence[float] | None = None,
        deadline: float = math.inf,
    ) -> TrajectoryFit:
        """Return the best states and coefficients near a first guess (the smoothed states by default).

        ``tolerances`` are those of `schedule` by default. After ``deadline`` (of `time.monotonic`) no step is begun:
        the fit is then not yet the best one.
        """
        every = schedule(self.measured) if tolerances is None else tuple(tolerances)
        flow, x = self._flow, self.measured.guess if states is None else states
        xi = np.concatenate([np.asarray(part, dtype=float) for part in coef])
        for tolerance in every[:-1]:
            x, xi, _ = self._converged(flow, x, xi, tolerance, False, deadline)
        flow = flow.refined(x, self.split(xi))
        for _ in range(_REFINEMENTS):
            x, xi, misfit = self._converged(flow, x, xi, every[-1], True, deadline)
            # Where the states have moved to, integration may need more sub-steps than where they were.
            before, flow = flow, flow.refined(x, self.split(xi))
            if flow is before:
                break
        return TrajectoryFit(x, tuple(self.split(xi)), misfit)

    def _converged(
        self, flow: Flow, x: Array, xi: Array, tolerance: float, last: bool, deadline: float
    ) -> tuple[Array, Array, float]:
        """Return states, coefficients and misfit after steps at one tolerance, until they gain little or time is up."""
        misfit, damping = self.misfit(x, xi, tolerance, flow), 0.0
        for _ in range(_LAST_STEPS if last else _STEPS):
            go_on()
            if time.monotonic() > deadline:
                break
            moved = self._descend(flow, x, xi, misfit, tolerance, damping)
            if moved is None:
                break
            x, xi, after, damping = moved
            fall, misfit = misfit - after, after
            if fall < (_ENOUGH if last else _ENOUGH_BEFORE * misfit):
                break
        return x, xi, misfit

    def _descend(
        self, flow: Flow, x: Array, xi: Array, misfit: float, tolerance: float, damping: float
    ) -> tuple[Array, Array, float, float] | None:
        """Return states, coefficients, misfit and damping after a step that does not raise the misfit."""
        for _ in range(_TRIES):
            step = flow.step(x, self.split(xi), tolerance**-2, damping, self.held)
            if step is not None and step.moves:
                after = self.misfit(x + step.states, xi + step.coef, tolerance, flow)
                if after <= misfit:
                    return x + step.states, xi + step.coef, after, damping / 10 if damping > 1e-6 else 0.0
            damping = max(10 * damping, 1e-3)
        return None

"""Weak rows made independent: windows that overlap share the noise of their samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Field, Trajectories, Trajectory
from exactsindy.differentiation import whittaker
from exactsindy.forms.base import NotPositiveDefinite, Trial, trajectory_inputs
from exactsindy.forms.increment.smoothing import floored, pooled_noise
from exactsindy.forms.weak.placement import sample_lines
from exactsindy.forms.weak.window_rows import TrajectoryRows
from exactsindy.library import Variable

# Added to the covariance, as a share of its mean diagonal. Smooth windows that overlap heavily span far fewer
# directions than there are of them; in all others rounding and quadrature would pass for information.
RIDGE = 1e-10
# Samples whose share of the covariance is added at once: their weights stay in cache.
_SAMPLES = 512


@dataclass(frozen=True, eq=False)
class WhitenedRows:
    """The whitened rows of one equation, with the Cholesky factor and the ridge of their covariance."""

    theta: Array
    target: Array
    factor: Array
    ridge: float

    @classmethod
    def of(cls, theta: Array, target: Array, covariance: Array) -> WhitenedRows:
        """Whiten rows (n x terms, n) by the Cholesky factor of the covariance of their errors and a small ridge."""
        from scipy.linalg import LinAlgError, cholesky, solve_triangular  # loaded when needed: importing it is slow

        n = len(covariance)
        ridge = RIDGE * float(np.trace(covariance)) / n
        try:
            factor = cholesky(covariance + ridge * np.eye(n), lower=True)
        except (LinAlgError, ValueError):
            raise NotPositiveDefinite(
                "WeakForm(model=...): the covariance of the rows is not finite or not positive definite; the trial "
                "model's slopes are too large. Use model=None, or a trial model with smaller coefficients."
            ) from None
        rows = solve_triangular(factor, np.column_stack([theta, target]), lower=True)
        return cls(rows[:, :-1], rows[:, -1:], factor, ridge)

    @property
    def expected(self) -> float:
        """Return the sum of squares that noise alone leaves in the rows: tr (C + ridge)^-1 C."""
        from scipy.linalg import solve_triangular

        inverse = solve_triangular(self.factor, np.eye(len(self)), lower=True)
        return len(self) - self.ridge * float((inverse**2).sum())

    def __len__(self) -> int:
        return len(self.theta)

    def rows(self, low: int, high: int) -> Iterator[tuple[Array, Array]]:
        """Yield (theta, target) of the rows ``low`` to ``high``."""
        yield self.theta[low:high], self.target[low:high]


@dataclass(frozen=True, eq=False)
class NoisyStates:
    """The smoothed states of every trajectory, at which slopes are taken, and the noise of each state."""

    members: tuple[Trajectory, ...]
    values: tuple[Array, ...]
    noise: Array

    @classmethod
    def of(cls, data: Trajectories) -> NoisyStates:
        """Smooth by `whittaker`; the noise is pooled over trajectories by degrees of freedom."""
        fits = [whittaker(member.states, member.times) for member in data]
        noise = pooled_noise(fits, [member.states for member in data])
        return cls(tuple(data), tuple(fit.values for fit in fits), noise)

    def covariance(self, rows: TrajectoryRows, j: int, model: Trial) -> Array:
        """Return the covariance of the errors of the rows of equation j.

        To first order the error of a row is sum_i e_l(t_i) [(-1)^q w_i^(q) delta_jl - w_i J_jl(x_i)], with w^(q)
        the weights of the q-th derivative of the test function, q the order of the equation.
        """
        member = rows.member
        states = self.values[[id(m) for m in self.members].index(id(member))]
        features, target = rows.group.features, rows.group.targets[j]
        own = member.names.index(target.state)
        inputs = trajectory_inputs(features, member, states, 0, len(member))
        slopes = model.jacobian(rows.group, inputs, [Variable(name) for name in member.names])[:, j]
        starts, stops = rows.windows.starts, rows.windows.starts + rows.windows.lengths
        total = np.zeros((len(rows), len(rows)))
        for low in range(0, len(member), _SAMPLES):
            high = min(low + _SAMPLES, len(member))
            meet = np.flatnonzero((starts < high) & (stops > low))
            plain = rows.weights(meet, low, high, 0)
            part = np.zeros((len(meet), len(meet)))
            for i, level in enumerate(self.noise):
                weights = -plain * slopes[low:high, i]
                if i == own:
                    weights += (-1.0) ** target.order * rows.weights(meet, low, high, target.order)
                weights *= level
                part += weights @ weights.T
            total[np.ix_(meet, meet)] += part
        return total


def field_noise(data: Field) -> Array:
    """Return the standard deviation of white noise in each field: the least that smoothing along an axis finds.

    A field may be too coarse along one axis for its changes to be told from noise, but not along all.
    """
    noise, size = np.full(len(data.names), np.inf), np.zeros(len(data.names))
    for i, x in enumerate(data.coords):
        if len(x) < 8:
            continue
        for f, values in enumerate(data.values):
            lines = sample_lines([values], i)
            if lines.shape[1]:
                fit = whittaker(lines, x)
                freedom = fit.degrees_of_freedom
                size[f] = max(size[f], np.sqrt(np.mean(lines**2)))
                noise[f] = min(noise[f], float(np.sqrt((fit.noise**2 * freedom).sum() / freedom.sum())))
    return floored(np.where(np.isfinite(noise), noise, 0.0), size)


def stacked(chunks: Iterator[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return all rows at once."""
    theta, target = zip(*chunks, strict=True)
    return np.vstack(theta), np.vstack(target)

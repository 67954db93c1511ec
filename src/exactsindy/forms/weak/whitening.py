"""Weak rows made independent: windows that overlap share the noise of their samples."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.data import Field, Trajectories, Trajectory
from exactsindy.differentiation import whittaker
from exactsindy.forms.base import Coefficients, NotPositiveDefinite, Trial, trajectory_inputs
from exactsindy.forms.increment.resolution import unresolved
from exactsindy.forms.increment.smoothing import floored, pooled_noise
from exactsindy.forms.weak.by_parts import ByParts
from exactsindy.forms.weak.placement import sample_lines
from exactsindy.forms.weak.window_rows import FieldRows, TrajectoryRows
from exactsindy.library import Features, Term, Variable

Index = NDArray[np.intp]

# Added to the covariance, as a share of its mean diagonal. Smooth windows that overlap heavily span far fewer
# directions than there are of them; in all others rounding and quadrature would pass for information.
RIDGE = 1e-10
# The same for fields, as a share of the mean diagonal that the left-hand side alone gives. In directions in which
# windows see hardly any noise of it, that of the columns themselves would pass for information. Shares from 1e-4 to
# 1e-1 chose alike on tuning fields (shocks and solitons).
FIELD_RIDGE = 1e-3
# The order of differences from which noise is estimated, which smooth waves hardly reach.
_ORDER = 4
# Samples whose share of the covariance is added at once: their weights stay in cache.
_SAMPLES = 512
# Weights of fields held at once, whatever the length of the data: 8 megabytes, and as many indices.
_NUMBERS = 1 << 20


@dataclass(frozen=True, eq=False)
class WhitenedRows:
    """The whitened rows of one equation, with the Cholesky factor and the ridge of their covariance."""

    theta: Array
    target: Array
    factor: Array
    ridge: float

    @classmethod
    def of(cls, theta: Array, target: Array, covariance: Array, ridge: float | None = None) -> WhitenedRows:
        """Whiten rows (n x terms, n) by the Cholesky factor of the covariance of their errors and a small ridge."""
        from scipy.linalg import LinAlgError, cholesky, solve_triangular  # loaded when needed: importing it is slow

        n = len(covariance)
        ridge = RIDGE * float(np.trace(covariance)) / n if ridge is None else ridge
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

    @property
    def log_determinant(self) -> float:
        """Return ln det of the covariance and its ridge."""
        return 2.0 * float(np.log(np.diag(self.factor)).sum())

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


@dataclass(frozen=True)
class FieldNoise:
    """The errors of the rows of equation j of a field under a trial model, noise white with levels ``noise``.

    The model's terms are integrated by parts as the rows are, so to first order the error of a row is the noise
    times derivatives of the test function times slopes of what is left under the integral. Where derivatives of
    the data are left, the transposed difference takes them to the samples.
    """

    rows: FieldRows
    j: int
    model: Coefficients
    noise: Array

    @property
    def ridge(self) -> float:
        """Return what is added to the diagonal of the covariance: the same for every model."""
        own = self.rows.group.targets[self.j]
        kinds: dict[tuple[int, ...], int] = {}
        for k in range(len(self.rows)):
            key = tuple(int(axis.kernel[k]) for axis in self.rows.windows)
            kinds.setdefault(key, k)
        orders = (*[0] * len(self.rows.data.axes), own.order)
        squares = {key: float((self.rows.test(k, orders) ** 2).sum()) for key, k in kinds.items()}
        level = float(self.noise[self.rows.data.names.index(own.state)])
        return FIELD_RIDGE * level**2 * float(np.mean(list(squares.values())))

    def covariance(self) -> Array:
        """Return the covariance (windows x windows), summed over slabs in time."""
        from scipy.sparse import coo_array  # loaded when needed: importing it is slow

        data, time = self.rows.data, self.rows.windows[-1]
        starts, stops = time.starts, time.starts + time.lengths
        total, thick = np.zeros((len(self.rows), len(self.rows))), self._thickness()
        for low in range(0, len(data.times), thick):
            high = min(low + thick, len(data.times))
            meet = np.flatnonzero((starts < high) & (stops > low))
            entries = [
                (np.full(index.size, i), index, value)
                for i, k in enumerate(meet)
                for index, value in self._weights(int(k), low, high)
            ]
            if not entries:
                continue
            row, column, value = (np.concatenate(parts) for parts in zip(*entries, strict=True))
            cells = len(self.noise) * int(np.prod(data.shape[:-1])) * (high - low)
            weights = coo_array((value, (row, column)), shape=(len(meet), cells)).tocsr()
            total[np.ix_(meet, meet)] += (weights @ weights.T).toarray()
        return total

    def _thickness(self) -> int:
        time = self.rows.windows[-1]
        at_once = len(self.rows) * float(time.lengths.max()) / max(len(self.rows.data.times), 1)
        box = float(np.prod([float(axis.lengths.max()) for axis in self.rows.windows[:-1]]))
        return max(int(_NUMBERS / (max(at_once, 1.0) * box * (1 + len(self._noisy)))), 1)

    @cached_property
    def _integrated(self) -> tuple[Features, tuple[tuple[int, ...], ...], Array]:
        """Return the model's integrands, the derivatives of phi, and coefficients (derivatives x integrands)."""
        group, data = self.rows.group, self.rows.data
        by_parts = ByParts(data.axes, data.names)
        table: dict[tuple[tuple[int, ...], Term], float] = {}
        for weight, term in zip(self.model.of(group)[self.j], group.features.terms, strict=True):
            for part in by_parts.full(term) if weight else ():
                key = (part.orders, part.integrand)
                table[key] = table.get(key, 0.0) + float(weight) * part.factor
        orders = tuple(dict.fromkeys(order for order, _ in table))
        terms = tuple(dict.fromkeys(term for _, term in table))
        coef = np.zeros((len(orders), len(terms)))
        for (order, term), weight in table.items():
            coef[orders.index(order), terms.index(term)] = weight
        return Features(group.features.variables, terms), orders, coef

    @cached_property
    def _noisy(self) -> tuple[Variable, ...]:
        features, fields = self._integrated[0], self.rows.data.names
        return tuple(dict.fromkeys(v for term in features.terms for v in term.variables() if v.name in fields))

    def _weights(self, k: int, low: int, high: int) -> Iterator[tuple[Index, Array]]:
        """Yield cells (numbered within times ``low`` to ``high``, field by field) and what their noise counts."""
        go_on()
        windows, data = self.rows.windows, self.rows.data
        starts = [int(axis.starts[k]) for axis in windows]
        lengths = [int(axis.lengths[k]) for axis in windows]
        first, last = max(starts[-1], low), min(starts[-1] + lengths[-1], high)
        inside = slice(first - starts[-1], last - starts[-1])
        starts[-1], lengths[-1] = first, last - first
        times, target = (low, high), self.rows.group.targets[self.j]
        own = (-1.0) ** target.order * self.rows.test(k, (*[0] * len(data.axes), target.order), inside)
        yield self._spread(Variable(target.state), own, starts, times)
        features, orders, coef = self._integrated
        if not self._noisy:
            return
        inputs = [self.rows.patches.get(v, starts, lengths).reshape(-1) for v in features.inputs]
        slopes = features.jacobian(np.stack(inputs, axis=1), coef, wrt=self._noisy)
        tests = np.stack([self.rows.test(k, (*order, 0), inside).reshape(-1) for order in orders], axis=1)
        for i, variable in enumerate(self._noisy):
            weights = -(tests * slopes[:, :, i]).sum(axis=1).reshape(lengths)
            yield self._spread(variable, weights, starts, times)

    def _spread(
        self, variable: Variable, weights: Array, starts: list[int], times: tuple[int, int]
    ) -> tuple[Index, Array]:
        """Return cells and weights of the field itself from those of a derivative of it."""
        data, at = self.rows.data, list(starts)
        for i, axis in enumerate(data.axes):
            order = variable.axes.count(axis)
            if order:
                at[i], weights = self.rows.patches.transposed(weights, i, order, starts[i])
        f = data.names.index(variable.name)
        index = np.full((1,) * weights.ndim, f, dtype=np.intp)
        for i, (low, count) in enumerate(zip(at, weights.shape, strict=True)):
            size = data.shape[i] if i < len(data.axes) else times[1] - times[0]
            here = np.arange(low, low + count) % size if i < len(data.axes) else np.arange(count) + low - times[0]
            index = index * size + here.reshape([-1 if axis == i else 1 for axis in range(weights.ndim)])
        return index.reshape(-1), self.noise[f] * weights.reshape(-1)


def field_noise(data: Field) -> Array:
    """Return the standard deviation of white noise in each field: the least that any axis shows.

    A field may be too coarse along one axis for its changes to be told from noise, but not along all; a shock is one to
    smoothing along any axis, but not to the median of the differences of neighbours.
    """
    noise, size = np.full(len(data.names), np.inf), np.zeros(len(data.names))
    spread = NormalDist().inv_cdf(0.75) * math.sqrt(math.comb(2 * _ORDER, _ORDER))
    for i, x in enumerate(data.coords):
        if len(x) < 8:
            continue
        for f, values in enumerate(data.values):
            lines = sample_lines([values], i)
            if lines.shape[1]:
                fit = whittaker(lines, x)
                freedom = fit.degrees_of_freedom
                size[f] = max(size[f], np.sqrt(np.mean(lines**2)))
                smooth = float(np.sqrt((fit.noise**2 * freedom).sum() / freedom.sum()))
                steps = float(np.median(np.abs(np.diff(lines, _ORDER, axis=0)))) / spread
                noise[f] = min(noise[f], smooth, steps)
    return floored(np.where(np.isfinite(noise), noise, 0.0), size)


def field_floor(data: Field) -> Array:
    """Return the size of the errors of each field that are no noise: integrals between samples, simulation.

    As for trajectories, by fourth differences, along the axis where they are largest.
    """
    floor = np.zeros(len(data.names))
    for f, values in enumerate(data.values):
        for i in range(values.ndim):
            lines = sample_lines([values], i)
            if lines.shape[1] and len(lines) > _ORDER:
                differences = np.diff(lines, _ORDER, axis=0)
                floor[f] = max(floor[f], unresolved(lines, differences))
    return floor


def stacked(chunks: Iterator[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return all rows at once."""
    theta, target = zip(*chunks, strict=True)
    return np.vstack(theta), np.vstack(target)

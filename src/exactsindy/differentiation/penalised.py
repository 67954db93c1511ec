"""Smoothing and noise level from the data alone: the third-difference Whittaker smoother with GCV."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exactsindy import _native as native
from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.data import Trajectories
from exactsindy.differentiation.steps import PRINTED, samples, uniform_step
from exactsindy.errors import DataError

# Fewer samples leave too little to tell noise from a curve whose third differences are penalised.
_LEAST_SAMPLES = 8
# Candidates for log10 of the smoothing parameter, from no smoothing to nearly a parabola; then steps around the best.
_COARSE = np.arange(-2.0, 10.5, 1.0)
_FINE = np.arange(-0.75, 0.8, 0.25)
# Samples beyond which columns are smoothed one by one, to save memory; fits that the native loop makes side by side;
# samples times fits after which it is asked whether to go on.
_LONG, _LANES, _WORK = 1 << 17, 8, 4_000_000
# Samples of long data that are worked on at once.
_SECTION = 1 << 14


@dataclass(frozen=True)
class Smooth:
    """Smoothed data and their noise; ``lam``, ``noise`` and ``trace`` have one entry per column of the data.

    ``values`` is the smoothed data, ``noise`` the standard deviation of what was removed (per degree of
    freedom), ``trace`` the effective number of parameters the smooth curve used.
    """

    values: Array
    lam: Array
    noise: Array
    trace: Array

    @property
    def degrees_of_freedom(self) -> Array:
        """Return n - trace: noise^2 times this is the residual sum of squares."""
        return np.asarray(len(self.values) - self.trace)

    def reshape(self, shape: tuple[int, ...]) -> Smooth:
        """Return the same with other axes beside the first."""
        rest = (part.reshape(shape[1:]) for part in (self.lam, self.noise, self.trace))
        return Smooth(self.values.reshape(shape), *rest)


def whittaker(y: ArrayLike, t: ArrayLike | float = 1.0, *, lam: ArrayLike | None = None) -> Smooth:
    """Smooth ``y`` along its first axis: minimise |y - x|^2 + lam |D3 x|^2.

    lam is chosen by generalised cross-validation: GCV = n RSS / (n - trace)^2 over log10 lam = -2..10 in steps of 1,
    then +-0.75 in steps of 0.25; the noise variance is RSS / (n - trace). White noise is assumed.

    Parameters
    ----------
    y
        Samples, shape (n,) or (n, columns); every column gets its own lam.
    t
        Times or a step; only whether the steps are equal matters. On equal ones the trace is
        sum_i 1 / (1 + lam (2 - 2 cos(pi i / n))^3), i = 0..n-1. On unequal ones the curve is a cubic spline
        with one coefficient per typical step, penalised in the same way, and the trace is exact.
    lam
        The smoothing parameter, one for all or one per column, if it is known.
    """
    values, times = samples(y, t, 0, _LEAST_SAMPLES, "whittaker")
    if not np.isfinite(values).all():
        raise DataError("whittaker: y holds missing or infinite values; split the data at the gaps first.")
    flat = values.reshape(len(values), -1)
    if flat.shape[1] > 1 and len(flat) > _LONG:
        return _column_by_column(flat, times, lam).reshape(values.shape)
    # The penalty leaves quadratics alone; taking one off first keeps large offsets out of the rounding.
    trend = _Parabola.through(times, flat)
    fits = _Fits(times, trend.added(flat.copy(), -1.0))
    columns = flat.shape[1:]
    if lam is None:
        coarse = fits.best(np.broadcast_to(_COARSE[:, None], (len(_COARSE), *columns)))
        chosen = 10.0 ** fits.best(coarse[None] + _FINE[:, None])
    else:
        chosen = np.broadcast_to(np.asarray(lam, dtype=float), columns)
        if not (chosen > 0).all():
            raise DataError(f"whittaker(lam={lam!r}): expected a positive number, or None to choose it by GCV.")
    rss, trace, smooth = fits.fit(chosen, np.arange(len(chosen)), values=True)
    if smooth is None or not np.isfinite(rss).all():
        expected = "expected at most about 1e12. Fit a parabola instead."
        raise DataError(f"whittaker: lam = {chosen.max():g} is too large for doubles; {expected}")
    whole = np.ascontiguousarray(trend.added(smooth.T, 1.0))
    return Smooth(whole, chosen, np.sqrt(rss / (len(flat) - trace)), trace).reshape(values.shape)


@dataclass(frozen=True)
class _Parabola:
    """The best quadratic in time through each column; of long data its coefficients, which need no memory."""

    times: Array
    parts: tuple[slice, ...]
    coef: Array
    values: Array | None

    @classmethod
    def through(cls, times: Array, flat: Array) -> _Parabola:
        """Return the quadratics through columns (samples x columns)."""
        parts = tuple(slice(low, low + _SECTION) for low in range(0, len(flat), _SECTION))
        own = cls(times, parts, np.zeros((3, flat.shape[1])), None)
        if len(parts) == 1:
            q, _ = np.linalg.qr(own._powers(parts[0]))
            return cls(times, parts, own.coef, np.asarray(q @ (q.T @ flat), dtype=float))
        gram, moments = np.zeros((3, 3)), np.zeros((3, flat.shape[1]))
        for part in parts:
            basis = own._powers(part)
            gram += basis.T @ basis
            moments += basis.T @ flat[part]
        return cls(times, parts, np.asarray(np.linalg.solve(gram, moments), dtype=float), None)

    def added(self, values: Array, sign: float) -> Array:
        """Add the quadratics, or take them off, in place."""
        for part in self.parts:
            values[part] += sign * (self._powers(part) @ self.coef if self.values is None else self.values)
        return values

    def _powers(self, part: slice) -> Array:
        scaled = 2 * (self.times[part] - self.times[0]) / (self.times[-1] - self.times[0]) - 1
        return np.polynomial.legendre.legvander(scaled, 2)


def _column_by_column(flat: Array, times: Array, lam: ArrayLike | None) -> Smooth:
    """Return the smooth of long data in the memory of one column."""
    values, rest = np.empty(flat.shape), []
    known = None if lam is None else np.broadcast_to(np.asarray(lam, dtype=float), flat.shape[1:])
    for j in range(flat.shape[1]):
        fit = whittaker(flat[:, j], times, lam=None if known is None else known[j])
        values[:, j] = fit.values
        rest.append((fit.lam, fit.noise, fit.trace))
    return Smooth(values, *(np.array(column) for column in zip(*rest, strict=True)))


def noise_level(data: Trajectories) -> Array:
    """Return the standard deviation of white noise in each state, from all trajectories together.

    Each trajectory is smoothed by `whittaker`; what is removed is pooled by degrees of freedom.
    """
    squares = freedom = np.zeros(len(data.state_names))
    for member in data:
        smooth = whittaker(member.states, member.times)
        squares = squares + smooth.noise**2 * smooth.degrees_of_freedom
        freedom = freedom + smooth.degrees_of_freedom
    return np.asarray(np.sqrt(squares / freedom))


@dataclass(frozen=True)
class CubicSplines:
    """Cubic B-splines on equal knots: sample i of a curve is weights[i] @ c[start[i] : start[i] + 4].

    Their third derivative is the third difference of the coefficients, so the penalty stays the one of equal
    steps whatever the sample times are.
    """

    start: NDArray[np.intp]
    weights: Array
    size: int

    @classmethod
    def at(cls, t: Array) -> CubicSplines:
        """Return the splines with knots about one typical step apart (at most four per sample)."""
        span = float(t[-1] - t[0])
        step = max(float(np.median(np.diff(t))), span / (4 * len(t)))
        intervals = max(int(np.ceil(span / step)), 1)
        position = (t - t[0]) * (intervals / span)
        start = np.minimum(position.astype(np.intp), intervals - 1)
        u = (position - start)[:, None]
        weights = np.hstack(((1 - u) ** 3, 3 * u**3 - 6 * u**2 + 4, -3 * u**3 + 3 * u**2 + 3 * u + 1, u**3))
        return cls(start, weights / 6.0, intervals + 3)

    def moments(self, y: Array) -> Array:
        """Return the inner products of the splines with samples y."""
        out = np.zeros((self.size, y.shape[1]))
        for k in range(4):
            np.add.at(out, self.start + k, self.weights[:, k, None] * y)
        return out

    def gram_bands(self) -> Array:
        """Return the Gram matrix of the splines over the samples, in lower band storage."""
        bands = np.zeros((4, self.size))
        for a in range(4):
            for b in range(a, 4):
                np.add.at(bands[b - a], self.start + a, self.weights[:, a] * self.weights[:, b])
        return bands


class _Fits:
    """The penalised fits of one data set; the curve is its samples, on unequal steps a cubic spline."""

    def __init__(self, t: Array, y: Array) -> None:
        splines = None if uniform_step(t, PRINTED) is not None else CubicSplines.at(t)
        self.values = np.ascontiguousarray(y.T)
        self.moments = self.values if splines is None else np.ascontiguousarray(splines.moments(y).T)
        self.gram = None if splines is None else splines.gram_bands()
        self.start = None if splines is None else splines.start.astype(np.int64)
        self.weights = None if splines is None else np.ascontiguousarray(splines.weights)

    def best(self, exponents: Array) -> Array:
        """Return, per column, the exponent of least GCV among candidates (candidates x columns)."""
        column = np.broadcast_to(np.arange(exponents.shape[1]), exponents.shape)
        rss, trace, _ = self.fit(10.0 ** exponents.reshape(-1), column.reshape(-1), values=False)
        n = self.values.shape[1]
        score = (n * rss / (n - trace) ** 2).reshape(exponents.shape)
        return np.asarray(np.take_along_axis(exponents, score.argmin(axis=0)[None], axis=0)[0])

    def fit(self, lam: Array, column: NDArray[np.int64], *, values: bool) -> tuple[Array, Array, Array | None]:
        """Return sums of squares, traces and smooth values (fits x samples, if wanted) for pairs lam, column."""
        rss, trace = np.empty(len(lam)), np.empty(len(lam))
        fitted = np.empty((len(lam), self.values.shape[1])) if values else None
        lam, column = np.ascontiguousarray(lam), np.ascontiguousarray(column)
        step = max(_WORK // self.values.shape[1] // _LANES, 1) * _LANES
        for low in range(0, len(lam), step):
            go_on()
            part = slice(low, low + step)
            ends = (rss[part], trace[part], None if fitted is None else fitted[part])
            native.smooth(
                self.values, self.moments, self.gram, self.start, self.weights, lam[part], column[part], *ends
            )
        return rss, trace, fitted

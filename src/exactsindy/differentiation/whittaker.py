"""Smoothing and noise level from the data alone: the third-difference Whittaker smoother with GCV."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exactsindy.differentiation.banded import (
    CubicSplines,
    inverse_traces,
    penalty_gradient,
    third_difference_bands,
)
from exactsindy.differentiation.grid import PRINTED, samples, uniform_step
from exactsindy.errors import DataError

Array = NDArray[np.float64]

_COARSE = np.arange(-2.0, 10.5, 1.0)
_FINE = np.arange(-0.75, 0.8, 0.25)


@dataclass(frozen=True)
class Smooth:
    """What `whittaker` found; ``lam``, ``noise`` and ``trace`` have one entry per column of the data.

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


def whittaker(y: ArrayLike, t: ArrayLike | float = 1.0, *, lam: ArrayLike | None = None) -> Smooth:
    """Smooth ``y`` along its first axis: minimise |y - x|^2 + lam |D3 x|^2.

    lam is chosen by generalised cross-validation: GCV = n RSS / (n - trace)^2 over log10 lam = -2..10 in
    steps of 1, then +-0.75 in steps of 0.25; the noise variance is RSS / (n - trace). White noise is
    assumed.

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

    Examples
    --------
    >>> t = np.linspace(0, 6, 400)
    >>> noisy = np.sin(t) + 0.1 * np.random.default_rng(0).normal(size=400)
    >>> bool(abs(whittaker(noisy).noise - 0.1) < 0.01)
    True
    """
    values, times = samples(y, t, 0, 8, "whittaker")
    if not np.isfinite(values).all():
        raise DataError("whittaker: y holds missing or infinite values; split the data at the gaps first.")
    flat = values.reshape(len(values), -1)
    # The penalty leaves quadratics alone; taking one off first keeps large offsets out of the rounding.
    trend = _quadratic(times, flat)
    solver = _Solver(times, flat - trend)
    columns = flat.shape[1:]
    if lam is None:
        coarse = solver.best(np.broadcast_to(_COARSE[:, None], (len(_COARSE), *columns)))
        chosen = 10.0 ** solver.best(coarse[None] + _FINE[:, None])
    else:
        chosen = np.broadcast_to(np.asarray(lam, dtype=float), columns)
        if not (chosen > 0).all():
            raise DataError(f"whittaker(lam={lam!r}): expected a positive number, or None to choose it by GCV.")
    smooth, rss, trace = solver.fit(chosen)
    shape = values.shape[1:]
    return Smooth(
        values=(smooth + trend).reshape(values.shape),
        lam=chosen.reshape(shape),
        noise=np.sqrt(rss / (len(flat) - trace)).reshape(shape),
        trace=trace.reshape(shape),
    )


def _quadratic(t: Array, y: Array) -> Array:
    basis = np.polynomial.legendre.legvander(2 * (t - t[0]) / (t[-1] - t[0]) - 1, 2)
    q, _ = np.linalg.qr(basis)
    return np.asarray(q @ (q.T @ y))


class _Solver:
    """The penalised fits of one data set; the curve is its samples, on unequal steps a cubic spline."""

    def __init__(self, t: Array, y: Array) -> None:
        self.y, self.n = y, len(y)
        self.splines = None if uniform_step(t, PRINTED) is not None else CubicSplines.at(t)
        self.moments = y if self.splines is None else self.splines.moments(y)
        self.gram = self.splines.gram_bands() if self.splines else np.zeros((4, self.n))
        if self.splines is None:
            self.gram[0] = 1.0
        self.penalty = third_difference_bands(self.gram.shape[1])
        self.trace_of: dict[float, float] = {}

    def best(self, exponents: Array) -> Array:
        """Return, per column, the exponent of least GCV among candidates (candidates x columns)."""
        distinct = np.unique(exponents)
        factors = self.factors([10.0**exponent for exponent in distinct])
        score = np.full(exponents.shape, np.inf)
        for exponent in distinct:
            lam = 10.0**exponent
            here = exponents == exponent
            wanted = np.flatnonzero(here.any(axis=0))
            _, rss = self.solve(lam, factors[lam], wanted)
            gcv = self.n * rss / (self.n - self.trace_of[lam]) ** 2
            score[:, wanted] = np.where(here[:, wanted], gcv, score[:, wanted])
        return np.asarray(np.take_along_axis(exponents, score.argmin(axis=0)[None], axis=0)[0])

    def fit(self, lam: Array) -> tuple[Array, Array, Array]:
        """Return smooth values, residual sums of squares and traces for one lam per column."""
        smooth, rss, trace = np.empty_like(self.y), np.empty(len(lam)), np.empty(len(lam))
        factors = self.factors([float(value) for value in np.unique(lam)])
        for value, factor in factors.items():
            wanted = np.flatnonzero(lam == value)
            smooth[:, wanted], rss[wanted] = self.solve(value, factor, wanted)
            trace[wanted] = self.trace_of[value]
        return smooth, rss, trace

    def factors(self, values: list[float]) -> dict[float, Array]:
        """Return the banded factor for each lam, and remember the traces of those that are new."""
        from scipy.linalg import cholesky_banded  # loaded when needed: importing it is slow

        factors = {
            lam: np.asarray(cholesky_banded(self.gram + lam * self.penalty, lower=True, check_finite=False))
            for lam in values
        }
        new = [lam for lam in values if lam not in self.trace_of]
        if new and self.splines is not None:
            traces = inverse_traces(np.stack([factors[lam] for lam in new]), self.gram)
        else:
            eigenvalues = (2 - 2 * np.cos(np.pi * np.arange(self.n) / self.n)) ** 3
            traces = np.array([(1 / (1 + lam * eigenvalues)).sum() for lam in new])
        self.trace_of.update(zip(new, (float(trace) for trace in traces), strict=True))
        return factors

    def solve(self, lam: float, factor: Array, columns: NDArray[np.intp]) -> tuple[Array, Array]:
        """Return the smooth curve and the residual sum of squares of some columns."""
        from scipy.linalg import cho_solve_banded

        y, moments, splines = self.y[:, columns], self.moments[:, columns], self.splines
        c = cho_solve_banded((factor, True), moments, check_finite=False)
        # The rounding error of this solve grows like lam; one step of refinement with the penalty applied in
        # factored form brings it back to sqrt(lam).
        fitted = c if splines is None else splines.moments(splines.values(c))
        c = c + cho_solve_banded((factor, True), moments - fitted - lam * penalty_gradient(c), check_finite=False)
        x = c if splines is None else splines.values(c)
        return x, ((y - x) ** 2).sum(axis=0)

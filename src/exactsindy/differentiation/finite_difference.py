"""Finite differences of any order of accuracy and any derivative, of samples or of smoothed ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.differentiation.steps import PRINTED, samples, step_of
from exactsindy.errors import DataError

# Numbers of a block of rows that is smoothed in one go.
_BLOCK_NUMBERS = 1 << 15


@dataclass(frozen=True)
class FiniteDifference:
    """Central differences, one-sided with the same order of accuracy at the ends.

    Parameters
    ----------
    order
        Order of accuracy in the step; even, because central stencils have no odd orders.
    d
        Which derivative: 1 for x', 2 for x'', ...

    Examples
    --------
    >>> t = np.linspace(0, 1, 5)
    >>> FiniteDifference(order=2)(t[:, None] ** 2, t).ravel()
    array([0. , 0.5, 1. , 1.5, 2. ])
    """

    order: int = 2
    d: int = 1

    def __post_init__(self) -> None:
        if not (isinstance(self.order, int) and self.order >= 2 and self.order % 2 == 0):
            raise DataError(f"FiniteDifference(order={self.order!r}): expected an even integer >= 2.")
        if not (isinstance(self.d, int) and self.d >= 1):
            raise DataError(f"FiniteDifference(d={self.d!r}): expected an integer >= 1, e.g. 1 for x'.")

    @property
    def half_width(self) -> int:
        """Return how many neighbours on each side a central stencil uses on equal steps."""
        return (self.d + 1) // 2 + self.order // 2 - 1

    def __call__(self, x: ArrayLike, t: ArrayLike | float, *, axis: int = 0) -> Array:
        """Return the derivative of ``x`` along ``axis`` at the sample times ``t`` (times or a step)."""
        edge = self.order + self.d
        values, times = samples(x, t, axis, edge + 1, f"FiniteDifference(order={self.order}, d={self.d})")
        step = step_of(t, times)
        # On unequal steps an even derivative loses the order symmetry gave: one more neighbour restores it.
        n, reach = len(values), self.half_width + (step is None and self.d % 2 == 0)
        result = np.empty(values.shape)
        if step is None:
            stencils = sliding_window_view(times, 2 * reach + 1)
            weights = fornberg_weights(stencils, times[reach : n - reach], self.d)
            for k in range(2 * reach + 1):
                column = weights[:, k].reshape(-1, *[1] * (values.ndim - 1))
                term = column * values[k : n - 2 * reach + k]
                result[reach : n - reach] = term if k == 0 else result[reach : n - reach] + term
        else:
            central = _stencil(tuple(np.arange(-reach, reach + 1.0).tolist()), 0.0, self.d)
            inner = _central(values, central, reach, self.d)
            np.divide(inner, step**self.d, out=result[reach : n - reach])
        for i in (*range(reach), *range(n - reach, n)):
            inside = slice(0, edge) if i < reach else slice(n - edge, n)
            weights = _stencil(tuple(times[inside].tolist()), float(times[i]), self.d)
            result[i] = np.tensordot(weights, values[inside], axes=1)
        return np.moveaxis(result, 0, axis)

    def states(self, x: ArrayLike, t: ArrayLike | float, *, axis: int = 0) -> Array:
        """Return the states that belong to the derivative: the samples themselves, as nothing is smoothed."""
        return np.asarray(x, dtype=float)


def _central(values: Array, weights: Array, reach: int, d: int) -> Array:
    """Apply a symmetric (d even) or antisymmetric (d odd) stencil in pairs: half the products."""
    n = len(values)
    pair = np.add if d % 2 == 0 else np.subtract
    total = weights[reach] * values[reach : n - reach] if d % 2 == 0 else np.zeros_like(values[2 * reach :])
    term = np.empty_like(total)
    for k in range(1, reach + 1):
        pair(values[reach + k : n - reach + k], values[reach - k : n - reach - k], out=term)
        term *= weights[reach + k]
        total += term
    return np.asarray(total)


@lru_cache(maxsize=64)
def _stencil(nodes: tuple[float, ...], at: float, d: int) -> Array:
    """Return `fornberg_weights` of one stencil: long data meet the same ones block after block."""
    return fornberg_weights(nodes, at, d)


def fornberg_weights(nodes: ArrayLike, at: ArrayLike, d: int) -> Array:
    """Return w with sum_j w_j f(nodes_j) = f^(d)(at), exact for polynomials of degree < number of nodes.

    The recursion is that of Fornberg (1988), "Generation of finite difference formulas on arbitrarily spaced grids".
    ``nodes`` (..., width) holds one stencil per leading index, all computed together, ``at`` (...) where the derivative
    is wanted; d = 0 interpolates.
    """
    z = np.asarray(nodes, dtype=float)
    x = np.asarray(at, dtype=float)
    width = z.shape[-1]
    offset = z - x[..., None]
    # table[..., m, j]: weight of node j for derivative m, over the nodes taken so far.
    table = np.zeros((*z.shape[:-1], d + 1, width))
    table[..., 0, 0] = 1.0
    c1 = np.ones(z.shape[:-1])
    for i in range(1, width):
        c2 = np.ones(z.shape[:-1])
        previous = table[..., i - 1].copy()
        for j in range(i):
            c3 = z[..., i] - z[..., j]
            c2 = c2 * c3
            for m in range(min(i, d), -1, -1):
                lower = m * table[..., m - 1, j] if m else 0.0
                table[..., m, j] = (offset[..., i] * table[..., m, j] - lower) / c3
        for m in range(min(i, d), -1, -1):
            lower = m * previous[..., m - 1] if m else 0.0
            table[..., m, i] = c1 / c2 * (lower - offset[..., i - 1] * previous[..., m])
        c1 = c2
    return np.asarray(table[..., d, :])


@dataclass(frozen=True)
class SmoothedFiniteDifference:
    """Savitzky-Golay smoothing followed by finite differences; the derivative of the paper.

    At each sample a polynomial is fitted to the ``window`` samples around it (at the ends: to the first or
    last ``window``). Unequal steps are honoured: the fit uses the true times.

    Parameters
    ----------
    window
        Number of samples of the fit, odd.
    polynomial
        Degree of the fitted polynomial, less than ``window``.
    order, d
        Order of accuracy and derivative of the differences, as in `FiniteDifference`.

    Examples
    --------
    >>> t = np.linspace(0, 1, 11)
    >>> x_dot = SmoothedFiniteDifference(window=9)(t[:, None] ** 2, t)
    >>> bool(np.allclose(x_dot[:, 0], 2 * t))
    True
    """

    window: int = 9
    polynomial: int = 3
    order: int = 2
    d: int = 1

    def __post_init__(self) -> None:
        if not (isinstance(self.window, int) and self.window >= 3 and self.window % 2 == 1):
            raise DataError(f"SmoothedFiniteDifference(window={self.window!r}): expected an odd integer >= 3.")
        if not (isinstance(self.polynomial, int) and 0 <= self.polynomial < self.window):
            expected = f"expected an integer from 0 to window - 1 = {self.window - 1}."
            raise DataError(f"SmoothedFiniteDifference(polynomial={self.polynomial!r}): {expected}")
        FiniteDifference(self.order, self.d)

    def __call__(self, x: ArrayLike, t: ArrayLike | float, *, axis: int = 0) -> Array:
        """Return the derivative of the smoothed ``x`` along ``axis``."""
        return FiniteDifference(self.order, self.d)(self.states(x, t, axis=axis), t, axis=axis)

    def states(self, x: ArrayLike, t: ArrayLike | float, *, axis: int = 0) -> Array:
        """Return the smoothed states."""
        values, times = samples(x, t, axis, self.window, f"SmoothedFiniteDifference(window={self.window})")
        n, half = len(values), self.window // 2
        flat = values.reshape(n, -1)
        smooth = np.empty(flat.shape)
        if step_of(t, times, PRINTED) is None:
            windows = sliding_window_view(times, self.window)
            weights = _fit_weights(windows - times[half : n - half, None], np.zeros((n - 2 * half, 1)), self.polynomial)
            view = sliding_window_view(flat, self.window, axis=0)
            smooth[half : n - half] = np.einsum("nw,ncw->nc", weights[:, 0], view)
            ends = times[: self.window], times[n - self.window :]
            start = _fit_weights(ends[0][None], ends[0][None, :half], self.polynomial)[0]
            end = _fit_weights(ends[1][None], ends[1][None, self.window - half :], self.polynomial)[0]
        else:
            start, centre, end = _equal_weights(self.window, self.polynomial)
            _correlate(flat, centre, smooth[half : n - half])
        smooth[:half] = start @ flat[: self.window]
        smooth[n - half :] = end @ flat[n - self.window :]
        return np.moveaxis(smooth.reshape(values.shape), 0, axis)


def _correlate(values: Array, weights: Array, out: Array) -> None:
    """Fill ``out`` with the sums of weights times neighbouring rows, a block of rows at a time that stays in cache."""
    block = max(_BLOCK_NUMBERS // max(values.shape[1], 1), 1)
    term = np.empty((min(block, len(out)), values.shape[1]))
    for low in range(0, len(out), block):
        total = out[low : low + block]
        n = len(total)
        np.multiply(values[low : low + n], weights[0], out=total)
        for k in range(1, len(weights)):
            np.multiply(values[low + k : low + k + n], weights[k], out=term[:n])
            total += term[:n]


@lru_cache(maxsize=16)
def _equal_weights(window: int, degree: int) -> tuple[Array, Array, Array]:
    """Return the weights of a fit to equal steps: at the first samples, in the centre, and at the last samples."""
    nodes, half = np.arange(float(window))[None], window // 2
    centre = _fit_weights(nodes - half, np.zeros((1, 1)), degree)[0, 0]
    start, end = (_fit_weights(nodes, at, degree)[0] for at in (nodes[:, :half], nodes[:, window - half :]))
    return start, centre, end


def _fit_weights(nodes: Array, at: Array, degree: int) -> Array:
    """Return, per stencil, the weights (at x nodes) that fit a polynomial and evaluate it."""
    centre = nodes.mean(axis=1, keepdims=True)
    scale = np.abs(nodes - centre).max(axis=1, keepdims=True)
    basis = np.polynomial.legendre.legvander((nodes - centre) / scale, degree)
    wanted = np.polynomial.legendre.legvander((at - centre) / scale, degree)
    q, r = np.linalg.qr(basis)
    return np.asarray(np.linalg.solve(r.swapaxes(1, 2), wanted.swapaxes(1, 2)).swapaxes(1, 2) @ q.swapaxes(1, 2))

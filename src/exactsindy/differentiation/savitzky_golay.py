"""Savitzky-Golay smoothing along time, and differences of what it leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.differentiation.finite_difference import FiniteDifference
from exactsindy.differentiation.steps import PRINTED, samples, uniform_step
from exactsindy.errors import DataError


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
            raise DataError(
                f"SmoothedFiniteDifference(polynomial={self.polynomial!r}): expected an integer from 0 to "
                f"window - 1 = {self.window - 1}."
            )
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
        if uniform_step(times, PRINTED) is None:
            windows = sliding_window_view(times, self.window)
            weights = _fit_weights(windows - times[half : n - half, None], np.zeros((n - 2 * half, 1)), self.polynomial)
            view = sliding_window_view(flat, self.window, axis=0)
            smooth[half : n - half] = np.einsum("nw,ncw->nc", weights[:, 0], view)
            first, last = times[: self.window], times[n - self.window :]
        else:
            first = last = np.arange(float(self.window))
            centre = _fit_weights(first[None] - half, np.zeros((1, 1)), self.polynomial)[0, 0]
            smooth[half : n - half] = sum(w * flat[k : n - 2 * half + k] for k, w in enumerate(centre))
        start = _fit_weights(first[None], first[None, :half], self.polynomial)[0]
        end = _fit_weights(last[None], last[None, self.window - half :], self.polynomial)[0]
        smooth[:half] = start @ flat[: self.window]
        smooth[n - half :] = end @ flat[n - self.window :]
        return np.moveaxis(smooth.reshape(values.shape), 0, axis)


def _fit_weights(nodes: Array, at: Array, degree: int) -> Array:
    """Return, per stencil, the weights (at x nodes) that fit a polynomial and evaluate it."""
    centre = nodes.mean(axis=1, keepdims=True)
    scale = np.abs(nodes - centre).max(axis=1, keepdims=True)
    basis = np.polynomial.legendre.legvander((nodes - centre) / scale, degree)
    wanted = np.polynomial.legendre.legvander((at - centre) / scale, degree)
    q, r = np.linalg.qr(basis)
    return np.asarray(np.linalg.solve(r.swapaxes(1, 2), wanted.swapaxes(1, 2)).swapaxes(1, 2) @ q.swapaxes(1, 2))

"""Windows of a weak form along one axis: the test function (1 - s^2)^p, and weights that integrate samples with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from exactsindy._types import Array

Index = NDArray[np.intp]
# Weights by order of the derivative of the test function.
Kernel = dict[int, Array]

# Samples of the local polynomials between which data are interpolated: their error, of order step^6, is far below that
# of any data.
STENCIL = 6


def bump(s: Array, p: int, d: int = 0) -> Array:
    """Return the d-th derivative (in s) of (1 - s^2)^p on [-1, 1], and 0 outside."""
    # In factored form, without which the expansion would lose its digits where the function is flat.
    flat = np.maximum(1.0 - s * s, 0.0)
    return np.asarray(np.where(np.abs(s) <= 1.0, _cofactor(p, d)(s) * flat ** max(p - d, 0), 0.0))


@lru_cache(maxsize=256)
def _cofactor(p: int, d: int) -> Polynomial:
    """Return q with phi^(d) = q (1 - s^2)^max(p - d, 0)."""
    if d == 0:
        return Polynomial([1.0])
    if d > p:
        return _cofactor(p, p).deriv(d - p)
    before = _cofactor(p, d - 1)
    return Polynomial([1.0, 0.0, -1.0]) * before.deriv() - 2.0 * (p - d + 1) * Polynomial([0.0, 1.0]) * before


@dataclass(frozen=True)
class Cells:
    """Local polynomial interpolation between samples: cell i lies between samples i and i + 1.

    At the Gauss points ``at`` (cells x points) of a cell a function is the sum of ``basis`` (cells x points
    x stencil) times its samples start[i], start[i] + 1, ...; ``gauss`` are the weights of the points.
    """

    at: Array
    gauss: Array
    start: NDArray[np.intp]
    basis: Array

    @classmethod
    def of(cls, x: Array, count: int) -> Cells:
        """Return the cells of increasing samples, with ``count`` Gauss points each."""
        nodes, gauss = np.polynomial.legendre.leggauss(count)
        width = np.diff(x)[:, None]
        at = x[:-1, None] + (nodes + 1) / 2 * width
        size = min(STENCIL, len(x))
        start = np.clip(np.arange(len(x) - 1) - size // 2 + 1, 0, len(x) - size)
        stencil = x[start[:, None] + np.arange(size)]
        basis = np.ones((*at.shape, size))
        for k in range(size):
            for j in range(size):
                if j != k:
                    gap = (stencil[:, k] - stencil[:, j])[:, None]
                    basis[:, :, k] *= (at - stencil[:, None, j]) / gap
        return cls(at, gauss * width / 2, start, basis)

    def between(self, low: int, high: int) -> Cells:
        """Return the cells ``low`` to ``high``."""
        part = slice(low, high)
        return Cells(self.at[part], self.gauss[part], self.start[part], self.basis[part])

    def weights(self, centre: float, width: float, p: int, d: int) -> tuple[int, Array]:
        """Return the first sample and w with  int phi^(d) f = sum_i w_i f_i  for f as interpolated.

        phi = (1 - s^2)^p with s = (x - centre) / width, differentiated in x.
        """
        values = bump((self.at - centre) / width, p, d) * self.gauss / width**d
        first, size = int(self.start[0]), self.basis.shape[2]
        share = np.einsum("ig,igk->ik", values, self.basis)
        total = np.zeros(int(self.start[-1]) + size - first)
        np.add.at(total, self.start[:, None] - first + np.arange(size), share)
        return first, total


@dataclass(frozen=True)
class AxisWindows:
    """Window k holds the samples starts[k], starts[k] + 1, ... (round the period where there is one).

    Its weights are those of kernels[kernel[k]]; windows that lie alike on equal steps share a kernel.
    """

    starts: Index
    kernel: Index
    kernels: tuple[Kernel, ...]
    lengths: Index

    def __len__(self) -> int:
        return len(self.starts)

    def weights(self, k: int) -> Kernel:
        """Return the weights of window k by order of derivative."""
        return self.kernels[int(self.kernel[k])]

    def take(self, chosen: Index) -> AxisWindows:
        """Return some of the windows."""
        return AxisWindows(self.starts[chosen], self.kernel[chosen], self.kernels, self.lengths[chosen])


def aligned(x: Array, centres: Index, half: int, p: int, orders: Sequence[int]) -> AxisWindows:
    """Return windows of half-width ``half`` samples around samples of an axis with equal steps; all share a kernel."""
    step = float(x[-1] - x[0]) / (len(x) - 1)
    cells = Cells.of(np.arange(-half, half + 1.0), p + STENCIL // 2)
    kernel = {d: cells.weights(0.0, float(half), p, d)[1] * step ** (1 - d) for d in orders}
    count = len(centres)
    return AxisWindows(centres - half, np.zeros(count, np.intp), (kernel,), np.full(count, 2 * half + 1))


def unequal(x: Array, centres: Array, width: float, p: int, orders: Sequence[int]) -> AxisWindows:
    """Return windows of half-width ``width`` on unequal steps."""
    cells = Cells.of(x, p + STENCIL // 2)
    low = np.maximum(np.searchsorted(x, centres - width, side="right") - 1, 0)
    high = np.minimum(np.searchsorted(x, centres + width, side="left"), len(x) - 1)
    starts, kernels = np.empty(len(centres), np.intp), []
    for k, centre in enumerate(centres):
        part = cells.between(low[k], high[k])
        weights = {d: part.weights(centre, width, p, d) for d in orders}
        starts[k] = weights[orders[0]][0]
        kernels.append({d: table for d, (_, table) in weights.items()})
    lengths = np.array([len(kernel[orders[0]]) for kernel in kernels], dtype=np.intp)
    return AxisWindows(starts, np.arange(len(centres)), tuple(kernels), lengths)

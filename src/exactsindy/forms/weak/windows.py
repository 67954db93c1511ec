"""Windows of a weak form along one axis: which samples they hold and with which weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.differentiation import uniform_step
from exactsindy.forms.weak.bump import STENCIL, Cells, bump, interpolated_weights, linear_weights

Index = NDArray[np.intp]
# Weights by order of the derivative of the test function.
Kernel = dict[int, Array]


@dataclass(frozen=True)
class AxisWindows:
    """Window k holds the samples starts[k], starts[k] + 1, ... (round the period where there is one).

    Its weights are those of kernels[kernel[k]]; windows that lie alike on equal steps share a kernel.
    ``points`` are the nodes of the published quadrature, per window, where it is used.
    """

    starts: Index
    kernel: Index
    kernels: tuple[Kernel, ...]
    lengths: Index
    points: Array | None = None

    def __len__(self) -> int:
        return len(self.starts)

    def weights(self, k: int) -> Kernel:
        """Return the weights of window k by order of derivative."""
        return self.kernels[int(self.kernel[k])]

    def take(self, chosen: Index) -> AxisWindows:
        """Return some of the windows."""
        points = None if self.points is None else self.points[chosen]
        return AxisWindows(self.starts[chosen], self.kernel[chosen], self.kernels, self.lengths[chosen], points)


def aligned(x: Array, centres: Index, half: int, p: int, orders: Sequence[int]) -> AxisWindows:
    """Return windows of half-width ``half`` samples around samples of an axis with equal steps.

    All share one kernel.
    """
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


def snapped(x: Array, centres: Array, width: float, p: int, orders: Sequence[int]) -> AxisWindows:
    """Return PySINDy's windows: shrunk to the samples inside, which are joined by straight lines."""
    starts = np.searchsorted(x, centres - width, side="right")
    stops = np.searchsorted(x, centres + width, side="left")
    lengths = stops - starts
    equal = uniform_step(x) is not None
    kernels: list[Kernel] = []
    kernel = np.empty(len(centres), np.intp)
    known: dict[int, int] = {}
    for k, (low, high) in enumerate(zip(starts, stops, strict=True)):
        key = int(high - low) if equal else -k - 1
        if key not in known:
            known[key] = len(kernels)
            kernels.append(_straight(x[low:high], p, orders, equal))
        kernel[k] = known[key]
    return AxisWindows(starts, kernel, tuple(kernels), lengths)


def _straight(x: Array, p: int, orders: Sequence[int], equal: bool) -> Kernel:
    half = (x[-1] - x[0]) / 2
    s = np.linspace(-1.0, 1.0, len(x)) if equal else (x - (x[-1] + x[0]) / 2) / half
    return {d: linear_weights(s, p, d) * half ** (1 - d) for d in orders}


def published(x: Array, centres: Array, width: float, p: int, orders: Sequence[int], count: int) -> AxisWindows:
    """Return the windows of the published experiments.

    Each has ``count`` equispaced points, at which samples are interpolated linearly, and the trapezoidal
    rule with the test function (s^2 - 1)^p.
    """
    points = np.linspace(centres - width, centres + width, count, axis=1)
    points = np.clip(points, x[0], x[-1])
    cells = np.clip(np.searchsorted(x, points, side="right") - 1, 0, len(x) - 2)
    position = cells + (points - x[cells]) / (x[cells + 1] - x[cells])
    starts = cells[:, 0]
    lengths = cells[:, -1] + 2 - starts
    s = np.linspace(-1.0, 1.0, count)
    rule = np.full(count, 2 * width / (count - 1))
    rule[[0, -1]] /= 2
    values = {d: (-1.0) ** p * bump(s, p, d) * rule / width**d for d in orders}
    kernels = tuple(
        {d: interpolated_weights(position[k] - starts[k], values[d], int(lengths[k])) for d in orders}
        for k in range(len(centres))
    )
    return AxisWindows(starts, np.arange(len(centres)), kernels, lengths, position)

"""Windows along one axis by the rules of other programs: linear interpolation between samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactsindy.differentiation import uniform_step
from exactsindy.errors import DataError
from exactsindy.forms.weak import AxisWindows, Kernel, bump

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PlacedWindows:
    """Windows along one axis, and the points of each at which samples are interpolated (windows x points).

    Positions are in samples; the rule of PySINDy has none.
    """

    windows: AxisWindows
    positions: Array

    def take(self, chosen: NDArray[np.intp]) -> PlacedWindows:
        """Return some of the windows."""
        return PlacedWindows(self.windows.take(chosen), self.positions[chosen])


def snapped(name: str, x: Array, centres: Array, width: float, p: int, orders: Sequence[int]) -> PlacedWindows:
    """Return PySINDy's windows: shrunk to the samples inside, which are joined by straight lines."""
    starts = np.searchsorted(x, centres - width, side="right")
    stops = np.searchsorted(x, centres + width, side="left")
    lengths = stops - starts
    if (lengths < 2).any():
        raise DataError(
            f"PublishedWeakForm: a window of half-width {width:g} along {name} holds fewer than 2 samples; increase "
            "the width."
        )
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
    return PlacedWindows(AxisWindows(starts, kernel, tuple(kernels), lengths), np.empty((len(centres), 0)))


def _straight(x: Array, p: int, orders: Sequence[int], equal: bool) -> Kernel:
    half = (x[-1] - x[0]) / 2
    s = np.linspace(-1.0, 1.0, len(x)) if equal else (x - (x[-1] + x[0]) / 2) / half
    return {d: linear_weights(s, p, d) * half ** (1 - d) for d in orders}


def interpolated(x: Array, centres: Array, width: float, p: int, orders: Sequence[int], count: int) -> PlacedWindows:
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
    return PlacedWindows(AxisWindows(starts, np.arange(len(centres)), kernels, lengths), position)


def linear_weights(s: Array, p: int, d: int) -> Array:
    """Return w with  int phi^(d)(s) f(s) ds = sum_i w_i f(s_i)  for f linear between the nodes s.

    Gauss quadrature per cell is exact here, and free of the cancellation of antiderivatives.
    """
    nodes, gauss = np.polynomial.legendre.leggauss(p + 1)
    width = np.diff(s)[:, None]
    share = (nodes + 1) / 2
    values = bump(s[:-1, None] + share * width, p, d) * (gauss * width / 2)
    weights = np.zeros(len(s))
    weights[:-1] += (values * (1 - share)).sum(axis=1)
    weights[1:] += (values * share).sum(axis=1)
    return weights


def interpolated_weights(position: Array, values: Array, n: int) -> Array:
    """Return w with  sum_k values_k f(position_k) = sum_i w_i f_i  for f interpolated between n samples.

    Positions are in samples.
    """
    cell = np.minimum(position.astype(np.intp), n - 2)
    share = position - cell
    return np.asarray(
        np.bincount(cell, values * (1 - share), minlength=n) + np.bincount(cell + 1, values * share, minlength=n)
    )

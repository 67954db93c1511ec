"""Integrals between samples by local cubics, on equal and unequal steps."""

from __future__ import annotations

from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.differentiation import uniform_step

Number = TypeVar("Number", np.float64, np.complex128)


def interval_weights(t: Array) -> Array:
    """Return w with  int_{t_i}^{t_{i+1}} f = sum_k w[i, k] f(t_{i-1+k}), shape (n - 1, 4).

    Inner intervals use the cubic through the four samples around them, h (-1, 13, 13, -1) / 24 on equal
    steps; the two at the ends the parabola through the last three, h (5, 8, -1) / 12. Weights of samples
    that do not exist are 0.
    """
    n = len(t)
    weights = np.zeros((n - 1, 4))
    if n == 2:
        weights[0, 1:3] = (t[1] - t[0]) / 2
        return weights
    step = uniform_step(t)
    if step is not None:
        weights[1:-1] = np.array([-1.0, 13.0, 13.0, -1.0]) * (step / 24)
        weights[0, 1:] = np.array([5.0, 8.0, -1.0]) * (step / 12)
        weights[-1, :3] = np.array([-1.0, 8.0, 5.0]) * (step / 12)
        return weights
    if n > 3:
        inner = np.lib.stride_tricks.sliding_window_view(t, 4)
        weights[1:-1] = _integrals(inner, inner[:, 1], inner[:, 2])
    weights[0, 1:] = _integrals(t[None, :3], t[[0]], t[[1]])[0]
    weights[-1, :3] = _integrals(t[None, -3:], t[[-2]], t[[-1]])[0]
    return weights


def integrate_intervals(weights: Array, values: NDArray[Number]) -> NDArray[Number]:
    """Return the integrals over every interval (n - 1, ...) of sampled functions (n, ...)."""
    n = len(values)
    shape = (-1, *[1] * (values.ndim - 1))
    total: NDArray[Number] = weights[:, 1].reshape(shape) * values[:-1]
    total += weights[:, 2].reshape(shape) * values[1:]
    total[1:] += weights[1:, 0].reshape(shape) * values[: n - 2]
    total[:-1] += weights[:-1, 3].reshape(shape) * values[2:]
    return total


def sections(intervals: int, length: int) -> list[tuple[int, int]]:
    """Return the ranges into which so many intervals are divided to be worked on in turn, none of them very short."""
    borders = [*range(0, max(intervals - length // 8, 1), length), intervals]
    return list(pairwise(borders))


def _integrals(nodes: Array, low: Array, high: Array) -> Array:
    """Return the weights that integrate the polynomial through the nodes (stencils x nodes)."""
    centre = nodes.mean(axis=1, keepdims=True)
    scale = (nodes[:, -1] - nodes[:, 0])[:, None] / 2
    powers = np.arange(nodes.shape[1])
    matrix = ((nodes - centre) / scale)[:, None, :] ** powers[:, None]
    a, b = ((end[:, None] - centre) / scale for end in (low, high))
    moments = scale * (b ** (powers + 1) - a ** (powers + 1)) / (powers + 1)
    return np.asarray(np.linalg.solve(matrix, moments[:, :, None])[:, :, 0])

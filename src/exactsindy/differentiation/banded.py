"""Band matrices of penalised smoothing: third differences, cubic splines, and the trace of an inverse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def third_difference_bands(n: int) -> Array:
    """Return D3'D3 (n x n) in LAPACK's lower band storage: ``bands[k, j]`` is its entry (j + k, j)."""
    weights = (-1.0, 3.0, -3.0, 1.0)
    bands = np.zeros((4, n))
    for a in range(4):
        for b in range(a, 4):
            bands[b - a, a : a + n - 3] += weights[a] * weights[b]
    return bands


def penalty_gradient(x: Array) -> Array:
    """Return D3'D3 x, in factored form, which keeps its rounding error small where x is smooth."""
    rough = np.diff(x, 3, axis=0)
    padded = np.concatenate((np.zeros((3, x.shape[1])), rough, np.zeros((3, x.shape[1]))))
    return np.asarray(-np.diff(padded, 3, axis=0))


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

    def values(self, c: Array) -> Array:
        """Return the samples (n x columns) of the curves with coefficients c."""
        return np.asarray(sum(self.weights[:, k, None] * c[self.start + k] for k in range(4)))

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


def inverse_traces(factors: Array, gram: Array) -> Array:
    """Return trace(A_i^-1 G) from banded Cholesky factors of A_i (i x 4 x n) and the bands of G, in O(n).

    Only the band of the inverse is formed, from the last row upwards (Hutchinson and de Hoog 1985).
    """
    pivot = 1.0 / factors[:, 0] ** 2
    below = factors[:, 1:] / factors[:, :1]
    # window[:, k, l] = entry (i+1+k, i+1+l) of the inverse while row i is computed.
    window = np.zeros((len(factors), 3, 3))
    total = np.zeros(len(factors))
    for i in range(factors.shape[2] - 1, -1, -1):
        column = below[:, :, i]
        beside = -(window @ column[:, :, None])[:, :, 0]
        diagonal = pivot[:, i] - (column * beside).sum(axis=1)
        total += diagonal * gram[0, i] + 2.0 * (beside @ gram[1:, i])
        window[:, 1:, 1:] = window[:, :-1, :-1].copy()
        window[:, 0, 0] = diagonal
        window[:, 0, 1:] = window[:, 1:, 0] = beside[:, :-1]
    return total

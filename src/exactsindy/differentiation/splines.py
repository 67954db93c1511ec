"""Cubic B-splines for penalised smoothing on unequal steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array


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

"""The test function (1 - s^2)^p, its derivatives, and weights that integrate samples against them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from exactsindy._types import Array

# Samples of the local polynomials: their error, h^6, is far below that of any data.
STENCIL = 6


def bump(s: Array, p: int, d: int = 0) -> Array:
    """Return the d-th derivative (in s) of (1 - s^2)^p on [-1, 1], and 0 outside.

    Examples
    --------
    >>> bump(np.array([-1.0, 0.0, 0.5]), 2)
    array([0.    , 1.    , 0.5625])
    """
    # In factored form, without which the expansion would lose its digits where the function is flat.
    flat = np.maximum(1.0 - s * s, 0.0)
    inside = np.abs(s) <= 1.0
    return np.asarray(np.where(inside, _cofactor(p, d)(s) * flat ** max(p - d, 0), 0.0))


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

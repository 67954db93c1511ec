"""Rows with tridiagonal error covariance made independent: Cholesky and forward substitution, O(n D)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactsindy.errors import ProblemError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Whitening:
    """The lower bidiagonal factor L of a tridiagonal covariance, by its diagonal and what is below it.

    ``below[i]`` stands in row i + 1.
    """

    diagonal: Array
    below: Array

    @classmethod
    def of(cls, diagonal: Array, off: Array) -> Whitening:
        """Factor the covariance with this diagonal (n,) and these neighbours' covariances (n - 1,)."""
        from scipy.linalg.lapack import dpbtrf  # loaded when needed: importing it is slow

        bands = np.zeros((2, len(diagonal)))
        bands[0] = diagonal
        bands[1, :-1] = off
        factor, info = dpbtrf(bands, lower=1)
        if info:
            raise ProblemError(
                "The covariance of the increments is not positive definite: the trial model's slopes are too "
                "large for the time step. Use model=None, or sample more often."
            )
        return cls(factor[0], factor[1, :-1])

    def apply(self, rows: Array, start: int, before: Array | None) -> Array:
        """Return L^-1 rows for the rows from ``start`` on, given the whitened row before them."""
        from scipy.linalg.lapack import dtbtrs

        n = len(rows)
        bands = np.zeros((2, n))
        bands[0] = self.diagonal[start : start + n]
        bands[1, :-1] = self.below[start : start + n - 1]
        right = np.asfortranarray(rows)
        if before is not None and start:
            right = right.copy(order="F") if right is rows else right
            right[0] -= self.below[start - 1] * before
        solved, _ = dtbtrs(bands, right, uplo="L")
        return np.asarray(solved)


def increment_covariance(steps: Array, slopes: Array, noise: Array, own: int) -> tuple[Array, Array]:
    """Return diagonal and neighbours' covariance of the errors of increments of one equation.

    The error of row i is  a_i e_{i+1} + b_i e_i - (h_i / 2) sum_l (J_l(i) e^l_i + J_l(i+1) e^l_{i+1})  with
    a_i = 1 - (h_i / 2) J(i+1), b_i = -(1 + (h_i / 2) J(i)) for the equation's own state.

    Parameters
    ----------
    steps
        Lengths h of the intervals (n - 1,).
    slopes
        J, derivatives of the right-hand side by the states (n, d).
    noise
        Standard deviation of the noise of each state (d,).
    own
        The state whose increments these are.
    """
    half = steps / 2
    variance = noise**2
    a = 1.0 - half * slopes[1:, own]
    b = -(1.0 + half * slopes[:-1, own])
    others = slopes**2 @ np.where(np.arange(len(noise)) == own, 0.0, variance)
    diagonal = variance[own] * (a**2 + b**2) + half**2 * (others[:-1] + others[1:])
    off = variance[own] * a[:-1] * b[1:] + half[:-1] * half[1:] * others[1:-1]
    return diagonal, off

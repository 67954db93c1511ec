"""Rows with tridiagonal error covariance made independent: Cholesky and forward substitution, O(n D)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exactsindy import _native as native
from exactsindy._types import Array
from exactsindy.forms.base import NotPositiveDefinite


@dataclass(frozen=True)
class Whitening:
    """The lower bidiagonal factor L of a tridiagonal covariance, by its diagonal and its subdiagonal.

    ``below[i]`` stands in row i, left of the diagonal; ``below[0]`` is 0.
    """

    diagonal: Array
    below: Array

    @classmethod
    def of(cls, diagonal: Array, off: Array, before: Whitening | None = None) -> Whitening:
        """Factor the covariance with this diagonal (n,) and these neighbours' covariances (n - 1,).

        Rows that go on from those of ``before`` have one more neighbour, the last of those: off is (n,).
        """
        root = np.array(diagonal, dtype=float)
        below = np.concatenate(([0.0], off)) if before is None else np.array(off, dtype=float)
        if before is not None:
            below[0] /= before.diagonal[-1]
            root[0] -= below[0] ** 2
        if not native.tridiagonal_cholesky(root, below[1:]):
            raise NotPositiveDefinite(
                "The covariance of the increments is not positive definite: the trial model's slopes are too "
                "large for the time step. Use model=None, or sample more often."
            )
        return cls(root, below)

    def whiten(self, change: Array) -> Array:
        """Return L^-1 change."""
        nothing = Increments(np.empty((0, len(change) + 1)), 0, np.zeros((len(change), 4)))
        return np.asarray(self.apply(nothing, change, 0, np.zeros(1))[0])

    def apply(self, increments: Increments, change: Array, start: int, previous: Array) -> Array:
        """Return L^-1 [int theta dt, change] for the rows from ``start`` on, (terms + 1) x rows.

        ``previous`` (terms + 1) is the whitened row before them, zeros at the start; it is overwritten by the last
        of the rows.
        """
        rows = slice(start, start + len(change))
        out = np.empty((len(increments.values) + 1, len(change)))
        inputs = (increments.values, increments.before, increments.weights, np.ascontiguousarray(change))
        native.whiten(*inputs, self.diagonal[rows], self.below[rows], previous, out)
        return out


@dataclass(frozen=True)
class Increments:
    """Columns of a library (terms x samples) and the weights (rows x 4) that integrate them over intervals.

    Row 0 is the interval after sample ``before``, which is 1 unless the trajectory starts there.
    """

    values: Array
    before: int
    weights: Array


def increment_covariance(steps: Array, slopes: Array, noise: Array, own: int) -> tuple[Array, Array]:
    """Return diagonal and neighbours' covariance of the errors of increments of one equation.

    The error of row i is  a_i e_{i+1} + b_i e_i - (h_i / 2) sum_l (J_l(i) e^l_i + J_l(i+1) e^l_{i+1})  with
    a_i = 1 - (h_i / 2) J(i+1), b_i = -(1 + (h_i / 2) J(i)) for the equation's own state, number ``own``. Steps h are
    (n - 1,), slopes J of the right-hand side by the states (n, d), noise levels of the states (d,).
    """
    half = steps / 2
    variance = noise**2
    a = 1.0 - half * slopes[1:, own]
    b = -(1.0 + half * slopes[:-1, own])
    others = slopes**2 @ np.where(np.arange(len(noise)) == own, 0.0, variance)
    diagonal = variance[own] * (a**2 + b**2) + half**2 * (others[:-1] + others[1:])
    off = variance[own] * a[:-1] * b[1:] + half[:-1] * half[1:] * others[1:-1]
    return diagonal, off

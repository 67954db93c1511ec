"""Gauss-Newton steps of trajectory fits with many states: blocks of neighbouring samples, factored as a band."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.trajectory_fit.protocols import GaussNewtonStep

# Samples that the integral over an interval reaches: those of the cubic of `interval_weights`.
_REACH = 4
# Weights of these samples in the change of a state over the interval: the third less the second.
_SIGNS = np.array([0.0, -1.0, 1.0, 0.0])


def profile_states(
    residual: Array,
    defect: Array,
    weights: Array,
    slopes: Array,
    integrals: Array,
    own: NDArray[np.int64],
    precision: float,
    damping: float,
) -> GaussNewtonStep | None:
    """Minimise |residual - dx|^2 + precision |defect + D dx - integrals dp|^2 over states dx and coefficients dp.

    D dx is the change of own states (e) over an interval less the integral of slopes dx, by ``weights`` (n - 1 x 4).
    Rows are independent of each other: unlike the kernel for trajectories, one coefficient may act on many of them.
    Shapes are: residual (samples less states) n x s, defect (what states leave of their equations) n - 1 x e, slopes
    of the rates n x e x s, integrated terms n - 1 x e x p. ``damping`` is the share by which diagonals are raised
    (Marquardt). None if numbers overflow.
    """
    n, s = residual.shape
    p = integrals.shape[2]
    signs = np.broadcast_to(_SIGNS, weights.shape)
    sides = precision * np.concatenate([-defect[:, :, None], integrals], axis=2)
    with np.errstate(all="ignore"):
        right = -np.matmul(slopes.transpose(0, 2, 1), _gathered(weights, sides))
        right[:, own] += _gathered(signs, sides)
        right[:, :, 0] += residual
        blocks = precision * _products(weights, signs, slopes, own)
    if not (np.isfinite(right).all() and np.isfinite(blocks).all()):
        return None
    blocks = blocks.reshape(n, _REACH * s, s)
    diagonal = np.einsum("nii->ni", blocks[:, :s])
    diagonal += 1.0
    diagonal *= 1.0 + damping
    from scipy.linalg import lapack  # loaded when needed: it takes as much memory as numpy

    factor, failed = lapack.dpbtrf(_band(blocks), lower=1, overwrite_ab=1)
    if failed:
        return None
    flat = right.reshape(n * s, 1 + p)
    solved, _ = lapack.dpbtrs(factor, flat, lower=1)
    across = flat[:, 1:]
    curvature = precision * np.tensordot(integrals, integrals, ((0, 1), (0, 1))) - across.T @ solved[:, 1:]
    slope = precision * np.tensordot(integrals, defect, ((0, 1), (0, 1))) + across.T @ solved[:, 0]
    change, moves = coefficient_change(curvature, slope, damping)
    states = solved[:, 0] + solved[:, 1:] @ change
    return GaussNewtonStep(states.reshape(n, s), change, curvature, slope, moves)


def _gathered(weights: Array, rows: Array) -> Array:
    """Return for each sample the sum of the rows of all intervals that reach it, weighted (n x ...)."""
    n = len(weights) + 1
    total = np.zeros((n, *rows.shape[1:]))
    for b in range(_REACH):
        low, high = max(0, 1 - b), min(n - 1, n + 1 - b)  # the intervals whose b-th sample exists
        total[low - 1 + b : high - 1 + b] += weights[low:high, b].reshape(-1, *[1] * (rows.ndim - 1)) * rows[low:high]
    return total


def _products(weights: Array, signs: Array, slopes: Array, own: NDArray[np.int64]) -> Array:
    """Return the blocks of D'D that couple sample j with j .. j + 3 (n x 4 x s x s), row the later sample.

    D is signs P - weights J for each sample that an interval reaches, P picking own states and J the slopes: sums over
    intervals are sums over their weights alone, so that each pair of samples needs one product of slopes.
    """
    n, _, s = slopes.shape
    blocks = np.zeros((n, _REACH, s, s))
    # Neighbouring states as a slice, which is faster to work on.
    states = slice(int(own[0]), int(own[-1]) + 1) if (np.diff(own) == 1).all() else own
    for o in range(_REACH):
        pairs = np.zeros((n, 4))
        for b in range(_REACH - o):
            low, high = max(0, 1 - b), min(n - 1, n + 1 - b - o)
            w, g = weights[low:high, b], signs[low:high, b]
            later_w, later_g = weights[low:high, b + o], signs[low:high, b + o]
            at = slice(low - 1 + b, high - 1 + b)
            pairs[at] += np.column_stack([later_w * w, later_w * g, later_g * w, later_g * g])
        here, there = slopes[: n - o], slopes[o:]
        both, first, second, plain = pairs[: n - o].T[:, :, None, None]
        part = both * np.matmul(there.transpose(0, 2, 1), here)
        part[:, :, states] -= first * there.transpose(0, 2, 1)
        part[:, states] -= second * here
        np.einsum("nii->ni", part)[:, states] += plain[:, :, 0]
        blocks[: n - o, o] = part
    return blocks


def _band(blocks: Array) -> Array:
    """Return the lower band of a symmetric matrix (Fortran order) from its block columns below the diagonal."""
    n, height, s = blocks.shape
    band = np.zeros((n * s, height))
    columns = band.reshape(n, s, height)
    for c in range(s):
        columns[:, c, : height - c] = blocks[:, c:, c]
    return band.T


def coefficient_change(curvature: Array, slope: Array, damping: float) -> tuple[Array, bool]:
    """Return the change of coefficients, zero and False if terms are dependent."""
    if not len(slope):
        return slope.copy(), True
    raised = curvature + np.diag(damping * np.diag(curvature))
    from scipy.linalg import lapack

    factor, failed = lapack.dpotrf(raised, lower=1)
    if failed:
        return np.zeros_like(slope), False
    solved, _ = lapack.dpotrs(factor, slope, lower=1)
    return np.asarray(solved), True

"""Gauss-Newton steps of orbits with many states: blocks of neighbouring samples, factored as a band."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from exactsindy.likelihood.step import Step

Array = NDArray[np.float64]

# Samples that the integral over an interval reaches.
_REACH = 4


def profile_states(
    residual: Array,
    defect: Array,
    weights: Array,
    slopes: Array,
    integrals: Array,
    own: NDArray[np.int64],
    precision: float,
    damping: float,
) -> Step | None:
    """Minimise |residual - dx|^2 + precision |defect + D dx - integrals dp|^2 over states dx and coefficients dp.

    D dx is the change of own states over an interval less the integral of slopes dx. Rows are independent of each
    other: unlike the kernel for trajectories, one coefficient may act on many of them.

    Parameters
    ----------
    residual
        Samples less states (n x s).
    defect, integrals
        What states leave of their equations (n - 1 x e), and integrated terms (n - 1 x e x p).
    weights
        Of the integrals over intervals (n - 1 x 4).
    slopes
        Of the rates (n x e x s).
    own
        The states that equations are for (e).
    precision, damping
        Weight of the equations; share by which diagonals are raised (Marquardt).

    Returns
    -------
    Step or None
        None if numbers overflow.
    """
    n, s = residual.shape
    p = integrals.shape[2]
    windows = _windows(weights, slopes, own)
    right = np.zeros((n, s, 1 + p))
    right[:, :, 0] = residual
    # A window's part of D' (defect, -integrals), added to the four samples it reaches.
    sides = np.concatenate([-defect[:, :, None], integrals], axis=2)
    with np.errstate(all="ignore"):
        moments = precision * np.matmul(windows.transpose(0, 2, 1), sides)
        products = precision * np.matmul(windows.transpose(0, 2, 1), windows)
    if not (np.isfinite(moments).all() and np.isfinite(products).all()):
        return None
    blocks = np.zeros((n, _REACH * s, s))
    for b in range(_REACH):
        low, high = max(0, 1 - b), min(n - 1, n + 1 - b)  # windows whose b-th sample exists
        at = slice(low - 1 + b, high - 1 + b)
        right[at] += moments[low:high, b * s : (b + 1) * s]
        blocks[at, : (_REACH - b) * s] += products[low:high, b * s :, b * s : (b + 1) * s]
    diagonal = np.einsum("nii->ni", blocks[:, :s])
    diagonal += 1.0
    diagonal *= 1.0 + damping
    factor, failed = lapack.dpbtrf(_band(blocks), lower=1, overwrite_ab=1)
    if failed:
        return None
    flat = right.reshape(n * s, 1 + p)
    solved, _ = lapack.dpbtrs(factor, flat, lower=1)
    across = flat[:, 1:]
    curvature = precision * np.tensordot(integrals, integrals, ((0, 1), (0, 1))) - across.T @ solved[:, 1:]
    slope = precision * np.tensordot(integrals, defect, ((0, 1), (0, 1))) + across.T @ solved[:, 0]
    change, moves = _coefficients(curvature, slope, damping)
    states = solved[:, 0] + solved[:, 1:] @ change
    return Step(states.reshape(n, s), change, curvature, slope, moves)


def _windows(weights: Array, slopes: Array, own: NDArray[np.int64]) -> Array:
    """Return D by intervals: what the states of the four samples around each do to its equations (n - 1 x e x 4 s)."""
    n, e, s = slopes.shape
    windows = np.zeros((n - 1, e, _REACH, s))
    for b in range(_REACH):
        low, high = max(0, 1 - b), min(n - 1, n + 1 - b)
        windows[low:high, :, b] = -weights[low:high, b, None, None] * slopes[low - 1 + b : high - 1 + b]
    rows = np.arange(e)
    windows[:, rows, 1, own] -= 1.0
    windows[:, rows, 2, own] += 1.0
    return windows.reshape(n - 1, e, _REACH * s)


def _band(blocks: Array) -> Array:
    """Return the lower band of a symmetric matrix (Fortran order) from its block columns below the diagonal."""
    n, height, s = blocks.shape
    band = np.zeros((n * s, height))
    columns = band.reshape(n, s, height)
    for c in range(s):
        columns[:, c, : height - c] = blocks[:, c:, c]
    return band.T


def _coefficients(curvature: Array, slope: Array, damping: float) -> tuple[Array, bool]:
    """Return the change of coefficients, zero and False if terms are dependent."""
    if not len(slope):
        return slope.copy(), True
    raised = curvature + np.diag(damping * np.diag(curvature))
    factor, failed = lapack.dpotrf(raised, lower=1)
    if failed:
        return np.zeros_like(slope), False
    solved, _ = lapack.dpotrs(factor, slope, lower=1)
    return np.asarray(solved), True

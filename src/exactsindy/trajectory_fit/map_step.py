"""Gauss-Newton steps of trajectory fits of maps: every step of the map couples a few neighbouring samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.trajectory_fit.block_banded import coefficient_change
from exactsindy.trajectory_fit.protocols import GaussNewtonStep


def profile_map(
    residual: Array,
    defect: Array,
    reach: Array,
    starts: NDArray[np.int64],
    columns: Array,
    precision: float,
    damping: float,
) -> GaussNewtonStep | None:
    """Minimise |residual - dx|^2 + precision |defect + D dx - columns dp|^2 over states dx and coefficients dp.

    Shapes are: residual (samples less states) n x s, defect (what states leave of their equations) m x e, reach (the
    derivative D of the defect of a step by the b samples around it) m x e x b x s, columns (terms) m x e x p.
    ``starts`` is the last but one of the b samples of each step. ``damping`` is the share by which diagonals are raised
    (Marquardt). None if numbers overflow.
    """
    n, s = residual.shape
    steps, e, b, _ = reach.shape
    p = columns.shape[2]
    first = starts + 2 - b
    flat = reach.reshape(steps, e, b * s)
    with np.errstate(all="ignore"):
        products = precision * np.matmul(flat.transpose(0, 2, 1), flat)
        sides = precision * np.concatenate([-defect[:, :, None], columns], axis=2)
        pulled = np.matmul(flat.transpose(0, 2, 1), sides).reshape(steps, b, s, 1 + p)
    if not (np.isfinite(products).all() and np.isfinite(pulled).all()):
        return None
    right = np.zeros((n, s, 1 + p))
    for j in range(b):
        right[first + j] += pulled[:, j]
    right[:, :, 0] += residual
    band = np.zeros((b * s, n * s))
    for column in range(b * s):
        for row in range(column, b * s):
            band[row - column, first * s + column] += products[:, row, column]
    band[0] += 1.0
    band[0] *= 1.0 + damping
    from scipy.linalg import lapack  # loaded when needed: it takes as much memory as numpy

    factor, failed = lapack.dpbtrf(np.asfortranarray(band), lower=1, overwrite_ab=1)
    if failed:
        return None
    table = right.reshape(n * s, 1 + p)
    solved, _ = lapack.dpbtrs(factor, table, lower=1)
    across = table[:, 1:]
    curvature = precision * np.tensordot(columns, columns, ((0, 1), (0, 1))) - across.T @ solved[:, 1:]
    slope = precision * np.tensordot(columns, defect, ((0, 1), (0, 1))) + across.T @ solved[:, 0]
    change, moves = coefficient_change(curvature, slope, damping)
    states = solved[:, 0] + solved[:, 1:] @ change
    return GaussNewtonStep(states.reshape(n, s), change, curvature, slope, moves)

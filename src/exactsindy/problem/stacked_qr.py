"""The factor of a triangular factor with more rows below it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from exactsindy import _native as native

Matrix = npt.NDArray[np.float64]

# Rows collected before they are reduced.
BLOCK_ROWS = 1024


def triangular_factor(matrix: Matrix) -> Matrix:
    """Return the R of a QR factorisation, (min(n, width), width), zeros below the diagonal."""
    return np.asarray(np.linalg.qr(matrix, mode="r"))


def absorb(factor: Matrix, rows: Matrix, *, triangular: bool = False) -> None:
    """Overwrite `factor` (square, upper triangular) by that of [factor; rows].

    Householder reflections in blocks of rows that suit the cache. `triangular` says that `rows` is upper
    trapezoidal.
    """
    work = np.asfortranarray(factor)
    native.absorb(work, np.asfortranarray(rows), triangular)
    if work is not factor:
        factor[...] = work

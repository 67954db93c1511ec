"""The factor of a triangular factor with more rows below it, in pieces that suit the cache and BLAS."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]

# Rows reduced together: few enough to stay in cache.
BLOCK_ROWS = 512
# With these sizes every BLAS call stays below the size from which OpenBLAS starts threads. Thousands of small
# threaded calls cost up to forty times the work itself as soon as another program uses one of the cores.
_SLAB_COLUMNS = 64
_PANEL_COLUMNS = 8


def triangular_factor(matrix: Matrix) -> Matrix:
    """Return the R of a QR factorisation, (min(n, width), width), zeros below the diagonal."""
    return np.asarray(np.linalg.qr(matrix, mode="r"))


def absorb(factor: Matrix, rows: Matrix, *, triangular: bool = False) -> None:
    """Overwrite `factor` (square, upper triangular) by that of [factor; rows], and `rows` by scratch.

    Householder QR by slabs of columns: LAPACK's dtpqrt factors a slab, knowing that `factor` is triangular,
    and dtpmqrt applies the reflections to the slabs right of it. `triangular` says that `rows` is upper
    trapezoidal.
    """
    # Imported when needed: SciPy takes longer to load than the rest of the package.
    from scipy.linalg.lapack import dtpmqrt, dtpqrt

    count, width = rows.shape
    for a in range(0, width if count else 0, _SLAB_COLUMNS):
        b = min(a + _SLAB_COLUMNS, width)
        height = min(b, count) if triangular else count
        slanted = max(height - a, 0) if triangular else 0
        panel = min(_PANEL_COLUMNS, b - a)
        factor[a:b, a:b], reflectors, t, _ = dtpqrt(slanted, panel, factor[a:b, a:b], rows[:height, a:b], overwrite_b=1)
        for c in range(b, width, _SLAB_COLUMNS):
            d = min(c + _SLAB_COLUMNS, width)
            factor[a:b, c:d], changed, _ = dtpmqrt(
                slanted, reflectors, t, factor[a:b, c:d], rows[:height, c:d], trans="T", overwrite_b=1
            )
            # LAPACK works in place where the piece is contiguous.
            if not np.may_share_memory(changed, rows):
                rows[:height, c:d] = changed


def absorb_in_blocks(factor: Matrix, rows: Matrix) -> None:
    """Overwrite `factor` by that of [factor; rows], a block of rows after the other."""
    for start in range(0, len(rows), BLOCK_ROWS):
        absorb(factor, np.asfortranarray(rows[start : start + BLOCK_ROWS]))

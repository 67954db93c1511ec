"""Matrix products in pieces that BLAS computes on one thread."""

from __future__ import annotations

import numpy as np

from exactsindy._types import Array

# From this many multiplications on OpenBLAS starts threads. Thousands of small threaded products cost many
# times the work itself as soon as another program uses one of the cores.
_THREADED = 1 << 18


def product(left: Array, right: Array) -> Array:
    """Return left @ right for few rows and columns but a long inner dimension.

    Examples
    --------
    >>> product(np.ones((2, 5)), np.ones((5, 3)))[0]
    array([5., 5., 5.])
    """
    (m, k), n = left.shape, right.shape[1]
    step = max((_THREADED - 1) // max(m * n, 1), 1)
    if step >= k:
        return left @ right
    if step < 64:
        # Too many rows and columns for one piece: halve them.
        half = (m + 1) // 2
        if m >= n and m > 1:
            return np.vstack([product(left[:half], right), product(left[half:], right)])
        half = (n + 1) // 2
        return np.hstack([product(left, right[:, :half]), product(left, right[:, half:])])
    total = left[:, :step] @ right[:step]
    for a in range(step, k, step):
        total += left[:, a : a + step] @ right[a : a + step]
    return np.asarray(total)

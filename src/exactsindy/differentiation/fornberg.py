"""Finite-difference weights for any derivative on any nodes (Fornberg 1988)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array


def fornberg_weights(nodes: ArrayLike, at: ArrayLike, d: int) -> Array:
    """Return w with sum_j w_j f(nodes_j) = f^(d)(at), exact for polynomials of degree < number of nodes.

    Parameters
    ----------
    nodes
        Sample positions, shape (..., width): one stencil per leading index, all computed together.
    at
        Where the derivative is wanted, shape (...).
    d
        Order of the derivative; 0 interpolates.

    Examples
    --------
    >>> fornberg_weights([-1.0, 0.0, 1.0], 0.0, 2)
    array([ 1., -2.,  1.])
    """
    z = np.asarray(nodes, dtype=float)
    x = np.asarray(at, dtype=float)
    width = z.shape[-1]
    offset = z - x[..., None]
    # table[..., m, j]: weight of node j for derivative m, over the nodes taken so far.
    table = np.zeros((*z.shape[:-1], d + 1, width))
    table[..., 0, 0] = 1.0
    c1 = np.ones(z.shape[:-1])
    for i in range(1, width):
        c2 = np.ones(z.shape[:-1])
        previous = table[..., i - 1].copy()
        for j in range(i):
            c3 = z[..., i] - z[..., j]
            c2 = c2 * c3
            for m in range(min(i, d), -1, -1):
                lower = m * table[..., m - 1, j] if m else 0.0
                table[..., m, j] = (offset[..., i] * table[..., m, j] - lower) / c3
        for m in range(min(i, d), -1, -1):
            lower = m * previous[..., m - 1] if m else 0.0
            table[..., m, i] = c1 / c2 * (lower - offset[..., i - 1] * previous[..., m])
        c1 = c2
    return np.asarray(table[..., d, :])

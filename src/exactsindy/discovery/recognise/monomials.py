"""Monomials of columns, by which recognisers ask what the columns can explain."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from exactsindy._types import Array


def monomials(points: Array, degree: int) -> Array:
    """Return all products of up to ``degree`` columns (n x terms), the constant first.

    Examples
    --------
    >>> monomials(np.array([[2.0, 3.0]]), 2).tolist()
    [[1.0, 2.0, 3.0, 4.0, 6.0, 9.0]]
    """
    columns: dict[tuple[int, ...], Array] = {(): np.ones(len(points))}
    for size in range(1, degree + 1):
        for word in combinations_with_replacement(range(points.shape[1]), size):
            columns[word] = columns[word[:-1]] * points[:, word[-1]]
    return np.column_stack(list(columns.values()))


def left_over(columns: Array, targets: Array) -> Array:
    """Return the share of the mean square of each target (n x targets) that a fit of the columns leaves."""
    q, _ = np.linalg.qr(columns)
    size = (targets**2).sum(axis=0)
    left = ((targets - q @ (q.T @ targets)) ** 2).sum(axis=0)
    return np.asarray(left / np.where(size > 0, size, 1.0))

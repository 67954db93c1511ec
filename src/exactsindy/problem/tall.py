"""Compression of very many rows: products of rows that the factor so far has made nearly orthonormal."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

import numpy as np

from exactsindy._limits import go_on
from exactsindy.problem.block import Block
from exactsindy.problem.build import Collector, Names
from exactsindy.problem.compress import Matrix, merge_factors

# Mean square of new rows in units of the rows before them up to which products lose no more than four of 16 digits.
_LARGEST = 1e4


class TallCollector:
    """Compresses rows [theta target] to a block, several times faster than `Collector` where they are many.

    Rows A that follow a factor R are taken as X = A / R; then [R; A] has the factor chol(I + X'X) R. X is as large as
    the share of A in all rows, so that the product loses no digits, however dependent the columns are; where it
    would, Householder reflections take its place.
    """

    def __init__(self, names: Names, target_names: tuple[str, ...]) -> None:
        self._names, self._target_names = names, target_names
        self._start: Collector | None = Collector(names, target_names)
        self._block: Block | None = None
        self._count = 0

    def add(self, rows: Matrix) -> None:
        """Take in rows, the target last."""
        go_on()
        self._count += len(rows)
        if self._start is not None:
            self._start.add((rows[:, :-1], rows[:, -1:]))
            if self._count >= 2 * rows.shape[1]:
                self._block, self._start = self._start.block(), None
            return
        assert self._block is not None
        factor = grown(self._block.factor, rows)
        if factor is None:
            apart = Collector(self._names, self._target_names)
            apart.add((rows[:, :-1], rows[:, -1:]))
            factor = merge_factors(self._block.factor, apart.block().factor)
        self._block = Block(factor, self._count, self._block.terms, self._block.target_names)

    def block(self) -> Block:
        """Return the block of all rows."""
        if self._start is not None:
            return self._start.block()
        assert self._block is not None
        return self._block


def grown(factor: Matrix, rows: Matrix) -> Matrix | None:
    """Return the triangular factor of [factor; rows] by products, or None where that would lose digits."""
    from scipy.linalg.blas import dtrsm

    width = len(factor)
    if not np.diagonal(factor).all():
        return None
    # In C order rows are the columns of their transpose: X' solves R' X' = A'.
    with one_thread():
        share = dtrsm(1.0, factor, np.ascontiguousarray(rows).T, trans_a=1).T
        product = share.T @ share
    if not np.trace(product) <= _LARGEST * width:
        return None
    product[np.diag_indices(width)] += 1.0
    return np.asarray(np.triu(np.linalg.cholesky(product).T @ factor))


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which BLAS uses one thread.

    For hundreds of products that take milliseconds: threads wait for one another at the end of each, and where another
    program keeps one of the cores busy that costs ten times the work itself.
    """
    return _libraries().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _libraries() -> Any:
    # SciPy brings a BLAS of its own: it must be loaded to be found.
    import scipy.linalg.blas  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()

"""Compression of rows to a triangular factor by orthogonal transformations, a block of rows at a time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from exactsindy._limits import go_on

Matrix = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.generic]

# Rows collected before they are reduced.
BLOCK_ROWS = 1024
# Rounding grows with the number of reductions in a row: this many blocks are reduced apart, then joined.
GROUP_BLOCKS = 32
# Columns whose largest entry lies within 2**-400 .. 2**400 need no scaling: sums of their products with the
# unit-sized Householder vectors neither overflow nor lose digits to underflow.
_SAFE_EXPONENT = 400
_SMALL, _LARGE = 2.0**-_SAFE_EXPONENT, 2.0**_SAFE_EXPONENT


def triangular_factor(matrix: Matrix) -> Matrix:
    """Return the R of a QR factorisation, (min(n, width), width), zeros below the diagonal."""
    return np.asarray(np.linalg.qr(matrix, mode="r"))


def absorb(factor: Matrix, rows: Matrix, *, triangular: bool = False) -> None:
    """Overwrite `factor` (square, upper triangular) by that of [factor; rows]; `triangular`: rows are trapezoidal."""
    from exactsindy import _native as native  # checking stored problems needs no native code

    work = np.asfortranarray(factor)
    native.absorb(work, np.asfortranarray(rows), triangular)
    if work is not factor:
        factor[...] = work


class RowCompressor:
    """Reduces the rows of a `width`-column matrix A to R, upper triangular, with R'R = A'A up to rounding.

    The result does not depend on how the rows come in pieces: they are collected to blocks of fixed size.
    A column of zeros stays a column of zeros; fewer than `width` rows leave the rows below them exactly zero.
    """

    def __init__(self, width: int) -> None:
        self.n_rows = 0
        self._total: Matrix | None = None
        self._factor: Matrix = np.zeros((width, width), order="F")
        self._group = 0
        # At least `width` rows, so that only the first block can have fewer rows than columns so far.
        self._block: Matrix = np.empty((-(-width // BLOCK_ROWS) * BLOCK_ROWS, width), order="F")
        self._pending = 0
        self._peak: Matrix = np.zeros(width)
        self._exponents = np.zeros(width, dtype=np.int32)
        self._largest = 0.0
        self._scaled = False  # whether one of the exponents is not zero
        self._underflowed = np.zeros(width, dtype=bool)

    def append(self, theta: Numbers, targets: Numbers, weights: Matrix | None = None) -> bool:
        """Take in the rows of [theta targets], times the root of their weight; False if some are not finite.

        Rows of weight 0 are left out. After False the compressor must not be used any more.
        """
        kept = None if weights is None or weights.all() else np.flatnonzero(weights)
        roots = None if weights is None else np.sqrt(weights)
        start, stop = 0, len(theta) if kept is None else len(kept)
        # A value beyond double (longdouble, or a huge weight) becomes infinite in a block and is refused there.
        with np.errstate(all="ignore"):
            while start < stop:
                count = min(stop - start, len(self._block) - self._pending)
                rows = slice(start, start + count) if kept is None else kept[start : start + count]
                if not self._take(theta[rows], targets[rows], None if roots is None else roots[rows]):
                    return False
                start += count
        return True

    def factor(self) -> Matrix:
        """Return R for all rows; entries too large for a double are infinite. The last call to make."""
        self._reduce()
        return _scale(self._close_group(), self._exponents)

    @property
    def vanished(self) -> npt.NDArray[np.bool_]:
        """Which columns were not zero until their weights made all their entries underflow."""
        return np.asarray(self._underflowed & (self._peak == 0))

    def _take(self, theta: Numbers, targets: Numbers, roots: Matrix | None) -> bool:
        go_on()
        piece = self._block[self._pending : self._pending + len(theta)]
        width = theta.shape[1]
        piece[:, :width] = theta
        piece[:, width:] = targets
        nonzero = None if roots is None else piece.any(axis=0)
        if roots is not None:
            piece *= roots[:, np.newaxis]
        # The extremes serve twice: NaN and infinity show in them, and they choose the scaling.
        peak = np.maximum(piece.max(axis=0), -piece.min(axis=0))
        largest = peak.max()
        if not largest < np.inf:
            return False
        self._largest = max(self._largest, largest)
        if nonzero is not None:
            self._underflowed |= nonzero & (peak == 0)
        np.maximum(self._peak, peak, out=self._peak)
        self._pending += len(theta)
        self.n_rows += len(theta)
        if self._pending == len(self._block):
            self._reduce()
        return True

    def _reduce(self) -> None:
        block = self._block[: self._pending]
        self._pending = 0
        if self._rescale():
            block[:] = _scale(block, -self._exponents)
        if self.n_rows < self._factor.shape[1]:
            self._factor[: len(block)] = triangular_factor(block)
        else:
            absorb(self._factor, block)
        self._group += 1
        if self._group == GROUP_BLOCKS:
            self._close_group()

    def _rescale(self) -> bool:
        """Scale what is summed so far as the peaks ask for; True if the columns are scaled at all."""
        peaks = self._peak
        if not self._scaled and self._largest < _LARGE and peaks.min() > _SMALL:
            return False  # almost always: no exponent has to be taken apart
        exponents = _guard_exponents(peaks)
        change = self._exponents - exponents
        if change.any():
            self._factor = np.asfortranarray(_scale(self._factor, change))
            self._total = None if self._total is None else np.asfortranarray(_scale(self._total, change))
            self._exponents = exponents
        self._scaled = bool(exponents.any())
        return self._scaled

    def _close_group(self) -> Matrix:
        if self._total is None:
            self._total = self._factor
        else:
            absorb(self._total, self._factor, triangular=True)
        self._factor = np.zeros_like(self._total)
        self._group = 0
        return self._total


def merge_factors(first: Matrix, second: Matrix) -> Matrix:
    """Return the triangular factor of two stacked upper triangular factors of the same width."""
    exponents = _guard_exponents(np.maximum(np.abs(first).max(axis=0), np.abs(second).max(axis=0)))
    upper, lower = (_scale(factor[: _used_rows(factor)], -exponents) for factor in (first, second))
    width = first.shape[1]
    if len(upper) < len(lower):
        upper, lower = lower, upper
    if len(upper) < width:
        used = min(len(upper) + len(lower), width)
        merged = np.zeros((width, width))
        merged[:used] = triangular_factor(np.concatenate([upper, lower]))
    else:
        merged = upper
        absorb(merged, lower, triangular=True)
    return _scale(merged, exponents)


def column_norms(matrix: Matrix) -> Matrix:
    """Return the 2-norms of the columns, infinite only if the norm itself exceeds the doubles."""
    _, exponents = np.frexp(np.abs(matrix).max(axis=0, initial=0.0))
    scaled = _scale(matrix, -exponents)
    with np.errstate(under="ignore"):
        norms = np.sqrt(np.square(scaled).sum(axis=0))
    return _scale(norms, exponents)


def _guard_exponents(peak: Matrix) -> npt.NDArray[np.int32]:
    """Return e such that columns times 2**-e are safe to factor; powers of two cost no rounding."""
    _, exponents = np.frexp(peak)
    return np.where(np.abs(exponents) > _SAFE_EXPONENT, exponents, 0).astype(np.int32)


def _scale(matrix: Matrix, exponents: npt.NDArray[np.int32]) -> Matrix:
    """Return the columns times 2**exponents: exact, but infinite or rounded outside the range of doubles."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return np.asarray(np.ldexp(matrix, exponents))


def _used_rows(factor: Matrix) -> int:
    used = np.flatnonzero(factor.any(axis=1))
    return int(used[-1]) + 1 if len(used) else 0

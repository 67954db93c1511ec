"""The stored numbers of a problem, read without the package that wrote them."""

from __future__ import annotations

import hashlib
import math
import os
import struct
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from exactsindy_check.errors import NotChecked, Unreadable

Vector = npt.NDArray[np.float64]

# What zipfile and NumPy raise for damaged files (RuntimeError: encrypted or patched entries).
_DAMAGE = (
    *(ValueError, TypeError, KeyError, EOFError, ArithmeticError, MemoryError, RuntimeError, AttributeError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)
_MOST_BYTES = 2**31  # of all arrays of a problem, unpacked
UNIT = 2.0**-53  # unit roundoff
SMALL = 2.0**-500  # more than what underflow of squares can take from a norm


@dataclass(frozen=True, eq=False)
class Equation:
    """One equation: |z - A x|^2 + sum ridge_j x_j^2 + |rest|^2, with A upper triangular; stored doubles."""

    a: Vector  # (D, D)
    z: Vector  # (D,)
    rest: Vector
    ridge: Vector  # (D,)

    @property
    def columns(self) -> int:
        """The number D of columns."""
        return len(self.z)

    @cached_property
    def rest_square(self) -> Fraction:
        """The square of |rest|, exactly."""
        return sum((Fraction(x) ** 2 for x in self.rest.tolist()), Fraction(0))

    @cached_property
    def target_square(self) -> Fraction:
        """The square of |y|, exactly: z and rest together."""
        return self.rest_square + sum((Fraction(x) ** 2 for x in self.z.tolist()), Fraction(0))


@dataclass(frozen=True, eq=False)
class Scaled:
    """An equation in units where (ridge-augmented) columns and the whole target have norms near 1, without `rest`.

    Scaling is by powers of two and exact, so a support has the same fit in both, times 4**target_exponent.
    """

    a: Vector
    z: Vector
    ridge: Vector
    exponent: npt.NDArray[np.int64]  # stored column = scaled column * 2**exponent
    target_exponent: int
    norm: Vector  # upper bounds of |a_j|
    augmented: Vector  # upper bounds of sqrt(|a_j|^2 + ridge_j)
    z_norm: float  # upper bound of |z|
    cut: float  # upper bound of (cut - |rest|^2) / 4**target_exponent
    box: Vector  # upper bounds of C |y| / |a_j|; 0 for zero columns


def scaled(equation: Equation, limit: float, cut: Fraction | None) -> Scaled:
    """Return the equation in units near 1; `limit` is C; a cut of None is infinite."""
    a, ridge = equation.a, equation.ridge
    largest = np.maximum(np.abs(a).max(axis=0), np.sqrt(ridge))
    exponent = np.where(largest > 0, np.frexp(largest)[1], 0).astype(np.int64)
    whole = np.concatenate([equation.z, equation.rest])
    top = float(np.abs(whole).max())
    target_exponent = math.frexp(top)[1] if top > 0 else 0
    small_a = np.ldexp(a, -exponent)
    small_z = np.ldexp(equation.z, -target_exponent)
    small_ridge = np.ldexp(np.ldexp(ridge, -exponent), -exponent)
    kept = (
        np.array_equal(np.ldexp(small_a, exponent), a)
        and np.array_equal(np.ldexp(small_z, target_exponent), equation.z)
        and np.array_equal(np.ldexp(np.ldexp(small_ridge, exponent), exponent), ridge)
    )
    if not kept:
        raise NotChecked("the entries of a column, or of the target, differ by more than the range of doubles.")
    n = len(small_z)
    grow = 1.0 + 4.0 * (n + 8) * UNIT
    square = (small_a**2).sum(axis=0)
    norm = np.sqrt(square) * grow + SMALL
    lower = np.sqrt(square) / grow - SMALL
    y_norm = root_above(equation.target_square / Fraction(4) ** target_exponent)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        box = np.where(a.any(axis=0), limit * y_norm / np.maximum(lower, 0.0) * (1.0 + 8.0 * UNIT), 0.0)
    return Scaled(
        a=np.asfortranarray(small_a),
        z=small_z,
        ridge=small_ridge,
        exponent=exponent,
        target_exponent=target_exponent,
        norm=norm,
        augmented=np.sqrt(square + small_ridge) * grow + SMALL,
        z_norm=float(np.sqrt((small_z**2).sum())) * grow + SMALL,
        cut=math.inf if cut is None else above((cut - equation.rest_square) / Fraction(4) ** target_exponent),
        box=box,
    )


def above(number: Fraction) -> float:
    """Return a double that is at least `number`."""
    try:
        near = float(number)
    except OverflowError:
        return math.inf if number > 0 else -1.7e308
    return near if Fraction(near) >= number else math.nextafter(near, math.inf)


def root_above(number: Fraction) -> float:
    """Return a double that is at least the root of `number`."""
    return math.sqrt(above(number)) * (1.0 + 4.0 * UNIT)


@dataclass(frozen=True, eq=False)
class Instance:
    """The blocks of a problem file and its fingerprint, recomputed from them."""

    factors: tuple[Vector, ...]
    targets: tuple[tuple[str, ...], ...]
    terms: tuple[tuple[str, ...], ...]
    fingerprint: str

    @property
    def target_names(self) -> tuple[str, ...]:
        """The names of all equations, in order."""
        return tuple(name for names in self.targets for name in names)

    def equation(self, index: int, ridge: Sequence[float] | None = None) -> Equation:
        """Return the stored numbers of equation `index`; a ridge of None is zero."""
        block, j = self._place(index)
        factor, d = self.factors[block], len(self.terms[block])
        column = factor[:, d + j]
        weights = np.zeros(d) if ridge is None else np.array(ridge, dtype=float)
        return Equation(factor[:d, :d], column[:d], column[d:], weights)

    def names(self, index: int) -> tuple[str, ...]:
        """Return the names of the terms of equation `index`."""
        return self.terms[self._place(index)[0]]

    def _place(self, index: int) -> tuple[int, int]:
        """Return the block of an equation and its number there."""
        places = [(block, j) for block, names in enumerate(self.targets) for j in range(len(names))]
        return places[index]


def read_instance(path: str | os.PathLike[str]) -> Instance:
    """Read the npz file of a problem; sizes are checked before memory is taken, Python objects are refused."""
    name = os.path.basename(os.fspath(path))
    try:
        _check_sizes(path)
        with np.load(path, allow_pickle=False) as arrays:
            if str(arrays["format"]) != "exactsindy problem 1":
                raise ValueError("it was not written by Problem.save")
            count = sum(entry.startswith("factor") for entry in arrays.files)
            return _instance([_block(arrays, i) for i in range(count)], str(arrays["fingerprint"]))
    except OSError as error:
        raise Unreadable(f"{name}: the file cannot be read ({error.strerror or error}).") from error
    except _DAMAGE as error:
        raise Unreadable(f"{name}: this is not a readable problem file ({error}).") from error


def _check_sizes(path: str | os.PathLike[str]) -> None:
    """Refuse arrays that are too large, or larger than the bytes that are there for them."""
    total = 0
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            with archive.open(entry) as file:
                version = np.lib.format.read_magic(file)
                read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                shape, _, dtype = read(file)
            size = math.prod(shape) * dtype.itemsize
            total += size
            if size > entry.file_size or total > _MOST_BYTES:
                raise ValueError(f"{entry.filename} would take {size} bytes")


def _block(arrays: Any, i: int) -> tuple[Vector, int, tuple[str, ...], tuple[str, ...]]:
    factor, samples = arrays[f"factor{i}"], int(arrays[f"samples{i}"])
    terms, targets = (tuple(map(str, arrays[f"{kind}{i}"].tolist())) for kind in ("terms", "targets"))
    width = len(terms) + len(targets)
    if factor.dtype != np.float64 or factor.shape != (width, width) or not terms or not targets:
        raise ValueError(f"block {i} has a factor of shape {factor.shape} for {len(terms)} terms")
    if not np.isfinite(factor).all() or np.tril(factor, -1).any():
        raise ValueError(f"the factor of block {i} is not a finite upper triangle")
    return factor, samples, terms, targets


def _instance(blocks: Sequence[tuple[Vector, int, tuple[str, ...], tuple[str, ...]]], stated: str) -> Instance:
    digest = hashlib.sha256(b"exactsindy problem 1")
    for factor, samples, terms, targets in blocks:
        digest.update(f"|{samples},{len(terms)},{len(targets)}".encode())
        for label in (*terms, *targets):
            text = label.encode("utf-8", "surrogatepass")
            digest.update(f"|{len(text)}:".encode() + text)
        digest.update(np.ascontiguousarray(factor, dtype="<f8").tobytes())
    if digest.hexdigest() != stated:
        raise ValueError("its numbers are not those saved: the fingerprints differ")
    factors, _, terms_of, targets_of = zip(*blocks, strict=True)
    return Instance(tuple(factors), tuple(targets_of), tuple(terms_of), stated)

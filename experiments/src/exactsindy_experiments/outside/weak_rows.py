"""Weak rows of fields with the published libraries: derivatives of monomials, all of them on the test function.

Messenger and Bortz 2021: test functions (1 - s^2)^p along each axis, half-widths and distances between windows in
samples, and the loss that chooses the size. Everything is written from the formulas of the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from exactsindy.data import Field

Array = NDArray[np.float64]
# The exponents of a monomial and the orders of the derivative along the space axes.
Column = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Windows:
    """Half-widths, distances and powers of the test functions, in space (the same along all axes) and in time."""

    half: tuple[int, int]
    apart: tuple[int, int]
    power: tuple[int, int]
    degree: int
    derivatives: int

    def columns(self, fields: int, axes: int) -> list[Column]:
        """Return the library: a constant, and every derivative of every monomial, no mixed ones."""
        none = (0,) * axes
        monomials = [e for e in product(range(self.degree + 1), repeat=fields) if 0 < sum(e) <= self.degree]
        monomials.sort(key=lambda e: (sum(e), tuple(-i for i in e)))
        orders = [none] + [
            tuple(order if axis == i else 0 for i in range(axes))
            for order in range(1, self.derivatives + 1)
            for axis in range(axes)
        ]
        return [((0,) * fields, none), *product(monomials, orders)]


def column_name(column: Column, fields: Sequence[str], axes: Sequence[str]) -> str:
    """Return the name of a column, such as ``(u^2)_x``.

    Examples
    --------
    >>> column_name(((2,), (1,)), ("u",), ("x",)), column_name(((1, 0), (0, 2)), ("u", "v"), ("x", "y"))
    ('(u^2)_x', 'u_yy')
    """
    exponents, orders = column
    factors = [name + (f"^{e}" if e > 1 else "") for name, e in zip(fields, exponents, strict=True) if e]
    text, slope = " ".join(factors) or "1", "".join(axis * order for axis, order in zip(axes, orders, strict=True))
    if not slope:
        return text
    return f"{text}_{slope}" if sum(exponents) == 1 else f"({text})_{slope}"


def weak_rows(field: Field, windows: Windows, noise: Sequence[float] = ()) -> tuple[Array, Array, list[str]]:
    """Return the library (rows x columns), the left-hand sides (rows x fields) and the names of the columns.

    With the ``noise`` of every field its powers are replaced by the Hermite polynomials whose mean over the noise is
    the power of what was measured: the mean of u^3 alone would be larger by 3 noise^2 u.
    """
    values = [np.asarray(field[name]) for name in field.names]
    axes = field.dims[:-1]
    columns = windows.columns(len(values), len(axes))
    space, still, rate = weights_of(field, windows)
    monomials = list(dict.fromkeys(exponents for exponents, _ in columns))
    reduced = _reduced(values, noise or (0.0,) * len(values), still, monomials)
    blocks = [
        _along(reduced[exponents], [m[q] for m, q in zip(space, orders, strict=True)]).ravel()
        for exponents, orders in columns
    ]
    targets = [_along(v @ rate.T, [m[0] for m in space]).ravel() for v in values]
    names = [column_name(c, field.names, axes) for c in columns]
    return np.column_stack(blocks), np.column_stack(targets), names


def weights_of(field: Field, windows: Windows) -> tuple[list[list[Array]], Array, Array]:
    """Return weights of samples (windows x samples): along each axis by order of derivative, in time orders 0 and 1."""
    space = [
        [_matrix(np.asarray(x), windows.half[0], windows.apart[0], windows.power[0], q) for q in _orders(windows)]
        for x in field.coords[:-1]
    ]
    t = np.asarray(field.coords[-1])
    still, rate = (_matrix(t, windows.half[1], windows.apart[1], windows.power[1], q) for q in (0, 1))
    return space, still, rate


def _reduced(
    values: Sequence[Array], noise: Sequence[float], still: Array, monomials: Sequence[tuple[int, ...]]
) -> dict[tuple[int, ...], Array]:
    """Return every monomial integrated over time, made in slabs of the first axis, which need little memory."""
    shape = (*values[0].shape[:-1], len(still))
    reduced = {exponents: np.empty(shape) for exponents in monomials}
    top = max(max(exponents) for exponents in monomials)
    for low in range(0, shape[0], 16):
        slab = slice(low, low + 16)
        powers = []
        for v, sigma in zip(values, noise, strict=True):
            powers.append([np.ones_like(v[slab]), v[slab]])
            for n in range(1, top):
                powers[-1].append(powers[-1][-1] * v[slab] - n * sigma**2 * powers[-1][-2])
        for exponents, whole in reduced.items():
            product_of = powers[0][exponents[0]]
            for own, e in zip(powers[1:], exponents[1:], strict=True):
                product_of = product_of * own[e]
            whole[slab] = product_of @ still.T
    return reduced


def _orders(windows: Windows) -> range:
    return range(windows.derivatives + 1)


def _along(values: Array, matrices: Sequence[Array]) -> Array:
    for axis, matrix in enumerate(matrices):
        values = np.moveaxis(np.tensordot(matrix, values, axes=(1, axis)), 0, axis)
    return values


def _matrix(x: Array, half: int, apart: int, power: int, order: int) -> Array:
    """Return, for every window, the weights of the samples: (-1)^q times the q-th derivative of its test function."""
    step = float(x[1] - x[0])
    bump = Polynomial([1.0, 0.0, -1.0]) ** power
    slope = bump.deriv(order) if order else bump
    weights = slope(np.arange(-half, half + 1) / half) * (-1.0 / (half * step)) ** order * step
    centres = np.arange(half, len(x) - half, apart)
    matrix = np.zeros((len(centres), len(x)))
    for row, centre in zip(matrix, centres, strict=True):
        row[centre - half : centre + half + 1] = weights
    return matrix


def losses(theta: Array, target: Array, coefficients: Sequence[Array]) -> Array:
    """Return the published loss of each vector of coefficients: |G (w - w_ls)| / |G w_ls| + share of terms used."""
    best = theta @ np.linalg.lstsq(theta, target, rcond=None)[0]
    size = np.linalg.norm(best)
    return np.array(
        [np.linalg.norm(theta @ w - best) / size + np.count_nonzero(w) / theta.shape[1] for w in coefficients]
    )


def thresholded(theta: Array, target: Array) -> Array:
    """Return the answer of the published sequential thresholding (MSTLS) over its 50 thresholds.

    A term stays while threshold * max(1, b) <= |w| <= min(1, b) / threshold, where b = |target| / |column|; the loss
    picks the threshold. Fits are made on columns of length 1, which serves the purpose of the published rescaling.
    """
    norms = np.linalg.norm(theta, axis=0)
    columns, bounds = theta / norms, np.linalg.norm(target) / norms
    start = np.linalg.lstsq(columns, target, rcond=None)[0] / norms
    found: dict[tuple[int, ...], Array] = {}
    for threshold in 10.0 ** np.linspace(-4, 0, 50):
        low, high = threshold * np.maximum(1, bounds), np.minimum(1, bounds) / threshold
        w, kept = start, np.ones(len(start), dtype=bool)
        for _ in range(len(start)):
            stay = (np.abs(w) >= low) & (np.abs(w) <= high)
            if not stay.any() or (stay == kept).all():
                break
            kept, w = stay, np.zeros_like(start)
            w[kept] = np.linalg.lstsq(columns[:, kept], target, rcond=None)[0] / norms[kept]
        found.setdefault(tuple(np.flatnonzero(w)), w)
    answers = list(found.values())
    return answers[int(np.argmin(losses(columns, target, [w * norms for w in answers])))]

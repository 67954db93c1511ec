"""Modes of fields on domains that are not periodic: slow vectors to smooth with, windowed waves to test with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.data import Field
from exactsindy.differentiation import PRINTED, FiniteDifference, uniform_step
from exactsindy.errors import DataError
from exactsindy.forms.base import EquationGroup, Trial
from exactsindy.forms.modal.modal_library import SlopeMoments, slope_moments
from exactsindy.forms.modal.mode_smoothing import TimeBasis, last_shell, smooth_modes
from exactsindy.library import Variable

Complex = NDArray[np.complex128]

# Most points of an axis that is not periodic: the vectors of a longer one would need more memory than the data.
_LONGEST = 4096


@dataclass(frozen=True, eq=False)
class WindowedField:
    """A field in slow vectors of each space dimension, measured and smoothed (fields x times x vectors).

    ``bases[i]`` (points x vectors) are the slowest eigenvectors of the third-difference penalty along
    dimension i, ``tests[i]`` (points x functions) orthonormal windowed waves that vanish at its ends;
    ``projected`` is the measured field tested with them (fields x times x functions), ``store`` what forms keep of
    all this between calls.
    """

    bases: tuple[Array, ...]
    tests: tuple[Array, ...]
    cutoff: int
    shells: NDArray[np.intp]
    measured: Complex
    values: Complex
    noise: Array
    score: Array
    projected: Array
    store: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def outside(self) -> NDArray[np.bool_]:
        """Return the vectors beyond the cutoff wavenumber."""
        return np.asarray(self.shells > self.cutoff)

    @property
    def level(self) -> Array:
        """Return the variance of the noise in each coefficient."""
        return np.asarray(self.noise**2)


def smooth_window(data: Field) -> WindowedField:
    """Return the slow part of a field, smoothed in time, and its projections on windowed waves."""
    _check(data)
    vectors = [TimeBasis.of(n).dense(n) for n in data.shape[:-1]]
    time = TimeBasis.of(len(data.times))
    fast = [v[:, v.shape[0] // 2 :] for v in vectors]
    noise = np.array([np.sqrt(np.mean(_contract(f, fast) ** 2)) for f in data.values])
    bases = [v[:, : max(v.shape[0] // 2, 3)] for v in vectors]
    modes = np.stack([_contract(f, bases) for f in data.values]).astype(complex)
    size = [float(x[-1] - x[0]) for x in data.coords[:-1]]
    shells = _shells([b.shape[1] for b in bases], size)
    floor = 1e-9 * np.array([np.sqrt(np.mean(f**2)) for f in data.values]) + np.finfo(float).tiny
    noise = np.maximum(noise, floor)
    largest = int(min((b.shape[1] - 1) * max(size) / s for b, s in zip(bases, size, strict=True)))
    cutoff = last_shell(modes, noise**2, shells, largest, time)
    counts = [min(int(cutoff * s / max(size)) + 1, b.shape[1]) for b, s in zip(bases, size, strict=True)]
    bases = [np.ascontiguousarray(b[:, :k]) for b, k in zip(bases, counts, strict=True)]
    inside = tuple(slice(0, k) for k in counts)
    modes, shells = modes[(slice(None), slice(None), *inside)], shells[inside]
    values, score = np.empty_like(modes), np.empty((len(modes), *modes.shape[2:]))
    for f, series in enumerate(modes):
        values[f], score[f] = smooth_modes(series, float(noise[f] ** 2), time)
        values[f][:, shells > cutoff] = 0.0
    tests = tuple(_waves(n, k) for n, k in zip(data.shape, counts, strict=False))
    projected = np.stack([_contract(f, tests) for f in data.values])
    return WindowedField(tuple(bases), tests, cutoff, shells, modes, values, noise, score, projected)


@dataclass(frozen=True, eq=False)
class WindowedLibrary:
    """Evaluates the library of some equations on a smoothed field and tests it with windowed waves."""

    data: Field
    smoothed: WindowedField
    group: EquationGroup

    @property
    def points(self) -> tuple[int, ...]:
        """Return the grid on which products are formed: that of the data."""
        return self.data.shape[:-1]

    @cached_property
    def _kept(self) -> NDArray[np.bool_]:
        size = [float(x[-1] - x[0]) for x in self.data.coords[:-1]]
        # Wave number j of an axis has ceil(j / 2) periods: as many half-waves as the vector j.
        return np.asarray(_shells([t.shape[1] for t in self.smoothed.tests], size) <= self.smoothed.cutoff)

    @cached_property
    def _bases(self) -> dict[tuple[int, int], Array]:
        """Return derivatives of the slow vectors by (dimension, order)."""
        return {
            (i, order): _derivative(self.smoothed.bases[i], self.data.coords[i], order)
            for v in self._fields
            for i, order in enumerate(self._orders(v))
        }

    @property
    def _fields(self) -> tuple[Variable, ...]:
        return tuple(v for v in self.group.features.inputs if v.name in self.data.names)

    def _orders(self, variable: Variable) -> list[int]:
        return [variable.axes.count(axis) for axis in self.data.axes]

    def inputs(self, times: slice) -> Array:
        """Return the inputs of the library on the grid (inputs x times x points, flat)."""
        n = len(self.data.times[times])
        table = np.empty((len(self.group.features.inputs), n, *self.points))
        for i, variable in enumerate(self.group.features.inputs):
            if variable.name in self.data.names:
                values = self.smoothed.values[self.data.names.index(variable.name)][times].real
                for axis, order in enumerate(self._orders(variable)):
                    values = np.tensordot(values, self._bases[axis, order], axes=(1, 1))
                table[i] = values
            else:
                axis = self.data.dims.index(variable.name)
                points = self.data.coords[axis][times] if axis == len(self.points) else self.data.coords[axis]
                place = 0 if axis == len(self.points) else axis + 1
                table[i] = points.reshape([-1 if k == place else 1 for k in range(len(self.points) + 1)])
        return table.reshape(len(table), -1)

    def columns(self, times: slice) -> Complex:
        """Return the tested terms (terms x times x functions)."""
        n = len(self.data.times[times])
        rows = self.group.features.rows(list(self.inputs(times)))
        values = rows.reshape(len(rows), n, *self.points)
        for table in self.smoothed.tests:
            values = np.tensordot(values, table, axes=(2, 0))
        return values[:, :, self._kept].astype(complex)

    def rates(self, model: Trial, times: slice) -> Complex:
        """Return the coefficients of the model's right-hand sides (equations x times x vectors)."""
        values = model.predict(self.group, self.inputs(times).T)
        values = values.T.reshape(-1, len(self.data.times[times]), *self.points)
        for table in self.smoothed.bases:
            values = np.tensordot(values, table, axes=(2, 0))
        return values.astype(complex)

    def slopes(self, model: Trial, block: int) -> SlopeMoments:
        """Return mean and mean square of the slopes of the right-hand sides."""
        return slope_moments(self.group, model, self._fields, self.inputs, len(self.data.times), block)

    def changes(self, f: int, start: int, stop: int) -> Complex:
        """Return increments of the tested measured field (times x functions)."""
        measured = self.smoothed.projected[f][start : stop + 1][:, self._kept]
        return np.asarray(np.diff(measured, axis=0), dtype=complex)

    @property
    def scale(self) -> Array:
        """Return the factors of rows that give noise of size 1 the size 1."""
        return np.ones(int(self._kept.sum()))

    def multipliers(self, variable: Variable) -> tuple[Complex, Array]:
        """Return <psi, D psi> and |D psi|^2 of each function for the derivative of a variable."""
        own: Array = np.ones(())
        square: Array = np.ones(())
        for i, order in enumerate(self._orders(variable)):
            table = self.smoothed.tests[i]
            # Derivatives act on the test function, which brings the sign of integration by parts.
            slope = (-1.0) ** order * _derivative(table, self.data.coords[i], order)
            own = own[..., None] * (table * slope).sum(axis=0)
            square = square[..., None] * (slope**2).sum(axis=0)
        return own[self._kept].astype(complex), square[self._kept]

    def real(self, rows: Complex) -> Array:
        """Return the rows: they are real."""
        return np.asarray(rows.real)


def _derivative(table: Array, x: Array, order: int) -> Array:
    if order == 0:
        return table
    step = float(x[-1] - x[0]) / (len(x) - 1)
    return FiniteDifference(6, order)(table, step, axis=0)


def _waves(n: int, count: int) -> Array:
    """Return up to ``count`` orthonormal functions: sin^2 times 1, cos, sin, cos, ... of rising frequency."""
    s = (np.arange(n) + 0.5) / n
    waves = [np.ones(n)]
    for k in range(1, count // 2 + 1):
        waves += [np.cos(2 * np.pi * k * s), np.sin(2 * np.pi * k * s)]
    q, _ = np.linalg.qr(np.sin(np.pi * s)[:, None] ** 2 * np.column_stack(waves[:count]))
    return np.asarray(q)


def _contract(values: Array, tables: Sequence[Array]) -> Array:
    """Return the inner products of a field (space, time) with products of vectors (time, vectors)."""
    for table in tables:
        values = np.tensordot(values, table, axes=(0, 0))
    return values


def _shells(counts: Sequence[int], lengths: Sequence[float]) -> NDArray[np.intp]:
    """Return the number of half-waves of products of vectors, in units of the longest dimension."""
    total: Array = np.zeros(())
    for count, length in zip(counts, lengths, strict=True):
        total = total[..., None] + (np.arange(count) * max(lengths) / length) ** 2
    return np.rint(np.sqrt(total)).astype(np.intp)


def _check(data: Field) -> None:
    if data.missing:
        raise DataError(f"ModalForm: {data.missing} cells are missing; use WeakForm, or fill them in.")
    for name, x in zip(data.axes, data.coords, strict=False):
        if not 16 <= len(x) <= _LONGEST:
            raise DataError(
                f"ModalForm: the dimension {name!r} has {len(x)} points; expected 16 to {_LONGEST} where it is "
                "not periodic. Use WeakForm."
            )
        if uniform_step(x, PRINTED) is None:
            raise DataError(f"ModalForm: the points of {name!r} are not equally spaced; use WeakForm.")

"""Library columns of a smoothed field as modes: products on a grid, a block of times at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Field
from exactsindy.forms.base import EquationGroup, Trial
from exactsindy.forms.modal.mode_smoothing import SmoothedField
from exactsindy.forms.modal.modes import Complex
from exactsindy.library import Term, Variable

# Variables, and mean and mean square of the slopes by them (equations x variables).
SlopeMoments = tuple[tuple[Variable, ...], Array, Array]

# Columns transformed together: enough for the transform, few enough for cache.
_COLUMNS = 16
# Most points at which slopes are averaged; of more, times are skipped.
_SLOPE_POINTS = 1 << 19


@dataclass(frozen=True, eq=False)
class ModalLibrary:
    """Evaluates the library of some equations on a smoothed field."""

    data: Field
    smoothed: SmoothedField
    group: EquationGroup
    _memory: list[Array] = field(default_factory=lambda: [np.empty(0)], init=False, repr=False)

    @cached_property
    def points(self) -> tuple[int, ...]:
        """Return the grid on which products are formed.

        3 K + k + 1 points hold those of three factors, so that no alias of modes up to K reaches those kept, up to k.
        """
        from scipy.fft import next_fast_len

        counts = [3 * k + j + 2 for k, j in zip(self.smoothed.box.largest, self._reach, strict=True)]
        return tuple(int(next_fast_len(count, real=True)) for count in counts)

    @cached_property
    def _reach(self) -> tuple[int, ...]:
        """Return the largest wavenumber of the modes kept, along each dimension."""
        kept = np.nonzero(self.smoothed.kept)
        return tuple(int(np.abs(k[at]).max()) for k, at in zip(self.smoothed.box.indices, kept, strict=True))

    @cached_property
    def linear(self) -> dict[int, Variable]:
        """Return the columns that are one variable: they need no grid."""
        fields = {Term.of({variable: 1}): variable for variable in self.factors}
        return {j: fields[term] for j, term in enumerate(self.group.features.terms) if term in fields}

    def modes_of(self, variable: Variable, times: slice) -> Complex:
        """Return the modes of a field or a derivative of it (times x box)."""
        return np.asarray(self.smoothed.values[self.data.names.index(variable.name)][times] * self.factors[variable])

    @cached_property
    def factors(self) -> dict[Variable, Complex]:
        """Return the factors of the modes for each input that is a field or a derivative."""
        box = self.smoothed.box
        return {
            v: box.derivative([v.axes.count(axis) for axis in self.data.axes])
            for v in self.group.features.inputs
            if v.name in self.data.names
        }

    def inputs(self, times: slice) -> Array:
        """Return the inputs of the library on the grid (inputs x times x points, flat)."""
        table = np.empty((len(self.group.features.inputs), len(self.data.times[times]), *self.points))
        for i, variable in enumerate(self.group.features.inputs):
            if variable.name in self.data.names:
                table[i] = self.smoothed.box.to_grid(self.modes_of(variable, times), self.points)
            elif variable.name == self.data.time_name:
                table[i] = self.data.times[times].reshape(-1, *[1] * len(self.points))
            else:
                axis = self.data.axes.index(variable.name)
                start, length = self.data.coords[axis][0], self.smoothed.box.lengths[axis]
                points = start + length * np.arange(self.points[axis]) / self.points[axis]
                table[i] = points.reshape([-1 if k == axis else 1 for k in range(len(self.points))])
        return table.reshape(len(table), -1)

    def columns(self, times: slice) -> Complex:
        """Return the kept modes of every term (terms x times x modes)."""
        kept = self.smoothed.kept
        terms, count = self.group.features.terms, len(self.data.times[times])
        result = np.empty((len(terms), count, int(kept.sum())), dtype=complex)
        for j, variable in self.linear.items():
            result[j] = self.modes_of(variable, times)[:, kept]
        curved = [j for j in range(len(terms)) if j not in self.linear]
        if curved:
            small, places = self.smoothed.box.smaller(self._reach)
            wanted = kept[np.ix_(*places)]
            room = self._room(len(terms), count * int(np.prod(self.points)))
            values = self.group.features.rows(list(self.inputs(times)), room).reshape(len(terms), count, *self.points)
            for a in range(0, len(curved), _COLUMNS):
                chosen = curved[a : a + _COLUMNS]
                result[chosen] = small.of_grid(values[chosen])[:, :, wanted]
        return result

    def _room(self, rows: int, width: int) -> Array:
        """Return memory that every block uses again: fresh pages cost as much as what is written to them."""
        if self._memory[0].size < rows * width:
            self._memory[0] = np.empty(rows * width)
        return self._memory[0][: rows * width].reshape(rows, width)

    def rates(self, model: Trial, times: slice) -> Complex:
        """Return all modes of the model's right-hand sides (equations x times x box)."""
        values = model.predict(self.group, self.inputs(times).T)
        return self.smoothed.box.of_grid(values.T.reshape(-1, len(self.data.times[times]), *self.points))

    def slopes(self, model: Trial, block: int) -> SlopeMoments:
        """Return mean and mean square of the slopes of the right-hand sides."""
        return slope_moments(self.group, model, tuple(self.factors), self.inputs, len(self.data.times), block)

    def changes(self, f: int, start: int, stop: int) -> Complex:
        """Return increments of the measured modes (times x modes)."""
        return np.asarray(np.diff(self.smoothed.measured[f][start : stop + 1][:, self.smoothed.kept], axis=0))

    @property
    def scale(self) -> Array:
        """Return the factors of rows that give noise of size 1 the size 1 in all their parts."""
        return self.smoothed.scale

    def multipliers(self, variable: Variable) -> tuple[Complex, Array]:
        """Return (i k)^q and |k|^2q of each mode for the derivative of a variable."""
        factor = self.factors[variable][self.smoothed.kept]
        return factor, np.asarray(np.abs(factor) ** 2)

    def real(self, rows: Complex) -> Array:
        """Return real and imaginary parts as rows; the constant mode has no imaginary part."""
        return np.concatenate([rows.real, rows.imag[:, ~self.smoothed.constant]], axis=1)


def slope_moments(
    group: EquationGroup, model: Trial, by: tuple[Variable, ...], inputs: Callable[[slice], Array], n: int, block: int
) -> SlopeMoments:
    """Return the variables, and mean and mean square of the slopes by them (equations x variables)."""
    m = len(group.targets)
    first, second, count = np.zeros((m, len(by))), np.zeros((m, len(by))), 0
    points = inputs(slice(0, 1)).shape[1]
    stride = max(n * points // _SLOPE_POINTS, 1)
    for a in range(0, n, block * stride):
        values = model.jacobian(group, inputs(slice(a, a + block * stride, stride)).T, by)
        first += values.sum(axis=0)
        second += (values**2).sum(axis=0)
        count += len(values)
    return by, first / count, second / count

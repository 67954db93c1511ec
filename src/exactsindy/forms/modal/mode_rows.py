"""Whitened increments of modes, block by block in time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.forms.base import Trial
from exactsindy.forms.modal.modal_library import ModalLibrary, SlopeMoments
from exactsindy.forms.modal.modes import Complex
from exactsindy.forms.modal.windowed_field import WindowedLibrary
from exactsindy.forms.quadrature import integrate_intervals, interval_weights

# Numbers held at once while library columns are formed on the grid: 32 megabytes.
_BLOCK_NUMBERS = 1 << 22
# Most complex numbers of integrals that are kept for the next trial model: 270 megabytes.
_KEPT_NUMBERS = 1 << 24


def block_of(library: ModalLibrary | WindowedLibrary) -> int:
    """Return how many times are worked on together."""
    width = len(library.group.features.terms) + len(library.group.features.inputs)
    return max(_BLOCK_NUMBERS // (int(np.prod(library.points)) * width), 4)


def kept_integrals(library: ModalLibrary | WindowedLibrary) -> Iterator[Complex]:
    """Yield the integrals of all terms over consecutive intervals (intervals x modes x terms).

    They do not depend on the trial model: those of the first call stay with the smoothed field, unless they are many.
    """
    store, terms = library.smoothed.store, library.group.features.terms
    if terms in store:
        yield from store[terms]
        return
    few = len(terms) * len(library.scale) * len(library.data.times) <= _KEPT_NUMBERS
    kept = []
    for integrals in _integrals(library):
        if few:
            kept.append(integrals)
        yield integrals
    if few:
        store[terms] = kept


def _integrals(library: ModalLibrary | WindowedLibrary) -> Iterator[Complex]:
    n, size = len(library.data.times), block_of(library)
    weights = interval_weights(library.data.times)
    columns, low = library.columns(slice(0, min(size + 2, n))), 0
    for start in range(0, n - 1, size):
        go_on()
        stop = min(start + size, n - 1)
        first, last = max(start - 1, 0), min(stop + 2, n)
        if last > low + columns.shape[1]:
            fresh = library.columns(slice(low + columns.shape[1], last))
            columns = np.concatenate([columns[:, first - low :], fresh], axis=1)
            low = first
        inner = columns[:, first - low : last - low].transpose(1, 2, 0)
        integrals = integrate_intervals(weights[first : last - 1], inner)[start - first : stop - first]
        yield np.ascontiguousarray(integrals)


@dataclass(frozen=True)
class ModeRows:
    """Rows of the equations of a group that share a library, whitened by the slopes of a trial model."""

    library: ModalLibrary | WindowedLibrary
    model: Trial | None

    def blocks(self) -> Iterator[Array]:
        """Yield the rows of consecutive increments."""
        data, smoothed = self.library.data, self.library.smoothed
        n = len(data.times)
        step = float(data.times[-1] - data.times[0]) / (n - 1)
        slopes = None if self.model is None else self.library.slopes(self.model, block_of(self.library))
        filters = [self._filter(j, step, slopes) for j in range(len(self.library.group.targets))]
        fields = [data.names.index(target.state) for target in self.library.group.targets]
        scale = self.library.scale
        start = 0
        for integrals in kept_integrals(self.library):
            stop = start + len(integrals)
            result = []
            for j, f in enumerate(fields):
                go_on()
                change = self.library.changes(f, start, stop)
                rows = np.concatenate([integrals, change[:, :, None]], axis=2)
                rows *= (scale / smoothed.noise[f])[:, None]
                filters[j].apply(rows)
                result.append(self.library.real(rows))
            yield np.stack(result)
            start = stop

    def _filter(self, j: int, step: float, slopes: SlopeMoments | None) -> _Filter:
        smoothed = self.library.smoothed
        rate = np.zeros(len(self.library.scale), dtype=complex)
        extra = np.zeros(len(self.library.scale))
        if slopes is not None:
            by, first, second = slopes
            own = self.library.group.targets[j].state
            names = self.library.data.names
            for v, mean, square in zip(by, first[j], second[j], strict=True):
                factor, power = self.library.multipliers(v)
                if v.name == own:
                    rate += mean * factor
                    # What D^q makes of a mode's noise beyond the mode itself is nothing for Fourier modes.
                    extra += max(square - mean**2, 0.0) * power + mean**2 * (power - np.abs(factor) ** 2)
                else:
                    share = smoothed.noise[names.index(v.name)] / smoothed.noise[names.index(own)]
                    extra += share**2 * square * power
        a, b = 1.0 - step / 2 * rate, -(1.0 + step / 2 * rate)
        diagonal = np.abs(a) ** 2 + np.abs(b) ** 2 + step**2 / 2 * extra
        off: Complex = np.asarray(b * np.conj(a) + step**2 / 4 * extra, dtype=complex)
        return _Filter(diagonal, off)


class _Filter:
    """Forward substitution with the Cholesky factor of each mode's tridiagonal covariance, in time."""

    def __init__(self, diagonal: Array, off: Complex) -> None:
        self.diagonal, self.off = diagonal, off
        self.pivot: Array | None = None
        self.before: Complex | None = None

    def apply(self, rows: Complex) -> None:
        """Whiten rows (increments x modes x columns) in place, going on from the last call."""
        for row in rows:
            if self.pivot is None or self.before is None:
                self.pivot = np.sqrt(self.diagonal)
            else:
                below = self.off / self.pivot
                self.pivot = np.sqrt(np.maximum(self.diagonal - np.abs(below) ** 2, 1e-12 * self.diagonal))
                row -= below[:, None] * self.before
            row /= self.pivot[:, None]
            self.before = row

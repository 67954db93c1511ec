"""Fields smoothed mode by mode: which modes hold signal, and how much of their time course is noise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.data import Field
from exactsindy.forms.modal.modes import Box, Complex, Spectra, spectra

# Up to this many times the exact eigenvectors of the penalty are used, beyond it cosines, which differ from
# them only near the ends.
_EXACT = 1024
# Weights of the penalty that are tried: from nothing smoothed to nothing left, four in a decade.
_LAMBDAS = 10.0 ** np.arange(-2.0, 12.25, 0.25)


@dataclass(frozen=True, eq=False)
class SmoothedField:
    """The low modes of a field as measured and smoothed (fields x times x box), and the noise.

    ``cutoff`` is the cutoff wavenumber, the largest shell of modes that holds signal; ``score`` (fields x box) the
    estimated error of the smoothed modes, by which two smooths are compared; ``store`` what forms keep of it between
    calls.
    """

    box: Box
    cutoff: int
    measured: Complex
    values: Complex
    noise: Array
    score: Array
    store: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def outside(self) -> NDArray[np.bool_]:
        """Return which modes lie beyond the cutoff wavenumber."""
        return np.asarray(self.box.shells > self.cutoff)

    @property
    def level(self) -> Array:
        """Return the variance of the noise in each mode."""
        return np.asarray(self.noise**2 * np.prod(self.box.sizes))

    def within(self, largest: tuple[int, ...]) -> SmoothedField:
        """Return the field without the modes beyond ``largest`` waves along each dimension."""
        box, places = self.box.smaller(largest)
        measured, values, score = self.measured, self.values, self.score
        for i, place in enumerate(places):
            measured, values = (np.take(modes, place, axis=2 + i) for modes in (measured, values))
            score = np.take(score, place, axis=1 + i)
        return SmoothedField(box, self.cutoff, measured, values, self.noise, score)

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Return the modes of the box in use: within the cutoff, and not conjugates of others."""
        return np.asarray((self.box.shells <= self.cutoff) & self.box.independent)

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Return which of the modes in use is the mean: it has no imaginary part."""
        return np.asarray(self.box.shells[self.kept] == 0)

    @property
    def scale(self) -> Array:
        """Return the factors of the modes in use that give noise of size 1 the size 1 in all their parts."""
        return np.asarray(np.where(self.constant, 1.0, np.sqrt(2.0)) / np.sqrt(np.prod(self.box.sizes)))


@dataclass(frozen=True)
class TimeBasis:
    """Eigenvectors of the third-difference penalty over n samples, slowest first."""

    eigenvalues: Array
    vectors: Array | None

    @classmethod
    def of(cls, n: int) -> TimeBasis:
        """Return the basis for n samples."""
        if n > _EXACT:
            return cls((2 - 2 * np.cos(np.pi * np.arange(n) / n)) ** 3, None)
        difference = np.diff(np.eye(n), 3, axis=0)
        eigenvalues, vectors = np.linalg.eigh(difference.T @ difference)
        return cls(np.maximum(eigenvalues, 0.0), vectors)

    def dense(self, n: int) -> Array:
        """Return the basis as columns (n x n)."""
        if self.vectors is not None:
            return self.vectors
        from scipy.fft import idct

        return np.asarray(idct(np.eye(n), axis=0, norm="ortho"))

    def analyse(self, series: Complex) -> Complex:
        """Return the coefficients of series (n x ...) in the basis."""
        if self.vectors is not None:
            return np.asarray(np.tensordot(self.vectors, series, axes=(0, 0)))
        from scipy.fft import dct

        return np.asarray(dct(series.real, axis=0, norm="ortho") + 1j * dct(series.imag, axis=0, norm="ortho"))

    def compose(self, coefficients: Complex) -> Complex:
        """Return the series with these coefficients."""
        if self.vectors is not None:
            return np.asarray(np.tensordot(self.vectors, coefficients, axes=(1, 0)))
        from scipy.fft import idct

        real, imaginary = (idct(part, axis=0, norm="ortho") for part in (coefficients.real, coefficients.imag))
        return np.asarray(real + 1j * imaginary)


def smooth_periodic(data: Field) -> SmoothedField:
    """Return the low modes of a periodic field, smoothed in time.

    Each mode is smoothed by a third-difference penalty whose weight minimises SURE = RSS + 2 s^2 trace; modes
    beyond the cutoff, where energy falls to the noise, are left out.
    """
    raw = spectra(data)
    basis = TimeBasis.of(len(data.times))
    cutoff = _cutoff(raw, basis)
    unit = 1.0 / max(raw.box.lengths)
    both = zip(raw.box.lengths, raw.box.largest, strict=True)
    box, places = raw.box.smaller(tuple(min(max(int(cutoff * unit * length + 1e-9), 1), k) for length, k in both))
    modes = raw.modes[np.ix_(*map(np.arange, raw.modes.shape[:2]), *places)]
    level = np.maximum(raw.noise, _floor(modes, box)) ** 2 * np.prod(box.sizes)
    values, score = np.empty_like(modes), np.empty((len(modes), *modes.shape[2:]))
    outside = box.shells > cutoff
    for f, series in enumerate(modes):
        go_on()
        values[f], score[f] = smooth_modes(series, float(level[f]), basis)
        values[f][:, outside] = 0.0
    return SmoothedField(box, cutoff, modes, values, np.sqrt(level / np.prod(box.sizes)), score)


def smooth_modes(series: Complex, level: float, basis: TimeBasis) -> tuple[Complex, Array]:
    """Return series (n x box) smoothed with the weight of least SURE, and that SURE; ``level`` is N s^2."""
    shape = series.shape
    coefficients = basis.analyse(series.reshape(shape[0], -1))
    power = np.abs(coefficients) ** 2
    gains = 1.0 / (1.0 + _LAMBDAS[:, None] * basis.eigenvalues)
    sure = (1.0 - gains) ** 2 @ power + 2.0 * level * gains.sum(axis=1)[:, None]
    best = sure.argmin(axis=0)
    smooth = basis.compose(coefficients * gains[best].T)
    return smooth.reshape(shape), sure.min(axis=0).reshape(shape[1:])


def _floor(modes: Complex, box: Box) -> Array:
    """Return the noise that clean data are taken to have: far below the field, above rounding."""
    power = np.abs(modes).reshape(len(modes), -1) ** 2
    rms = np.sqrt(power.sum(axis=1) / modes.shape[1]) / np.prod(box.sizes)
    return np.asarray(1e-9 * np.maximum(rms, np.finfo(float).tiny))


def _cutoff(raw: Spectra, basis: TimeBasis) -> int:
    """Return the cutoff wavenumber: the last shell whose slow part stands out of the noise."""
    box = raw.box
    largest = min(int(k * max(box.lengths) / length) for k, length in zip(box.largest, box.lengths, strict=True))
    return last_shell(raw.modes, raw.noise**2 * np.prod(box.sizes), box.shells, largest, basis)


def last_shell(modes: Complex, level: Array, shells: NDArray[np.intp], largest: int, basis: TimeBasis) -> int:
    """Return the last shell before the energy of the slow tenth in time falls to the noise.

    In one dimension that is three shells in a row below 1.6 times the noise, in more, where shells hold many
    modes, the first below 2.
    """
    count = max(len(basis.eigenvalues) // 10, 3)
    ratio = np.zeros(largest + 1)
    for series, noise in zip(modes, level, strict=True):
        go_on()
        slow = np.abs(basis.analyse(series.reshape(len(series), -1))[:count]) ** 2
        energy = (slow.sum(axis=0) / (count * max(noise, np.finfo(float).tiny))).reshape(shells.shape)
        mean = [energy[shells == shell].mean() if (shells == shell).any() else 0.0 for shell in range(largest + 1)]
        ratio = np.maximum(ratio, mean)
    if shells.ndim > 1:
        low = np.flatnonzero(ratio[1:] < 2.0)
        return max(int(low[0]), 2) if len(low) else largest
    quiet = ratio < 1.6
    runs = np.flatnonzero(quiet[1:-2] & quiet[2:-1] & quiet[3:])
    return max(int(runs[0]), 2) if len(runs) else largest

"""The integrated equations in cosine modes: a first regression that needs neither a trial model nor a width."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.data import Data, Trajectory
from exactsindy.errors import ProblemError
from exactsindy.forms.base import EquationGroup, TrialLike, fitted, groups, only_trajectories, trajectory_inputs
from exactsindy.forms.increment.increment_rows import Chunks, compressed
from exactsindy.forms.increment.smoothing import Smoothed, order_one, smooth
from exactsindy.forms.quadrature import integrate_intervals, interval_weights
from exactsindy.library import Library
from exactsindy.problem import Problem

# Drift ratios that are tried: none, then half decades. Beyond 300 the drift hides all modes; below 1e-6 it is nothing.
# Equations beyond which those without drift share one block: a factorisation for each of them would take longer.
_SHARED_FROM = 8
_GRID = np.concatenate(([0.0], 10.0 ** np.arange(-6.0, 2.5, 0.5)))


@dataclass(frozen=True, eq=False)
class StartRegression:
    """A first regression that needs no trial model: the integrated equations in cosine modes.

    Rows y = x(0) + int theta(x) dt xi + e in an orthonormal cosine basis without its constant mode. This is no form:
    modes extend over the whole time and have no folds. The constant mode holds the unknown x(0). White noise e is
    white in the modes; errors inside the integral add up like a random walk, S_m = 1 / (2 sin(pi m / 2n))^2, so rows
    are divided by sqrt(1 + c S_m). ``drift_ratio`` c of each equation, or one for all, is the variance of a step of
    the drift in units of the variance of the noise; `drift_ratios` estimates it from the residuals of a model.
    """

    drift_ratio: ArrayLike = 0.0
    smoothed: Smoothed | None = field(default=None, repr=False)

    def problem(self, data: Data, library: Library) -> Problem:
        """Return the regression of all equations of the trajectories over the library."""
        equations, smoothed = self._prepare(data, library)
        count = sum(len(group.targets) for group in equations)
        ratios = iter(self._ratios(count))
        if count > _SHARED_FROM and not self._ratios(count).any():
            return Problem.from_blocks(
                Problem.from_chunks(
                    _shared_chunks(group, smoothed), names=group.features.terms, target_names=group.target_names
                )
                for group in equations
            )
        return Problem.from_blocks(
            problem
            for group in equations
            for problem in compressed(group, _chunks(group, smoothed, [next(ratios) for _ in group.targets]))
        )

    def drift_ratios(self, data: Data, library: Library, model: TrialLike) -> Array:
        """Return c of each equation by Whittle's likelihood of the residuals of a model's coefficients."""
        equations, smoothed = self._prepare(data, library)
        coefficients = fitted(model, equations, "drift_ratios(model=...)")
        spectrum = np.concatenate([_spectrum(len(piece)) for piece in smoothed.pieces])
        tiny = np.finfo(float).tiny  # a state that never changes leaves nothing
        result = []
        for group in equations:
            pieces = [_residuals(group, i, smoothed, coefficients.of(group)) for i in range(len(smoothed.pieces))]
            for power in np.concatenate(pieces, axis=1) ** 2:
                score = [
                    len(power) * np.log(np.maximum(np.mean(power / (1 + c * spectrum)), tiny))
                    + np.log1p(c * spectrum).sum()
                    for c in _GRID
                ]
                result.append(float(_GRID[int(np.argmin(score))]))
        return np.array(result)

    def _prepare(self, data: Data, library: Library) -> tuple[tuple[EquationGroup, ...], Smoothed]:
        trajectories = only_trajectories(data, "StartRegression")
        equations = groups(trajectories, library)
        order_one(equations, "StartRegression")
        return equations, smooth(trajectories) if self.smoothed is None else self.smoothed

    def _ratios(self, count: int) -> Array:
        ratios = np.asarray(self.drift_ratio, dtype=float)
        if ratios.shape not in ((), (count,)) or not (np.isfinite(ratios) & (ratios >= 0)).all():
            raise ProblemError(
                f"StartRegression(drift_ratio={self.drift_ratio!r}): expected a number >= 0, or one for each of "
                f"{count} equations."
            )
        return np.broadcast_to(ratios, (count,))


def _shared_chunks(group: EquationGroup, smoothed: Smoothed) -> Iterator[tuple[Array, Array]]:
    """Yield (theta, targets) of all equations of a group, whose rows differ by a factor only: it is left out."""
    for i, piece in enumerate(smoothed.pieces):
        own = [piece.names.index(target.state) for target in group.targets]
        yield _modes(_integral(piece, _columns(group, i, smoothed))).T, _modes(piece.states.T[own]).T


def _chunks(group: EquationGroup, smoothed: Smoothed, ratios: Sequence[float]) -> Iterator[Chunks]:
    """Yield (theta, target) of every equation of a group, a piece at a time."""
    for i, piece in enumerate(smoothed.pieces):
        theta = _modes(_integral(piece, _columns(group, i, smoothed)))
        own = [piece.names.index(target.state) for target in group.targets]
        measured = _modes(piece.states.T[own])
        scales = [
            1.0 / (smoothed.noise[j] * np.sqrt(1 + ratio * _spectrum(len(piece))))
            for j, ratio in zip(own, ratios, strict=True)
        ]
        yield tuple(((theta * scale).T, (y * scale)[:, None]) for y, scale in zip(measured, scales, strict=True))


def _residuals(group: EquationGroup, i: int, smoothed: Smoothed, coef: Array) -> Array:
    """Return the residuals of a model in the modes of piece i, in units of the noise (equations x modes)."""
    piece = smoothed.pieces[i]
    own = [piece.names.index(target.state) for target in group.targets]
    residual = piece.states.T[own] - _integral(piece, _columns(group, i, smoothed) @ coef.T)
    return np.asarray(_modes(residual) / smoothed.noise[own][:, None])


def _columns(group: EquationGroup, i: int, smoothed: Smoothed) -> Array:
    """Return the library on the smoothed states of piece i (samples x terms)."""
    piece = smoothed.pieces[i]
    return group.features.evaluate(trajectory_inputs(group.features, piece, smoothed.values[i], 0, len(piece)))


def _integral(piece: Trajectory, rates: Array) -> Array:
    """Return the integral of rates (samples x columns) from the start of a piece, (columns x samples)."""
    integrals = np.zeros((rates.shape[1], len(piece)))
    between = integrate_intervals(interval_weights(piece.times), rates)
    np.cumsum(between.T, axis=1, out=integrals[:, 1:])
    return integrals


def _modes(curves: Array) -> Array:
    """Return the cosine modes 1, 2, ... of curves (curves x samples), orthonormal.

    By one real Fourier transform of the even samples and, backwards, the odd ones. (SciPy's takes more memory to load
    than a short call needs otherwise.)
    """
    n = curves.shape[1]
    folded = np.fft.rfft(np.concatenate([curves[:, ::2], curves[:, 1::2][:, ::-1]], axis=1), axis=1)
    modes, half = np.empty((len(curves), n - 1)), n // 2
    turn = np.exp(-0.5j * np.pi * np.arange(1, n) / n) * math.sqrt(2.0 / n)
    modes[:, :half] = (turn[:half] * folded[:, 1 : half + 1]).real
    modes[:, half:] = (turn[half:] * folded[:, 1 : n - half][:, ::-1].conj()).real
    return modes


def _spectrum(n: int) -> Array:
    """Return S_m of the modes m = 1..n-1."""
    return np.asarray(1.0 / (2.0 * np.sin(np.pi * np.arange(1, n) / (2.0 * n))) ** 2)

"""The integral form in cosine modes: rows from which a search can start, with no width to choose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exactsindy.data import Trajectory
from exactsindy.errors import ProblemError
from exactsindy.forms.equations import Data, Group, check_count, groups, only_trajectories, trajectory_inputs
from exactsindy.forms.hermite import HermiteFeatures
from exactsindy.forms.increment_rows import Chunks, compressed
from exactsindy.forms.quadrature import integrate_intervals, interval_weights
from exactsindy.forms.smoothing import Smoothed, order_one, smooth
from exactsindy.forms.trial import Coefficients, TrialLike, trial
from exactsindy.library import Features, Library
from exactsindy.problem import Problem

Array = NDArray[np.float64]

_GRID = np.concatenate(([0.0], 10.0 ** np.arange(-6.0, 2.5, 0.5)))


@dataclass(frozen=True, eq=False)
class IntegralForm:
    """Rows y = x(0) + int theta(x) dt xi + e in an orthonormal cosine basis without its constant mode.

    The constant mode holds the unknown x(0). White noise e is white in the modes; errors inside the integral
    add up like a random walk, S_m = 1 / (2 sin(pi m / 2n))^2, so rows are divided by sqrt(1 + c S_m) with c
    the ``walk`` of the equation. `walks` estimates c from the residuals of a model.

    Parameters
    ----------
    walk
        c of each equation, or one for all.
    states
        ``"smooth"``: the library on smoothed states; ``"raw"``: on the measured ones, corrected for the bias
        of noise.
    smoothed
        Smoothed states from an earlier call of `smooth`.

    Examples
    --------
    >>> from exactsindy.data import trajectories
    >>> from exactsindy.library import Polynomials
    >>> t = np.arange(0.0, 5.0, 0.01)
    >>> data = trajectories(np.exp(-t), time=t, states=("x",))
    >>> problem = IntegralForm().problem(data, Polynomials(1))
    >>> bool(problem.rss([[0.0, -1.0]])[0] < 1e-12 * problem.rss([[0.0, 0.0]])[0])
    True
    """

    walk: ArrayLike = 0.0
    states: str = "smooth"
    smoothed: Smoothed | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.states not in ("smooth", "raw"):
            raise ProblemError(f"IntegralForm(states={self.states!r}): expected 'smooth' or 'raw'.")

    def problem(self, data: Data, library: Library) -> Problem:
        """Return the regression of all equations of the trajectories over the library."""
        equations, smoothed = self._prepare(data, library)
        walks = iter(self._walks(sum(len(group.targets) for group in equations)))
        return Problem.from_blocks(
            problem
            for group in equations
            for problem in compressed(group, self._chunks(group, smoothed, [next(walks) for _ in group.targets]))
        )

    def folds(self, data: Data, library: Library, count: int) -> tuple[Problem, ...]:
        """Refuse: modes extend over the whole time and have no parts contiguous in time."""
        check_count(count, 0, "number of parts in time: cosine modes have none; use IncrementForm")
        return ()

    def walks(self, data: Data, library: Library, model: TrialLike) -> Array:
        """Return c of each equation by Whittle's likelihood of the residuals of a model's coefficients."""
        equations, smoothed = self._prepare(data, library)
        fitted = trial(model, equations, "walks")
        if not isinstance(fitted, Coefficients):
            raise ProblemError("walks(model=...): expected coefficients, equations x terms.")
        result = []
        for group in equations:
            pieces = [self._residuals(group, piece, i, smoothed, fitted) for i, piece in enumerate(smoothed.pieces)]
            walk = np.concatenate([_spectrum(len(piece)) for piece in smoothed.pieces])
            tiny = np.finfo(float).tiny  # a state that never changes leaves nothing
            for power in np.concatenate(pieces, axis=1) ** 2:
                score = [
                    len(power) * np.log(np.maximum(np.mean(power / (1 + c * walk)), tiny)) + np.log1p(c * walk).sum()
                    for c in _GRID
                ]
                result.append(float(_GRID[int(np.argmin(score))]))
        return np.array(result)

    def _prepare(self, data: Data, library: Library) -> tuple[tuple[Group, ...], Smoothed]:
        found = only_trajectories(data, "IntegralForm")
        equations = groups(found, library)
        order_one(equations, "IntegralForm")
        return equations, smooth(found) if self.smoothed is None else self.smoothed

    def _walks(self, count: int) -> Array:
        given = np.asarray(self.walk, dtype=float)
        if given.shape not in ((), (count,)) or not (np.isfinite(given) & (given >= 0)).all():
            raise ProblemError(
                f"IntegralForm(walk={self.walk!r}): expected a number >= 0, or one for each of {count} equations."
            )
        return np.broadcast_to(given, (count,))

    def _chunks(self, group: Group, smoothed: Smoothed, walks: Sequence[float]) -> Iterator[Chunks]:
        """Yield (theta, target) of every equation of a group, a piece at a time."""
        for i, piece in enumerate(smoothed.pieces):
            rates = self._columns(group, smoothed).evaluate(self._inputs(group, piece, smoothed.values[i]))
            theta = _modes(_integral(piece, rates))
            own = [piece.names.index(target.state) for target in group.targets]
            measured = _modes(piece.states.T[own])
            scales = [
                1.0 / (smoothed.noise[j] * np.sqrt(1 + walk * _spectrum(len(piece))))
                for j, walk in zip(own, walks, strict=True)
            ]
            yield tuple(((theta * scale).T, (y * scale)[:, None]) for y, scale in zip(measured, scales, strict=True))

    def _residuals(self, group: Group, piece: Trajectory, i: int, smoothed: Smoothed, fitted: Coefficients) -> Array:
        """Return what a model leaves in the modes of a piece, in units of the noise (equations x modes)."""
        columns = self._columns(group, smoothed).evaluate(self._inputs(group, piece, smoothed.values[i]))
        own = [piece.names.index(target.state) for target in group.targets]
        rest = piece.states.T[own] - _integral(piece, columns @ fitted.of(group).T)
        return np.asarray(_modes(rest) / smoothed.noise[own][:, None])

    def _columns(self, group: Group, smoothed: Smoothed) -> Features | HermiteFeatures:
        return HermiteFeatures(group.features, smoothed.noise) if self.states == "raw" else group.features

    def _inputs(self, group: Group, piece: Trajectory, values: Array) -> Array:
        states = piece.states if self.states == "raw" else values
        return trajectory_inputs(group.features, piece, states, 0, len(piece))


def _integral(piece: Trajectory, rates: Array) -> Array:
    """Return the integral of rates (samples x columns) from the start of a piece, (columns x samples)."""
    integrals = np.zeros((rates.shape[1], len(piece)))
    between = integrate_intervals(interval_weights(piece.times), rates)
    np.cumsum(between.T, axis=1, out=integrals[:, 1:])
    return integrals


def _modes(curves: Array) -> Array:
    """Return the cosine modes 1, 2, ... of curves (curves x samples)."""
    from scipy.fft import dct  # loaded when needed: importing it is slow

    return np.asarray(dct(curves, type=2, norm="ortho", axis=1)[:, 1:])


def _spectrum(n: int) -> Array:
    """Return S_m of the modes m = 1..n-1."""
    return np.asarray(1.0 / (2.0 * np.sin(np.pi * np.arange(1, n) / (2.0 * n))) ** 2)

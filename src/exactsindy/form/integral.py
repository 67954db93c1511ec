"""The integral form in cosine modes: rows from which a search can start, with no width to choose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Target, Trajectory
from exactsindy.errors import ProblemError
from exactsindy.form.equations import Data, Group, check_count, groups, only_trajectories, trajectory_inputs
from exactsindy.form.hermite import HermiteFeatures
from exactsindy.form.quadrature import integrate_intervals, interval_weights
from exactsindy.form.smoothing import Smoothed, order_one, smooth
from exactsindy.form.trial import Coefficients, TrialLike, trial
from exactsindy.library import Library
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

    walk: float | Sequence[float] = 0.0
    states: str = "smooth"
    smoothed: Smoothed | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.states not in ("smooth", "raw"):
            raise ProblemError(f"IntegralForm(states={self.states!r}): expected 'smooth' or 'raw'.")

    def problem(self, data: Data, library: Library) -> Problem:
        """Return the regression of all equations of the trajectories over the library."""
        equations, smoothed = self._prepare(data, library)
        targets = [(group, target) for group in equations for target in group.targets]
        return Problem.from_blocks(
            Problem.from_chunks(
                self._rows(group, target, smoothed, walk),
                names=group.features.terms,
                target_names=(target.name,),
            )
            for (group, target), walk in zip(targets, self._walks(len(targets)), strict=True)
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
            for target, xi in zip(group.targets, fitted.of(group), strict=True):
                pairs = [
                    ((y - theta @ xi[:, None])[:, 0] ** 2, _spectrum(len(y) + 1))
                    for theta, y in self._rows(group, target, smoothed, 0.0)
                ]
                power, walk = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
                tiny = np.finfo(float).tiny  # a state that never changes leaves nothing
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

    def _rows(self, group: Group, target: Target, smoothed: Smoothed, walk: float) -> Iterator[tuple[Array, Array]]:
        for piece, values in zip(smoothed.pieces, smoothed.values, strict=True):
            yield self._piece(group, target, piece, values, smoothed.noise, walk)

    def _piece(
        self, group: Group, target: Target, piece: Trajectory, values: Array, noise: Array, walk: float
    ) -> tuple[Array, Array]:
        from scipy.fft import dct  # loaded when needed: importing it is slow

        raw = self.states == "raw"
        columns = HermiteFeatures(group.features, noise) if raw else group.features
        inputs = trajectory_inputs(group.features, piece, piece.states if raw else values, 0, len(piece))
        integrals = np.zeros((len(piece), len(group.features.terms) + 1))
        rates = integrate_intervals(interval_weights(piece.times), columns.evaluate(inputs))
        integrals[1:, :-1] = np.cumsum(rates, axis=0)
        integrals[:, -1] = piece.states[:, piece.names.index(target.state)]
        modes = dct(integrals, type=2, norm="ortho", axis=0)[1:]
        modes /= noise[piece.names.index(target.state)] * np.sqrt(1 + walk * _spectrum(len(piece)))[:, None]
        return modes[:, :-1], modes[:, -1:]


def _spectrum(n: int) -> Array:
    """Return S_m of the modes m = 1..n-1."""
    return np.asarray(1.0 / (2.0 * np.sin(np.pi * np.arange(1, n) / (2.0 * n))) ** 2)

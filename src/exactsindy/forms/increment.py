"""Noise-whitened increments: the default rows for ODEs, with no window to choose."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Trajectories, cuts
from exactsindy.errors import ProblemError
from exactsindy.forms.equations import Data, check_count, groups, only_trajectories
from exactsindy.forms.increment_rows import GroupRows, compressed, split
from exactsindy.forms.smoothing import Smoothed, inform, order_one, smooth
from exactsindy.forms.trial import Coefficients, TrialLike, trial
from exactsindy.library import Library
from exactsindy.problem import Problem

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Whiteness:
    """How far the residuals of whitened rows are from independent noise of the expected size, per equation.

    ``ratio`` is their standard deviation (1 if the noise is as estimated), ``lag`` the correlation of
    neighbours (0 for white measurement noise).
    """

    target_names: tuple[str, ...]
    ratio: Array
    lag: Array

    def __str__(self) -> str:
        lines = (
            f"{name}: residual {ratio:.2f} of the noise, correlation of neighbours {lag:+.2f}"
            for name, ratio, lag in zip(self.target_names, self.ratio, self.lag, strict=True)
        )
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class IncrementForm:
    """Rows y_{i+1} - y_i = int theta(x) dt xi, one per sample interval, made independent.

    The integral is that of local cubics. The error of a row is the noise of its two samples plus the noise
    inside the library, which reaches it through the slopes of the right-hand side: its covariance is
    tridiagonal, and whitening costs O(n D). One block per equation.

    Parameters
    ----------
    states
        ``"raw"``: the library is evaluated on the measured states, powers corrected for the bias of noise.
        ``"informed"``: on states smoothed around the flow of a model (see `inform`).
    model
        Trial model whose slopes whiten the rows: coefficients (equations x terms), a solution, or a `Trial`;
        without it the noise inside the library is left out.
    guide
        Model around whose flow states are smoothed, an over-full one; ``model`` by default.
    smoothed
        Smoothed states from an earlier call of `smooth` or `inform`, to save or iterate them.
    hermite
        Whether raw powers are corrected.

    Notes
    -----
    Unequal steps are honoured, trajectories are cut at gaps, noise is taken as white; `whiteness` tells.

    Informed states may hold far less noise than raw ones. Rows whitened as if all of it still reached the library
    would be up to eight times too large and strongly correlated (Lotka-Volterra); so the slopes are scaled by the
    share, 0 to 1, that makes the residuals of ``model`` most likely.

    Examples
    --------
    >>> from exactsindy.data import trajectories
    >>> from exactsindy.library import Polynomials
    >>> t = np.arange(0.0, 5.0, 0.01)
    >>> x = np.exp(-t) + 0.01 * np.random.default_rng(0).normal(size=t.size)
    >>> data = trajectories(x, time=t, states=("x",))
    >>> form = IncrementForm(model=[[0.0, -1.0, 0.0]])
    >>> bool(abs(form.whiteness(data, Polynomials(2), [[0.0, -1.0, 0.0]]).ratio[0] - 1) < 0.1)
    True
    """

    states: str = "raw"
    model: TrialLike = None
    guide: TrialLike = None
    smoothed: Smoothed | None = field(default=None, repr=False)
    hermite: bool = True

    def __post_init__(self) -> None:
        if self.states not in ("raw", "informed"):
            raise ProblemError(f"IncrementForm(states={self.states!r}): expected 'raw' or 'informed'.")

    def problem(self, data: Data, library: Library) -> Problem:
        """Return the regression of all equations of the trajectories over the library.

        Raises
        ------
        DataError
            If the data are a field, an equation is not of first order, or no piece is long enough.
        """
        rows = self._prepare(data, library)
        return Problem.from_blocks(problem for part in rows for problem in compressed(part.group, part.chunks()))

    def folds(self, data: Data, library: Library, count: int) -> tuple[Problem, ...]:
        """Return ``count`` problems, contiguous in time, whose sum is `problem`.

        Whitening runs through all rows, so a fold is what the rows before it leave new.
        """
        rows = self._prepare(data, library)
        total = rows[0].n_rows
        check_count(count, total, "number of increments")
        parts = zip(*(split(part.chunks(), cuts(total, count)) for part in rows), strict=True)
        return tuple(
            Problem.from_blocks(
                problem
                for source, chunks in zip(rows, fold, strict=True)
                for problem in compressed(source.group, chunks)
            )
            for fold in parts
        )

    def whiteness(self, data: Data, library: Library, coef: TrialLike) -> Whiteness:
        """Return size and correlation of the whitened residuals of a model's coefficients."""
        found = only_trajectories(data, "IncrementForm")
        fitted = trial(coef, groups(found, library), "whiteness")
        if not isinstance(fitted, Coefficients):
            raise ProblemError("whiteness(coef=...): expected coefficients, equations x terms.")
        rows = self._prepare(data, library)
        ratio, lag, names = [], [], []
        for part in rows:
            pieces = zip(*part.chunks(), strict=True)
            for name, xi, chunks in zip(part.group.target_names, fitted.of(part.group), pieces, strict=True):
                residual = np.concatenate([y[:, 0] - theta @ xi for theta, y in chunks])
                centred = residual - residual.mean()
                ratio.append(np.sqrt(np.mean(residual**2)))
                lag.append((centred[1:] @ centred[:-1]) / max(centred @ centred, np.finfo(float).tiny))
                names.append(name)
        return Whiteness(tuple(names), np.array(ratio), np.array(lag))

    def _prepare(self, data: Data, library: Library) -> list[GroupRows]:
        found = only_trajectories(data, "IncrementForm")
        equations = groups(found, library)
        order_one(equations, "IncrementForm")
        smoothed = self._smoothed(found, library)
        model = trial(self.model, equations, "IncrementForm")
        raw = self.states == "raw"
        return [GroupRows(group, smoothed, model, raw, raw and self.hermite) for group in equations]

    def _smoothed(self, data: Trajectories, library: Library) -> Smoothed:
        if self.smoothed is not None:
            return self.smoothed
        if self.states == "raw":
            return smooth(data)
        return inform(data, library, self.model if self.guide is None else self.guide)

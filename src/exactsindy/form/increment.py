"""Noise-whitened increments: the default rows for ODEs, with no window to choose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Target, Trajectories
from exactsindy.data.splitting import cuts
from exactsindy.errors import ProblemError
from exactsindy.form.equations import Data, Group, check_count, groups, only_trajectories, trajectory_inputs
from exactsindy.form.hermite import HermiteFeatures
from exactsindy.form.quadrature import integrate_intervals, interval_weights
from exactsindy.form.smoothing import Smoothed, inform, order_one, smooth
from exactsindy.form.trial import Coefficients, Trial, TrialLike, trial
from exactsindy.form.whitening import Whitening, increment_covariance
from exactsindy.library import Features, Library, Variable
from exactsindy.problem import Problem

Array = NDArray[np.float64]
Chunk = tuple[Array, Array]

# Rows whitened together, whatever the length of the data.
BLOCK_ROWS = 8192


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
        return Problem.from_blocks(equation.problem(equation.chunks()) for equation in rows)

    def folds(self, data: Data, library: Library, count: int) -> tuple[Problem, ...]:
        """Return ``count`` problems, contiguous in time, whose sum is `problem`.

        Whitening runs through all rows, so a fold is what the rows before it leave new.
        """
        rows = self._prepare(data, library)
        total = rows[0].n_rows
        check_count(count, total, "number of increments")
        parts = [list(split(equation.chunks(), cuts(total, count))) for equation in rows]
        return tuple(
            Problem.from_blocks(equation.problem(part[i]) for equation, part in zip(rows, parts, strict=True))
            for i in range(count)
        )

    def whiteness(self, data: Data, library: Library, coef: TrialLike) -> Whiteness:
        """Return size and correlation of the whitened residuals of a model's coefficients."""
        found = only_trajectories(data, "IncrementForm")
        fitted = trial(coef, groups(found, library), "whiteness")
        if not isinstance(fitted, Coefficients):
            raise ProblemError("whiteness(coef=...): expected coefficients, equations x terms.")
        rows = self._prepare(data, library)
        ratio, lag = [], []
        for equation in rows:
            xi = fitted.of(equation.group)[equation.group.targets.index(equation.target)]
            residual = np.concatenate([(y - theta @ xi[:, None])[:, 0] for theta, y in equation.chunks()])
            ratio.append(np.sqrt(np.mean(residual**2)))
            centred = residual - residual.mean()
            lag.append((centred[1:] @ centred[:-1]) / max(centred @ centred, np.finfo(float).tiny))
        names = tuple(equation.target.name for equation in rows)
        return Whiteness(names, np.array(ratio), np.array(lag))

    def _prepare(self, data: Data, library: Library) -> list[EquationRows]:
        found = only_trajectories(data, "IncrementForm")
        equations = groups(found, library)
        order_one(equations, "IncrementForm")
        smoothed = self._smoothed(found, library)
        model = trial(self.model, equations, "IncrementForm")
        raw = self.states == "raw"
        return [
            EquationRows(group, target, smoothed, model, raw, raw and self.hermite)
            for group in equations
            for target in group.targets
        ]

    def _smoothed(self, data: Trajectories, library: Library) -> Smoothed:
        if self.smoothed is not None:
            return self.smoothed
        if self.states == "raw":
            return smooth(data)
        return inform(data, library, self.model if self.guide is None else self.guide)


@dataclass(frozen=True, eq=False)
class EquationRows:
    """The whitened rows of one equation, piece after piece."""

    group: Group
    target: Target
    smoothed: Smoothed
    model: Trial | None
    raw: bool
    hermite: bool

    @property
    def n_rows(self) -> int:
        """Return the number of rows: one per interval."""
        return sum(len(piece) - 1 for piece in self.smoothed.pieces)

    def problem(self, chunks: Iterable[Chunk]) -> Problem:
        """Return the problem of chunks of rows."""
        return Problem.from_chunks(chunks, names=self.group.features.terms, target_names=(self.target.name,))

    def chunks(self) -> Iterator[Chunk]:
        """Yield whitened (theta, target)."""
        for i in range(len(self.smoothed.pieces)):
            yield from self._piece(i)

    @cached_property
    def _columns(self) -> Features | HermiteFeatures:
        features = self.group.features
        return HermiteFeatures(features, self.smoothed.noise) if self.hermite else features

    def _piece(self, i: int) -> Iterator[Chunk]:
        piece, values = self.smoothed.pieces[i], self.smoothed.values[i]
        states = piece.states if self.raw else values
        own = piece.names.index(self.target.state)
        weights = interval_weights(piece.times)
        whitening = self._whitening(i)
        n, before = len(piece), None
        for start in range(0, n - 1, BLOCK_ROWS):
            stop = min(start + BLOCK_ROWS, n - 1)
            low, high = max(start - 1, 0), min(stop + 2, n)
            inputs = trajectory_inputs(self.group.features, piece, states[low:high], low, high)
            columns = self._columns.evaluate(inputs)
            integrals = integrate_intervals(weights[low : high - 1], columns)[start - low : stop - low]
            change = np.diff(piece.states[start : stop + 1, own])
            rows = whitening.apply(np.column_stack([integrals, change]), start, before)
            before = rows[-1].copy()
            yield rows[:, :-1], rows[:, -1:]

    def _whitening(self, i: int) -> Whitening:
        piece, values = self.smoothed.pieces[i], self.smoothed.values[i]
        own = piece.names.index(self.target.state)
        slopes = np.zeros((len(piece), len(piece.names)))
        if self.model is not None:
            inputs = trajectory_inputs(self.group.features, piece, values, 0, len(piece))
            by = [Variable(name) for name in piece.names]
            slopes = self.model.jacobian(self.group, inputs, by)[:, self.group.targets.index(self.target)]
        return Whitening.of(*increment_covariance(np.diff(piece.times), slopes, self.smoothed.noise, own))


def split(chunks: Iterable[Chunk], borders: list[int]) -> Iterator[list[Chunk]]:
    """Yield the chunks between borders (row numbers), cutting them where a border falls inside."""
    stream = iter(chunks)
    theta, target = next(stream)
    at = 0
    for low, high in pairwise(borders):
        part: list[Chunk] = []
        wanted = high - low
        while wanted:
            if at == len(theta):
                (theta, target), at = next(stream), 0
            count = min(wanted, len(theta) - at)
            part.append((theta[at : at + count], target[at : at + count]))
            at, wanted = at + count, wanted - count
        yield part

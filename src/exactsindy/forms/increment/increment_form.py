"""The increment form: changes of states between samples, whitened; there is no window to choose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from exactsindy._types import Array
from exactsindy.chunked import Pieces, Source, assemble, pieces_of
from exactsindy.data import cuts
from exactsindy.errors import ProblemError
from exactsindy.forms.base import TrialLike, fitted, groups, only_trajectories, trial
from exactsindy.forms.increment.increment_pieces import IncrementPlan, sampled_noise
from exactsindy.forms.increment.increment_rows import IncrementRows, compressed, split
from exactsindy.forms.increment.smoothing import Smoothed, order_one, smooth, smooth_guided
from exactsindy.forms.rows import Whiteness, check_count, lag_correlation
from exactsindy.library import Library
from exactsindy.problem import Problem


@dataclass(frozen=True, eq=False)
class IncrementForm:
    """The default form for trajectories: the change of a state between samples is the integral of its terms.

    Rows y_{i+1} - y_i = int theta(x) dt xi, one per sample interval, are made independent. The integral is that of
    local cubics. The error of a row is the noise of its two samples plus the noise inside the library, which reaches
    it through the slopes of the right-hand side: its covariance is tridiagonal, and whitening costs O(n D). One block
    per equation.

    Parameters
    ----------
    states
        ``"raw"``: the library is evaluated on the measured states, powers corrected for the bias of noise.
        ``"guided"``: on states smoothed around the flow of a model (see `smooth_guided`).
    model
        Trial model whose slopes whiten the rows: coefficients (equations x terms), a solution, or a `Trial`;
        without it the noise inside the library is left out.
    guide
        Model around whose flow states are smoothed, a saturated one (more terms than laws have); ``model`` by default.
    smoothed
        Smoothed states from an earlier call of `smooth` or `smooth_guided`, to save or iterate them.
    hermite
        Whether raw powers are corrected.

    Notes
    -----
    Unequal steps are honoured, trajectories are cut at gaps, noise is taken as white; `whiteness` tells.

    Guided states may hold far less noise than raw ones. Rows whitened as if all of it still reached the library
    would be up to eight times too large and strongly correlated (Lotka-Volterra); so the slopes are scaled by the
    share, 0 to 1, that makes the residuals of ``model`` most likely.

    Examples
    --------
    >>> from exactsindy.data import Trajectories
    >>> from exactsindy.library import Polynomials
    >>> t = np.arange(0.0, 5.0, 0.01)
    >>> x = np.exp(-t) + 0.01 * np.random.default_rng(0).normal(size=t.size)
    >>> data = Trajectories.from_arrays(x, time=t, states=("x",))
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
        if self.states not in ("raw", "guided"):
            raise ProblemError(f"IncrementForm(states={self.states!r}): expected 'raw' or 'guided'.")

    def problem(self, data: Source, library: Library) -> Problem:
        """Return the regression of all equations of the trajectories over the library; pieces are read one by one.

        Raises
        ------
        DataError
            If the data are a field, an equation is not of first order, or no piece is long enough.
        """
        pieces = pieces_of(data)
        if pieces is not None:
            return assemble(pieces, self.plan(pieces, library))[0]
        rows = self._prepare(data, library)
        return Problem.from_blocks(problem for part in rows for problem in compressed(part.group, part.chunks()))

    def folds(self, data: Source, library: Library, count: int) -> tuple[Problem, ...]:
        """Return ``count`` problems, contiguous in time, whose sum is `problem`.

        Whitening runs through all rows, so a fold is what the rows before it leave new.
        """
        pieces = pieces_of(data)
        if pieces is not None:
            return assemble(pieces, self.plan(pieces, library), count)
        rows = self._prepare(data, library)
        total = rows[0].n_rows
        check_count(count, total, "number of increments")
        folds = [
            [compressed(part.group, chunks) for chunks in split(part.chunks(), cuts(total, count))] for part in rows
        ]
        return tuple(Problem.from_blocks(chain.from_iterable(fold)) for fold in zip(*folds, strict=True))

    def whiteness(self, data: Source, library: Library, coef: TrialLike) -> Whiteness:
        """Return the size and the correlation of a model's whitened residuals."""
        rows = self._prepare(data, library)
        model = fitted(coef, [part.group for part in rows], "whiteness(coef=...)")
        ratio, lag, names = [], [], []
        for part in rows:
            residuals, row = np.empty((len(part.group.target_names), part.n_rows)), 0
            for chunk in part.residuals(model.of(part.group)):
                residuals[:, row : row + chunk.shape[1]] = chunk
                row += chunk.shape[1]
            for name, residual in zip(part.group.target_names, residuals, strict=True):
                ratio.append(np.sqrt(np.mean(residual**2)))
                lag.append(lag_correlation([residual - residual.mean()]))
                names.append(name)
        return Whiteness(tuple(names), np.array(ratio), np.array(lag))

    def rows(self, data: Source, library: Library) -> Iterator[tuple[str, Array, Array]]:
        """Yield of every equation its name, the whitened columns (rows x terms) and the whitened target (rows,)."""
        for part in self._prepare(data, library):
            for name, chunks in zip(part.group.target_names, zip(*part.chunks(), strict=True), strict=True):
                yield name, np.vstack([theta for theta, _ in chunks]), np.concatenate([y[:, 0] for _, y in chunks])

    @property
    def whitened(self) -> bool:
        """Return True if a trial model whitens the rows."""
        return self.model is not None

    def plan(self, pieces: Pieces, library: Library) -> IncrementPlan:
        """Return how pieces become rows; the noise is that of up to sixteen of them, unless it was given."""
        only_trajectories(pieces.head, "IncrementForm")
        equations = groups(pieces.head, library)
        order_one(equations, "IncrementForm")
        noise = sampled_noise(pieces) if self.smoothed is None else self.smoothed
        model = trial(self.model, equations, "IncrementForm")
        guide = trial(self.model if self.guide is None else self.guide, equations, "IncrementForm")
        raw = self.states == "raw"
        return IncrementPlan(
            equations, library, model, None if raw else guide, noise.only_noise(), raw, raw and self.hermite
        )

    def _prepare(self, data: Source, library: Library) -> list[IncrementRows]:
        trajectories = only_trajectories(data, "IncrementForm")
        equations = groups(trajectories, library)
        order_one(equations, "IncrementForm")
        raw, smoothed = self.states == "raw", self.smoothed
        if smoothed is None:
            guide = self.model if self.guide is None else self.guide
            smoothed = smooth(trajectories) if raw else smooth_guided(trajectories, library, guide)
        model = trial(self.model, equations, "IncrementForm")
        return [IncrementRows(group, smoothed, model, raw, raw and self.hermite) for group in equations]

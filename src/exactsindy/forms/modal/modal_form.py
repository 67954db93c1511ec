"""The modal form: changes of low spatial modes between times, whitened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise

import numpy as np

from exactsindy._types import Array
from exactsindy.chunked import EachApart, Pieces, Source, assemble, pieces_of
from exactsindy.data import Data, Field, cuts
from exactsindy.differentiation import PRINTED, uniform_step
from exactsindy.errors import DataError
from exactsindy.forms.base import EquationGroup, TrialLike, fitted, groups, only_field, trial
from exactsindy.forms.increment.smoothing import order_one
from exactsindy.forms.modal.modal_library import ModalLibrary
from exactsindy.forms.modal.mode_rows import ModeRows, block_of
from exactsindy.forms.modal.mode_smoothing import SmoothedField, TimeBasis, smooth_modes, smooth_periodic
from exactsindy.forms.modal.windowed_field import WindowedField, WindowedLibrary, smooth_window
from exactsindy.forms.quadrature import integrate_intervals, interval_weights
from exactsindy.forms.rows import Whiteness, check_count, lag_correlation
from exactsindy.library import Library
from exactsindy.problem import Problem, TallCollector

# The least number of times that can be smoothed: twice the four of a third difference.
_LEAST = 8
# Times that a piece should have, so that smoothing them loses little at its ends.
_WANTED = 64


@dataclass(frozen=True, eq=False)
class ModalForm:
    """The default form for fields: the change of a spatial mode between times is the integral of its terms.

    Rows y_k(t_{i+1}) - y_k(t_i) = int theta_k dt xi for the low modes k. The field is smoothed (modes beyond the
    cutoff dropped, each other one smoothed in time), every library column is computed from the smoothed field, and
    increments of the measured modes are whitened mode by mode, as `IncrementForm` does for states. One block per
    equation.

    Parameters
    ----------
    model
        Trial model whose slopes whiten the rows: coefficients (equations x terms), a solution, or a `Trial`.
        A saturated one (8 terms of 19, 12 of 109) serves best; without it rows are plain increments.
    smoothed
        The smoothed field of an earlier call of `smooth_field` or `smooth_field_guided`.

    Notes
    -----
    Data in pieces (chunks of a lazy field) are smoothed piece by piece: the problem is the sum of those of the pieces.

    Times must be equally spaced, the noise white, and the upper half of the wavenumbers free of signal. If a
    dimension is not periodic, smooth vectors and windowed waves take the place of Fourier modes in all of
    them; that costs information near the edges.

    Examples
    --------
    >>> from exactsindy.data import Field
    >>> from exactsindy.library import Derivatives
    >>> x, t = 2 * np.pi * np.arange(64) / 64, np.linspace(0, 1, 50)
    >>> u = np.sin(x[:, None] - t) + 0.05 * np.random.default_rng(0).normal(size=(64, 50))
    >>> data = Field.from_arrays(u, dims=("x", "t"), coords={"x": x, "t": t}, periodic=("x",))
    >>> problem = ModalForm().problem(data, Derivatives(1))
    >>> z, _ = problem.blocks[0].target(0)
    >>> bool(abs(z[0] / problem.blocks[0].theta_factor[0, 0] + 1) < 0.1)
    True
    """

    model: TrialLike = None
    smoothed: SmoothedField | WindowedField | None = field(default=None, repr=False)

    def problem(self, data: Source, library: Library) -> Problem:
        """Return the regression of all equations of the field over the library; pieces are read one by one.

        Raises
        ------
        DataError
            If the data are trajectories, cells are missing, or times or points are not equally spaced.
        """
        pieces = pieces_of(data)
        if pieces is not None:
            return assemble(pieces, self.plan(pieces, library))[0]
        return self._sum(only_field(data, "ModalForm"), library, 1)[0]

    def folds(self, data: Source, library: Library, count: int) -> tuple[Problem, ...]:
        """Return ``count`` problems, contiguous in time, whose sum is `problem`."""
        pieces = pieces_of(data)
        if pieces is not None:
            return assemble(pieces, self.plan(pieces, library), count)
        source = only_field(data, "ModalForm")
        check_count(count, len(source.times) - 1, "number of increments in time")
        return self._sum(source, library, count)

    def whiteness(self, data: Data, library: Library, coef: TrialLike) -> Whiteness:
        """Return the size and the correlation in time of a model's whitened residuals."""
        source, equations = self._check(data, library)
        model = fitted(coef, equations, "whiteness(coef=...)")
        residuals: dict[str, list[Array]] = {name: [] for group in equations for name in group.target_names}
        for group, rows in self._rows(source, library, equations):
            for name, table, xi in zip(group.target_names, rows, model.of(group), strict=True):
                residuals[name].append(table[..., -1] - table[..., :-1] @ xi)
        squares = [sum(float((part**2).sum()) for part in parts) for parts in residuals.values()]
        counts = [sum(part.size for part in parts) for parts in residuals.values()]
        lag = np.array([lag_correlation(parts) for parts in residuals.values()])
        return Whiteness(tuple(residuals), np.sqrt(np.array(squares) / counts), lag)

    @property
    def whitened(self) -> bool:
        """Return True if a trial model whitens the rows."""
        return self.model is not None

    def plan(self, pieces: Pieces, library: Library) -> EachApart:
        """Return how pieces become rows: each is smoothed by itself, with the first time of the next one."""
        only_field(pieces.head, "ModalForm")
        return EachApart(partial(_of_piece, replace(self, smoothed=None), library), more=1)

    def _check(self, data: Data, library: Library) -> tuple[Field, tuple[EquationGroup, ...]]:
        source = only_field(data, "ModalForm")
        equations = groups(source, library)
        order_one(equations, "ModalForm")
        return source, equations

    def _sum(self, data: Data, library: Library, count: int) -> tuple[Problem, ...]:
        source, equations = self._check(data, library)
        borders = cuts(len(source.times) - 1, count)
        totals: list[dict[str, TallCollector]] = [{} for _ in range(count)]
        at: dict[int, int] = {}
        for group, rows in self._rows(source, library, equations):
            start = at.get(id(group), 0)
            at[id(group)] = start + rows.shape[1]
            for i, (low, high) in enumerate(pairwise(borders)):
                part = rows[:, max(low - start, 0) : max(high - start, 0)]
                for name, table in zip(group.target_names, part, strict=True):
                    if table.size:
                        fresh = TallCollector(group.features.terms, (name,))
                        totals[i].setdefault(name, fresh).add(table.reshape(-1, table.shape[-1]))
        names = [name for group in equations for name in group.target_names]
        return tuple(Problem(tuple(total[name].block() for name in names)) for total in totals)

    def _rows(
        self, data: Field, library: Library, equations: tuple[EquationGroup, ...]
    ) -> Iterator[tuple[EquationGroup, Array]]:
        """Yield whitened rows (equations x increments x real and imaginary modes x terms and target)."""
        smoothed = smooth_field(data) if self.smoothed is None else self.smoothed
        model = trial(self.model, equations, "ModalForm")
        for group in equations:
            for rows in ModeRows(_library(data, smoothed, group), model).blocks():
                yield group, rows


def _of_piece(form: ModalForm, library: Library, data: Data) -> Problem:
    source = only_field(data, "ModalForm")
    if len(source.times) < _LEAST:
        raise DataError(
            f"ModalForm: a piece of {len(source.times)} times cannot be smoothed; store it in chunks of at least "
            f"{_WANTED} times, or pass dataset.chunk({{{source.time_name!r}: {_WANTED}}})."
        )
    return form.problem(source, library)


def smooth_field(data: Field) -> SmoothedField | WindowedField:
    """Return the low modes of a field, smoothed: Fourier modes if all its dimensions are periodic."""
    if uniform_step(data.times, PRINTED) is None:
        raise DataError("ModalForm: the times are not equally spaced; interpolate to equal steps or use WeakForm.")
    if len(data.times) < _LEAST:
        raise DataError(f"ModalForm: {len(data.times)} times are too few; it needs at least {_LEAST}.")
    return smooth_window(data) if None in data.periods else smooth_periodic(data)


def smooth_field_guided(
    data: Field, library: Library, model: TrialLike, *, start: SmoothedField | WindowedField | None = None
) -> SmoothedField | WindowedField:
    """Return the field smoothed around the flow of a model, mode by mode where that lowers SURE.

    The model's rates are evaluated on ``start``, by default the plain smooth; a saturated model serves best.
    """
    source = only_field(data, "smooth_field_guided")
    equations = groups(source, library)
    flow = trial(model, equations, "smooth_field_guided")
    plain = smooth_field(source)
    before = plain if start is None else start
    if isinstance(plain, SmoothedField) and isinstance(before, SmoothedField) and plain.box != before.box:
        plain = plain.within(before.box.largest)  # the start may have been left with fewer modes
    if flow is None:
        return before
    values, score = plain.values.copy(), plain.score.copy()
    basis = TimeBasis.of(len(source.times))
    weights = interval_weights(source.times)
    for group in equations:
        columns = _library(source, before, group)
        block = block_of(columns)
        blocks = [slice(a, a + block) for a in range(0, len(source.times), block)]
        rates = np.concatenate([columns.rates(flow, times) for times in blocks], axis=1)
        for j, target in enumerate(group.targets):
            f = source.names.index(target.state)
            z = np.zeros_like(plain.measured[f])
            np.cumsum(integrate_intervals(weights, rates[j]), axis=0, out=z[1:])
            if not np.isfinite(z).all():
                continue
            smooth, sure = smooth_modes(plain.measured[f] - z, float(plain.level[f]), basis)
            better = (sure < plain.score[f]) & ~plain.outside
            values[f][:, better] = (z + smooth)[:, better]
            score[f][better] = sure[better]
    return replace(plain, cutoff=before.cutoff, values=values, score=score)


def _library(
    data: Field, smoothed: SmoothedField | WindowedField, group: EquationGroup
) -> ModalLibrary | WindowedLibrary:
    if isinstance(smoothed, SmoothedField):
        return ModalLibrary(data, smoothed, group)
    return WindowedLibrary(data, smoothed, group)

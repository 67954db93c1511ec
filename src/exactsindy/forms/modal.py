"""Whitened increments of low spatial modes: the default rows for PDEs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Field, cuts
from exactsindy.differentiation import PRINTED, uniform_step
from exactsindy.errors import DataError, ProblemError
from exactsindy.forms.equations import Data, Group, check_count, groups, only_field
from exactsindy.forms.increment import Whiteness
from exactsindy.forms.modal_library import ModalLibrary
from exactsindy.forms.modal_rows import GroupRows, block_of
from exactsindy.forms.modal_smoothing import SmoothedField, TimeBasis, smooth_modes, smooth_periodic
from exactsindy.forms.modal_window import WindowedField, WindowedLibrary, smooth_window
from exactsindy.forms.quadrature import integrate_intervals, interval_weights
from exactsindy.forms.smoothing import order_one
from exactsindy.forms.trial import Coefficients, TrialLike, trial
from exactsindy.library import Library
from exactsindy.problem import Problem, TallCollector

Array = NDArray[np.float64]

_LEAST = 8


@dataclass(frozen=True, eq=False)
class ModalForm:
    """Rows y_k(t_{i+1}) - y_k(t_i) = int theta_k dt xi for the low spatial modes k of a field.

    The field is smoothed (modes beyond the corner dropped, each other one smoothed in time), every library
    column is computed from the smoothed field, and increments of the measured modes are whitened mode by
    mode, as `IncrementForm` does for states. One block per equation.

    Parameters
    ----------
    model
        Trial model whose slopes whiten the rows: coefficients (equations x terms), a solution, or a `Trial`.
        An over-full one (8 terms of 19, 12 of 109) serves best; without it rows are plain increments.
    smoothed
        The smoothed field of an earlier call of `smooth_field` or `inform_field`.

    Notes
    -----
    Times must be equally spaced, the noise white, and the upper half of the wavenumbers free of signal. If a
    dimension is not periodic, smooth vectors and windowed waves take the place of Fourier modes in all of
    them; that costs information near the edges.

    Examples
    --------
    >>> from exactsindy.data import field
    >>> from exactsindy.library import Derivatives
    >>> x, t = 2 * np.pi * np.arange(64) / 64, np.linspace(0, 1, 50)
    >>> u = np.sin(x[:, None] - t) + 0.05 * np.random.default_rng(0).normal(size=(64, 50))
    >>> data = field(u, dims=("x", "t"), coords={"x": x, "t": t}, periodic=("x",))
    >>> problem = ModalForm().problem(data, Derivatives(1))
    >>> z, _ = problem.blocks[0].target(0)
    >>> bool(abs(z[0] / problem.blocks[0].theta_factor[0, 0] + 1) < 0.1)
    True
    """

    model: TrialLike = None
    smoothed: SmoothedField | WindowedField | None = field(default=None, repr=False)

    def problem(self, data: Data, library: Library) -> Problem:
        """Return the regression of all equations of the field over the library.

        Raises
        ------
        DataError
            If the data are trajectories, cells are missing, or times or points are not equally spaced.
        """
        return self._sum(data, library, 1)[0]

    def folds(self, data: Data, library: Library, count: int) -> tuple[Problem, ...]:
        """Return ``count`` problems, contiguous in time, whose sum is `problem`."""
        found = only_field(data, "ModalForm")
        check_count(count, len(found.times) - 1, "number of increments in time")
        return self._sum(data, library, count)

    def whiteness(self, data: Data, library: Library, coef: TrialLike) -> Whiteness:
        """Return size and correlation in time of the whitened residuals of a model's coefficients."""
        found, equations = self._check(data, library)
        fitted = trial(coef, equations, "whiteness")
        if not isinstance(fitted, Coefficients):
            raise ProblemError("whiteness(coef=...): expected coefficients, equations x terms.")
        squares: dict[str, float] = {}
        products: dict[str, float] = {}
        counts: dict[str, int] = {}
        for group, rows in self._rows(found, library, equations):
            for j, target in enumerate(group.targets):
                residual = rows[j][..., -1] - rows[j][..., :-1] @ fitted.of(group)[j]
                name = target.name
                squares[name] = squares.get(name, 0.0) + float((residual**2).sum())
                products[name] = products.get(name, 0.0) + float((residual[1:] * residual[:-1]).sum())
                counts[name] = counts.get(name, 0) + residual.size
        names = tuple(target.name for group in equations for target in group.targets)
        ratio = np.array([np.sqrt(squares[name] / counts[name]) for name in names])
        lag = np.array([products[name] / squares[name] for name in names])
        return Whiteness(names, ratio, lag)

    def _check(self, data: Data, library: Library) -> tuple[Field, tuple[Group, ...]]:
        found = only_field(data, "ModalForm")
        equations = groups(found, library)
        order_one(equations, "ModalForm")
        return found, equations

    def _sum(self, data: Data, library: Library, count: int) -> tuple[Problem, ...]:
        found, equations = self._check(data, library)
        borders = cuts(len(found.times) - 1, count)
        totals: list[dict[str, TallCollector]] = [{} for _ in range(count)]
        at: dict[int, int] = {}
        for group, rows in self._rows(found, library, equations):
            start = at.get(id(group), 0)
            at[id(group)] = start + rows.shape[1]
            for i, (low, high) in enumerate(pairwise(borders)):
                part = rows[:, max(low - start, 0) : max(high - start, 0)]
                if not part.shape[1]:
                    continue
                for target, table in zip(group.targets, part, strict=True):
                    fresh = TallCollector(group.features.terms, (target.name,))
                    totals[i].setdefault(target.name, fresh).add(table.reshape(-1, table.shape[-1]))
        names = [target.name for group in equations for target in group.targets]
        return tuple(Problem(tuple(total[name].block() for name in names)) for total in totals)

    def _rows(self, data: Field, library: Library, equations: tuple[Group, ...]) -> Iterator[tuple[Group, Array]]:
        """Yield whitened rows (equations x increments x real and imaginary modes x terms and target)."""
        smoothed = smooth_field(data) if self.smoothed is None else self.smoothed
        model = trial(self.model, equations, "ModalForm")
        for group in equations:
            for rows in GroupRows(_library(data, smoothed, group), model).blocks():
                yield group, rows


def smooth_field(data: Field) -> SmoothedField | WindowedField:
    """Return the low modes of a field, smoothed: Fourier modes if all its dimensions are periodic."""
    if uniform_step(data.times, PRINTED) is None:
        raise DataError("ModalForm: the times are not equally spaced; interpolate to equal steps or use WeakForm.")
    if len(data.times) < _LEAST:
        raise DataError(f"ModalForm: {len(data.times)} times are too few; it needs at least {_LEAST}.")
    whole = all(period is not None for period in data.periods)
    return smooth_periodic(data) if whole else smooth_window(data)


def inform_field(
    data: Field, library: Library, model: TrialLike, *, start: SmoothedField | WindowedField | None = None
) -> SmoothedField | WindowedField:
    """Return the field smoothed around the flow of a model, mode by mode where that lowers SURE.

    Parameters
    ----------
    data, library
        As for the form.
    model
        The trial model, an over-full one.
    start
        The smoothed field on which the model's rates are evaluated; the plain one by default.
    """
    found = only_field(data, "inform_field")
    equations = groups(found, library)
    flow = trial(model, equations, "inform_field")
    plain = smooth_field(found)
    before = plain if start is None else start
    if isinstance(plain, SmoothedField) and isinstance(before, SmoothedField) and plain.box != before.box:
        plain = plain.within(before.box.largest)  # the start may have been left with fewer modes
    if flow is None:
        return before
    values, score = plain.values.copy(), plain.score.copy()
    basis = TimeBasis.of(len(found.times))
    weights = interval_weights(found.times)
    level, outside = plain.level, plain.outside
    for group in equations:
        source = _library(found, before, group)
        block = block_of(source)
        rates = np.concatenate(
            [source.rates(flow, slice(a, a + block)) for a in range(0, len(found.times), block)], axis=1
        )
        for j, target in enumerate(group.targets):
            f = found.names.index(target.state)
            z = np.zeros_like(plain.measured[f])
            np.cumsum(integrate_intervals(weights, rates[j]), axis=0, out=z[1:])
            if not np.isfinite(z).all():
                continue
            smooth, sure = smooth_modes(plain.measured[f] - z, float(level[f]), basis)
            better = (sure < plain.score[f]) & ~outside
            values[f][:, better] = (z + smooth)[:, better]
            score[f][better] = sure[better]
    return replace(plain, corner=before.corner, values=values, score=score)


def _library(data: Field, smoothed: SmoothedField | WindowedField, group: Group) -> ModalLibrary | WindowedLibrary:
    if isinstance(smoothed, SmoothedField):
        return ModalLibrary(data, smoothed, group)
    return WindowedLibrary(data, smoothed, group)

"""The weak form: equations integrated against test functions on many small windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exactsindy._types import Array
from exactsindy.chunked import EachApart, Pieces, Source, assemble, pieces_of
from exactsindy.data import Data, Field, Trajectories, Trajectory, rate_names
from exactsindy.differentiation import FiniteDifference
from exactsindy.errors import DataError, ProblemError
from exactsindy.forms.base import (
    Coefficients,
    EquationGroup,
    TrialLike,
    checked,
    fitted,
    groups,
    only_first_order,
    trial,
)
from exactsindy.forms.derivative import SpaceDerivatives
from exactsindy.forms.form import Form
from exactsindy.forms.rates import with_rates
from exactsindy.forms.rows import Rows, Whiteness, lag_correlation, summed
from exactsindy.forms.weak.by_parts import ByParts, IntegralPlan
from exactsindy.forms.weak.noise_bias import NoiseBias
from exactsindy.forms.weak.placement import Axis, Placement, Rng, Width, sample_lines
from exactsindy.forms.weak.whitening import (
    FieldNoise,
    NoisyStates,
    WhitenedRows,
    field_floor,
    field_noise,
    stacked,
)
from exactsindy.forms.weak.window_pieces import WindowPlan, lines_in_pieces, without_missing
from exactsindy.forms.weak.window_rows import FieldRows, TrajectoryRows
from exactsindy.forms.weak.windows import AxisWindows
from exactsindy.library import Library
from exactsindy.problem import Problem

# Draws of all windows that are tried to find enough of them without missing cells.
_ROUNDS = 20


@dataclass(frozen=True, eq=False)
class WeakForm(Form):
    """Equations are integrated against smooth test functions on many small windows.

    Rows -int phi' x dt = int phi theta(x) dt xi, one per window, with phi = (1 - s^2)^p along each axis. For x''
    the left side is int phi'' x dt; x' among the terms is that of the smoothed states.

    Parameters
    ----------
    domains
        Number of windows; fewer if the data have fewer places for them.
    seed
        Integer, or a NumPy generator to draw from.
    width
        Half-width of the windows, one for all dimensions, one for each, or a mapping from dimension to
        width. By default chosen from the noise and smoothness of the data.
    order
        The power p of the test function; by default 2 more than the derivatives it must take, at least 4.
    layout
        ``"random"`` windows or a regular ``"grid"`` of them.
    centres
        Where the windows lie (windows x dimensions), instead of drawing them.
    accuracy
        Order of accuracy of those spatial derivatives that cannot be moved.
    model
        Trial model with which rows are whitened: coefficients (equations x terms), a solution, or (for
        trajectories) a `Trial`; zeros stand for noise in the left-hand side alone.
    hermite
        Fields: whether the mean that noise adds to powers and products of them is taken out.

    Notes
    -----
    All samples of a window count; derivatives move onto the test function wherever the term allows.
    Windows go round periodic dimensions, lie inside one trajectory, and avoid missing cells. Trajectories
    shorter than a window are left out.

    Windows that overlap share noise, and the slopes of the model let more of it through in some than in others.
    With ``model`` the rows are multiplied by the inverse Cholesky factor of the covariance C that white noise, its
    level estimated from the data, gives them to first order; 1e-10 of the mean of its diagonal (1e-3 of that of the
    left-hand side for fields) is added to the diagonal, for C has far lower rank than rows if windows overlap heavily.
    Errors of fields that are no noise, those of integrals between samples and of simulations, count as noise. Then
    there is one block per equation, a fold holds what the windows before it leave new, and a solution can serve as the
    next trial.

    Examples
    --------
    >>> from exactsindy.data import Trajectories
    >>> from exactsindy.library import Polynomials
    >>> t = np.arange(0.0, 5.0, 0.01)
    >>> data = Trajectories.from_arrays(np.exp(-t), time=t, states=("x",))
    >>> problem = WeakForm(domains=100).problem(data, Polynomials(2))
    >>> bool(problem.rss([[0.0, -1.0, 0.0]])[0] < 1e-12)
    True
    """

    domains: int = 1000
    seed: int | Rng = 0
    width: Width = None
    order: int | None = None
    layout: str = "random"
    centres: ArrayLike | None = field(default=None, repr=False)
    accuracy: int = 4
    model: TrialLike = field(default=None, repr=False)
    hermite: bool = False

    def __post_init__(self) -> None:
        if not (isinstance(self.domains, int) and self.domains >= 1):
            raise ProblemError(f"WeakForm(domains={self.domains!r}): expected an integer >= 1.")
        if self.layout not in ("random", "grid"):
            raise ProblemError(f"WeakForm(layout={self.layout!r}): expected 'random' or 'grid'.")
        if self.order is not None and not (isinstance(self.order, int) and self.order >= 1):
            raise ProblemError(f"WeakForm(order={self.order!r}): expected an integer >= 1, e.g. 6.")
        FiniteDifference(self.accuracy)

    def problem(self, data: Source, library: Library) -> Problem:
        """Return the regression of all equations of the data over the library; data in pieces are read one by one.

        Raises
        ------
        DataError
            If windows of the width do not fit into the data.
        """
        return self._sum(data, library, None)[0]

    def folds(self, data: Source, library: Library, count: int) -> tuple[Problem, ...]:
        """Return ``count`` problems, contiguous in time, whose sum is `problem`; a window is in one of them."""
        return self._sum(data, library, count)

    def whiteness(self, data: Data, library: Library, coef: TrialLike) -> Whiteness:
        """Return the size and the correlation of a model's whitened residuals.

        The size is relative to what noise leaves in rows that are not independent (see Notes).
        """
        source = with_rates(checked(data, "WeakForm"))
        if self.model is None:
            raise ProblemError("WeakForm: rows are whitened only with WeakForm(model=...); give a trial model.")
        model = fitted(coef, groups(source, library), "whiteness(coef=...)")
        equations, sources = self._whitened(source, groups(source, library))
        ratio, lag = [], []
        for group, members in zip(equations, sources, strict=True):
            xi = model.of(group)[0]
            residuals = [rows.target[:, 0] - rows.theta @ xi for rows in members]
            square = sum(float(r @ r) for r in residuals)
            ratio.append(np.sqrt(square / sum(rows.expected for rows in members)))
            lag.append(lag_correlation(residuals))
        names = tuple(name for group in equations for name in group.target_names)
        return Whiteness(names, np.array(ratio), np.array(lag))

    def whitened_by(self, data: Field, library: Library, model: TrialLike) -> tuple[Problem, Array]:
        """Return the rows of a field whitened by a model, and ln det of the covariance of each equation.

        With a model's own residual sum of squares that is -2 ln of its likelihood but for a constant.
        """
        equations, sources = replace(self, model=model)._whitened(data, groups(data, library))
        return summed(equations, sources, None, "")[0], np.array([rows.log_determinant for (rows,) in sources])

    def floor(self, data: Field) -> Array:
        """Return for each equation the sum of squares of whitened rows that errors leave which are no noise."""
        errors = field_floor(data)
        shares = dict(zip(data.names, errors / np.maximum(errors, field_noise(data)), strict=True))
        return np.array([self.domains * shares[target.state] ** 2 for target in data.targets])

    def box(self, data: Field, library: Library) -> float:
        """Return the share of all samples that a window holds."""
        windows = replace(self, domains=1)._field(data, groups(data, library))[0].windows
        return float(np.prod([axis.lengths[0] / n for axis, n in zip(windows, data.shape, strict=True)]))

    @property
    def whitened(self) -> bool:
        """Return True if a trial model whitens the rows."""
        return self.model is not None

    def _sum(self, data: Source, library: Library, count: int | None) -> tuple[Problem, ...]:
        pieces = pieces_of(data)
        if pieces is not None:
            return assemble(pieces, self.plan(pieces, library), count or 1)
        source = with_rates(checked(data, "WeakForm"))
        equations: Sequence[EquationGroup] = groups(source, library)
        sources: Sequence[Sequence[Rows]]
        if self.model is not None:
            equations, sources = self._whitened(source, equations)
        elif isinstance(source, Trajectories):
            self._refuse_hermite()
            sources = self._trajectories(source, equations)
        else:
            sources = [[rows] for rows in self._field(source, equations)]
        return summed(equations, sources, count, "number of windows")

    def _whitened(
        self, data: Data, equations: Sequence[EquationGroup]
    ) -> tuple[list[EquationGroup], list[list[WhitenedRows]]]:
        """Return the equations one by one, and the whitened rows of each, trajectory by trajectory."""
        model = trial(self.model, equations, "WeakForm")
        assert model is not None
        single = [EquationGroup(group.features, (target,)) for group in equations for target in group.targets]
        sources: list[list[WhitenedRows]] = []
        if isinstance(data, Trajectories):
            self._refuse_hermite()
            states = NoisyStates.of(data)
            for members in self._trajectories(data, equations):
                tables = [(rows, *stacked(rows.rows(0, len(rows)))) for rows in members]
                sources += [
                    [WhitenedRows.of(theta, y[:, j], states.covariance(rows, j, model)) for rows, theta, y in tables]
                    for j in range(len(members[0].group.targets))
                ]
            return single, sources
        if not isinstance(model, Coefficients):
            raise ProblemError("WeakForm(model=...): for a field expected coefficients, equations x terms.")
        noise = np.maximum(field_noise(data), field_floor(data))
        for rows in self._field(data, equations):
            theta, y = stacked(rows.rows(0, len(rows)))
            for j in range(len(rows.group.targets)):
                errors = FieldNoise(rows, j, model, noise)
                sources.append([WhitenedRows.of(theta, y[:, j], errors.covariance(), errors.ridge)])
        return single, sources

    def plan(self, pieces: Pieces, library: Library) -> WindowPlan | EachApart:
        """Return how pieces become rows: windows are laid over the whole field, each is in the piece it begins in."""
        if self.model is not None:
            raise ProblemError(
                "WeakForm(model=...): whitening needs the covariance of all windows, and these data are read in "
                "pieces; use model=None."
            )
        if self.hermite:
            raise ProblemError(
                "WeakForm(hermite=True): the noise is estimated from all of the field, and these data are read in "
                "pieces; use hermite=False."
            )
        equations = groups(only_first_order(pieces), library)
        if pieces.field is None:
            total = max(pieces.n_samples or pieces.head.n_samples, 1)
            return EachApart(partial(self._share, library=library, total=total))
        lines = None if self.width is not None else lines_in_pieces(pieces)
        rows = self._field(pieces.field, equations, lines)
        return WindowPlan(equations, rows[0].windows, tuple(row.plan for row in rows), self.accuracy)

    def _share(self, data: Data, library: Library, total: int) -> Problem | None:
        """Return the problem of the windows that are a piece's share of all."""
        count = max(round(self.domains * data.n_samples / total), 1)
        try:
            return replace(self, domains=count).problem(data, library)
        except DataError:
            return None  # shorter than a window

    def _refuse_hermite(self) -> None:
        if self.hermite:
            raise ProblemError("WeakForm(hermite=True) is for fields; use hermite=False, or IncrementForm().")

    @property
    def _placement(self) -> Placement:
        return Placement(self.domains, self.seed, self.width, self.layout, self.centres)

    def _power(self, largest: int) -> int:
        power = self.order or max(4, largest + 2)
        if power <= largest:
            raise ProblemError(
                f"WeakForm(order={power}): the test function must take derivatives of order {largest}; "
                f"expected order >= {largest + 1}, better {largest + 2}."
            )
        return power

    def _trajectories(self, data: Trajectories, equations: Sequence[EquationGroup]) -> list[list[TrajectoryRows]]:
        orders = tuple(sorted({0, *(target.order for target in data.targets)}))
        p, placement = self._power(orders[-1]), self._placement
        rng, total = placement.rng(), sum(len(member) for member in data)
        rates = rate_names(data.targets, ())
        measured = [i for i, name in enumerate(data.state_names) if name not in rates]
        placed: list[tuple[Trajectory, AxisWindows]] = []
        refused: DataError | None = None
        for member in data:
            share = max(round(self.domains * len(member) / total), 1)
            axis = Axis(data.time_name, member.times, False, member.states[:, measured], 0, orders)
            try:
                placed.append((member, placement.place([axis], p, rng, share)[0]))
            except DataError as error:
                refused = error
        if refused is not None and not placed:
            raise refused
        return [[TrajectoryRows(member, windows, group) for member, windows in placed] for group in equations]

    def _field(
        self, data: Field, equations: Sequence[EquationGroup], lines: Sequence[Array] | None = None
    ) -> list[FieldRows]:
        by_parts = ByParts(data.axes, data.names)
        bias = NoiseBias(data, field_noise(data), self.accuracy) if self.hermite else None
        parts = [[by_parts.full(t) for t in group.features.terms] for group in equations]
        if bias is not None:
            parts = [[bias.removed(of_term) for of_term in of_group] for of_group in parts]
        plans = [IntegralPlan.of(of_group, data.names) for of_group in parts]
        times = tuple(sorted({0, *(target.order for target in data.targets)}))
        orders = [tuple(sorted({q for plan in plans for q in plan.orders(i)})) for i in range(len(data.axes))]
        p = self._power(max(max(q) for q in (*orders, times)))
        windows = self._without_gaps(data, self._axes(data, plans, [*orders, times], lines), p)
        return [
            FieldRows(data, windows, group, plan, self.accuracy) for group, plan in zip(equations, plans, strict=True)
        ]

    def _axes(
        self,
        data: Field,
        plans: Sequence[IntegralPlan],
        orders: Sequence[tuple[int, ...]],
        lines: Sequence[Array] | None,
    ) -> list[Axis]:
        if lines is None:  # widths are chosen from them, unless they were given
            dims = range(len(data.dims))
            lines = [np.empty((0, 0)) if self.width is not None else sample_lines(data.values, i) for i in dims]
        finite = FiniteDifference(self.accuracy)
        space = SpaceDerivatives(finite, data.axes, data.coords[:-1], (False,) * len(data.axes))
        halos = [*space.reach([v for plan in plans for v in plan.derivatives]), 0]
        periodic = [*(period is not None for period in data.periods), False]
        return [
            Axis(name, data.coords[i], periodic[i], lines[i], halos[i], orders[i]) for i, name in enumerate(data.dims)
        ]

    def _without_gaps(self, data: Field, axes: Sequence[Axis], p: int) -> tuple[AxisWindows, ...]:
        """Return windows free of missing cells; windows are drawn again until there are enough."""
        placement = self._placement
        rng = placement.rng()
        windows = placement.place(axes, p, rng, self.domains)
        if not data.missing or data.lazy:  # pieces leave out windows with missing cells themselves
            return windows
        good = _whole(data, windows, axes)
        for _ in range(_ROUNDS):
            if len(good) >= min(self.domains, len(windows[0])) or self.layout == "grid" or self.centres is not None:
                break
            more = placement.place(axes, p, rng, 2 * self.domains)
            better = _whole(data, more, axes)
            if len(better) > len(good):
                windows, good = more, better
        if not len(good):
            raise DataError(f"WeakForm: every window meets one of the {data.missing} missing cells; reduce the width.")
        chosen = np.sort(np.random.default_rng(0).permutation(good)[: self.domains])
        return tuple(axis.take(chosen) for axis in windows)


def _whole(data: Field, windows: Sequence[AxisWindows], axes: Sequence[Axis]) -> NDArray[np.intp]:
    return without_missing(data, windows, [axis.halo for axis in axes])

"""Weak rows by the rules of other programs: that of the published experiments, and that of PySINDy 2.1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Field, Trajectories
from exactsindy.errors import DataError, ProblemError
from exactsindy.forms import EquationGroup, Form, Rows, groups, summed
from exactsindy.forms.weak import (
    ByParts,
    FieldRows,
    IntegralPlan,
    Part,
    Rng,
    TrajectoryRows,
    Width,
    checked_widths,
    too_wide,
)
from exactsindy.library import Library, Term
from exactsindy.problem import Problem
from exactsindy_experiments.published_field_rows import (
    Difference,
    PublishedFieldRows,
    PySindyFieldRows,
    half_moved,
    is_product,
)
from exactsindy_experiments.published_windows import PlacedWindows, interpolated, snapped

Array = NDArray[np.float64]
Data = Trajectories | Field

RULES = ("published", "pysindy")
#: Interpolated points per window and dimension in the published experiments, for trajectories and for fields.
POINTS, FIELD_POINTS = 400, 50


@dataclass(frozen=True, eq=False)
class PublishedWeakForm(Form):
    """Weak rows as the published experiments or PySINDy 2.1 compute them, to compare with `WeakForm`.

    Parameters
    ----------
    domains
        Number of windows, of every trajectory.
    seed
        Integer, or a NumPy generator to draw from; the published rule makes numpy's legacy generator of an integer.
    rule
        ``"published"``: ``points`` interpolated points per window and dimension, trapezoidal rule. ``"pysindy"``:
        windows shrunk to the samples inside, which are joined by straight lines.
    width
        Half-width of the windows; by default 1/20 of each dimension.
    order
        Least power p of the test function.
    points
        Only for the published rule: 400 for trajectories and 50 for fields by default.

    Examples
    --------
    >>> t = np.arange(0.0, 5.0, 0.01)
    >>> data = Trajectories.from_arrays(np.exp(-t), time=t, states=("x",))
    >>> from exactsindy.library import Polynomials
    >>> problem = PublishedWeakForm(domains=100).problem(data, Polynomials(2))
    >>> bool(problem.rss([[0.0, -1.0, 0.0]])[0] < 1e-6)
    True
    """

    domains: int = 1000
    seed: int | Rng = 0
    rule: str = "published"
    width: Width = None
    order: int = 4
    points: int | None = None

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ProblemError(f"PublishedWeakForm(rule={self.rule!r}): expected one of {', '.join(RULES)}.")

    def problem(self, data: Data, library: Library) -> Problem:
        """Return the regression of all equations of the data over the library."""
        return summed(*self.rows(data, library), None, "number of windows")[0]

    def folds(self, data: Data, library: Library, count: int) -> tuple[Problem, ...]:
        """Return ``count`` problems, contiguous in time, whose sum is `problem`."""
        return summed(*self.rows(data, library), count, "number of windows")

    def rows(self, data: Data, library: Library) -> tuple[tuple[EquationGroup, ...], Sequence[Sequence[Rows]]]:
        """Return the groups of equations, and for each of them the rows of every trajectory or of the field."""
        equations = groups(data, library)
        if isinstance(data, Trajectories):
            return equations, self._trajectories(data, equations)
        if data.missing:
            raise DataError(f"PublishedWeakForm: {data.missing} cells are missing; use WeakForm.")
        return equations, self._field(data, equations)

    def _rng(self) -> Rng:
        if isinstance(self.seed, np.random.Generator | np.random.RandomState):
            return self.seed
        return np.random.RandomState(self.seed) if self.rule == "published" else np.random.default_rng(self.seed)

    def _trajectories(self, data: Trajectories, equations: Sequence[EquationGroup]) -> list[list[TrajectoryRows]]:
        orders = tuple(sorted({0, *(target.order for target in data.targets)}))
        power, rng = max(self.order, orders[-1]), self._rng()
        placed = [
            (member, self._place((data.time_name,), (member.times,), power, (orders,), rng)[0].windows)
            for member in data
        ]
        return [[TrajectoryRows(member, windows, group) for member, windows in placed] for group in equations]

    def _field(self, data: Field, equations: Sequence[EquationGroup]) -> list[list[Rows]]:
        by_parts = ByParts(data.axes, data.names)
        parts: list[list[tuple[Part, ...]]] = []
        differences: list[tuple[Difference, ...]] = []
        for group in equations:
            moved = [self._moved(j, term, by_parts) for j, term in enumerate(group.features.terms)]
            parts.append([plain for plain, _ in moved])
            differences.append(tuple(difference for _, summands in moved for difference in summands))
        plans = [IntegralPlan.of(terms, data.names) for terms in parts]
        orders = [
            tuple(
                sorted({*(q for plan in plans for q in plan.orders(i)), *(d.orders[i] for e in differences for d in e)})
            )
            for i in range(len(data.axes))
        ]
        orders.append(tuple(sorted({0, *(target.order for target in data.targets)})))
        power = max(self.order, *(max(q) for q in orders))
        placed = self._place(data.dims, data.coords, power, orders, self._rng())
        windows = tuple(axis.windows for axis in placed)
        pure = [FieldRows(data, windows, group, plan, 2) for group, plan in zip(equations, plans, strict=True)]
        if self.rule == "published":
            positions = tuple(axis.positions for axis in placed)
            return [[PublishedFieldRows(rows, power, positions)] for rows in pure]
        return [[PySindyFieldRows(rows, summands)] for rows, summands in zip(pure, differences, strict=True)]

    def _moved(self, column: int, term: Term, by_parts: ByParts) -> tuple[tuple[Part, ...], tuple[Difference, ...]]:
        """Return the summands of a term, and those in which its function is differentiated."""
        if self.rule == "pysindy":
            return half_moved(column, term, by_parts.axes)
        return () if is_product(term) else by_parts.full(term), ()

    def _place(
        self,
        names: Sequence[str],
        coords: Sequence[Array],
        power: int,
        orders: Sequence[tuple[int, ...]],
        rng: Rng,
    ) -> list[PlacedWindows]:
        """Return windows around uniformly drawn centres: all for one axis, then for the next; sorted along the last."""
        if self.width is None:
            widths = np.array([(x[-1] - x[0]) / 20 for x in coords])
        else:
            widths = checked_widths(self.width, names)
        for name, x, width in zip(names, coords, widths, strict=True):
            if 2 * width >= x[-1] - x[0]:
                raise too_wide(name, x, width)
        centres = [
            rng.uniform(float(x[0]) + width, float(x[-1]) - width, size=self.domains)
            for x, width in zip(coords, widths, strict=True)
        ]
        if self.rule == "published":
            count = self.points or (POINTS if len(coords) == 1 else FIELD_POINTS)
            placed = [
                interpolated(x, centre, width, power, q, count)
                for x, centre, width, q in zip(coords, centres, widths, orders, strict=True)
            ]
        else:
            placed = [
                snapped(name, x, centre, width, power, q)
                for name, x, centre, width, q in zip(names, coords, centres, widths, orders, strict=True)
            ]
        order = np.argsort(placed[-1].windows.starts, kind="stable")
        return [axis.take(order) for axis in placed]

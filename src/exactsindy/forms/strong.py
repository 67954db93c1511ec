"""The strong form: estimated derivatives against the library at the same samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from exactsindy._types import Array
from exactsindy.chunked import Piece, Pieces, Source, assemble, pieces_of
from exactsindy.data import Field, Trajectories, Trajectory
from exactsindy.differentiation import FiniteDifference, SmoothedFiniteDifference, uniform_step
from exactsindy.errors import DataError
from exactsindy.forms.base import EquationGroup, checked, groups, only_first_order, trajectory_inputs
from exactsindy.forms.derivative import Differentiation, Slopes, SpaceDerivatives, derive, halo, interior_reach
from exactsindy.forms.form import Form
from exactsindy.forms.rates import rate_targets, with_rates
from exactsindy.forms.rows import Rows, of_ranges, summed
from exactsindy.library import Library, Variable
from exactsindy.problem import Problem

# Rows evaluated together: their library columns stay in the second-level cache, whatever the length of the data.
BLOCK_ROWS = 4096
# Rows differentiated together.
_SECTION_ROWS = 4 * BLOCK_ROWS
# Grid points of a field differentiated together: a few arrays of eight megabytes.
_SLAB_POINTS = 1 << 20


@dataclass(frozen=True)
class StrongForm(Form):
    """Estimated time derivatives are regressed on the library at the same samples.

    Rows x'(t_i) = theta(x(t_i)) xi, one per sample, come in blocks. Equations for x'' have x' among their variables; it
    is estimated in the same way.

    Parameters
    ----------
    differentiation
        How time derivatives are estimated. Measured derivatives of a trajectory are used instead if it has
        them.
    smooth_states
        Whether the library is evaluated on the states the differentiation smoothed, or on the raw ones.
    space
        Spatial derivatives of fields on axes that are not periodic; periodic axes are differentiated
        spectrally unless ``spectral`` is off.
    spectral
        Whether periodic axes use the discrete Fourier transform (exact for resolved fields; finite
        differences pass less noise).

    Notes
    -----
    Trajectories keep every sample; at their ends derivatives are one-sided. Of fields, the points at which a
    central stencil does not fit are left out, and so are those that see a missing cell.

    Examples
    --------
    >>> from exactsindy.data import Trajectories
    >>> from exactsindy.library import Polynomials
    >>> t = np.arange(0.0, 5.0, 0.01)
    >>> problem = StrongForm().problem(Trajectories.from_arrays(np.exp(-t), time=t, states=("x",)), Polynomials(2))
    >>> bool(problem.rss([[0.0, -1.0, 0.0]])[0] < 1e-6)
    True
    """

    differentiation: Differentiation = field(default_factory=SmoothedFiniteDifference)
    smooth_states: bool = False
    space: FiniteDifference = field(default_factory=lambda: FiniteDifference(order=4))
    spectral: bool = True

    def problem(self, data: Source, library: Library) -> Problem:
        """Return the regression of all equations of the data over the library; data in pieces are read one by one.

        Raises
        ------
        DataError
            If a trajectory is too short to differentiate, or no point of a field is far enough from its
            edges.
        """
        return self._sum(data, library, None)[0]

    def folds(self, data: Source, library: Library, count: int) -> tuple[Problem, ...]:
        """Return ``count`` problems, contiguous in time, whose sum is `problem`.

        Derivatives are those of the whole data, so a fold sees a few samples of its neighbours.
        """
        return self._sum(data, library, count)

    def _sum(self, data: Source, library: Library, count: int | None) -> tuple[Problem, ...]:
        pieces = pieces_of(data)
        if pieces is not None:
            return assemble(pieces, self.plan(pieces, library), count or 1)
        source = checked(data, "StrongForm")
        equations = groups(source, library)
        sources: list[list[Rows]]
        if isinstance(source, Trajectories):
            sources = [[_TrajectoryRows(self, member, group) for member in source] for group in equations]
        else:
            sources = [[_FieldRows(self, with_rates(source), group)] for group in equations]
        return summed(equations, sources, count, "number of samples in time")

    def plan(self, pieces: Pieces, library: Library) -> _StrongPlan:
        """Return how pieces become rows: those of their own samples."""
        equations = groups(only_first_order(pieces), library)
        orders = (target.order for group in equations for target in group.targets)
        reach = halo(self.differentiation, max(orders))
        if reach is None:
            raise DataError(
                f"StrongForm({self.differentiation!r}): this way to differentiate needs whole trajectories, and these "
                "data are read in pieces; use FiniteDifference() or SmoothedFiniteDifference()."
            )
        return _StrongPlan(self, equations, (reach, reach))


@dataclass(frozen=True, eq=False)
class _StrongPlan:
    """The rows of one piece of the data: those of its own samples, whose stencils reach into its neighbours."""

    form: StrongForm
    equations: tuple[EquationGroup, ...]
    reach: tuple[int, int]
    in_order: bool = False

    def problem(self, piece: Piece, before: object) -> tuple[Problem | None, None]:
        if isinstance(piece.data, Trajectories):
            sources = [[_TrajectoryRows(self.form, member, g) for member in piece.data] for g in self.equations]
            ranges = [(i, low, high) for i, (low, high) in enumerate(piece.own)]
            return of_ranges(self.equations, sources, ranges), None
        ((low, high),) = piece.own
        rows = [_FieldRows(self.form, piece.data, group) for group in self.equations]
        first = rows[0].first  # rows begin there, the same for all equations: they are of first order
        low, high = max(low - first, 0), min(high - first, len(rows[0]))
        return (of_ranges(self.equations, [[own] for own in rows], [(0, low, high)]) if low < high else None), None


@dataclass(frozen=True)
class _TrajectoryRows:
    """The rows of some equations of a trajectory, a block of samples at a time."""

    form: StrongForm
    member: Trajectory
    group: EquationGroup

    def __len__(self) -> int:
        return len(self.member)

    def rows(self, low: int, high: int) -> Iterator[tuple[Array, Array]]:
        names = self.group.features.variables.states[len(self.member.names) :]
        slopes = Slopes(self.form.differentiation, self.member, self.group.targets)
        rates = Slopes(self.form.differentiation, self.member, rate_targets(names, self.member.names))
        # Whoever takes the columns copies them at once: they share one table, which saves the cost of fresh memory.
        table = np.empty((len(self.group.features.terms), min(BLOCK_ROWS, max(high - low, 0))))
        for first in range(low, high, _SECTION_ROWS):
            last = min(first + _SECTION_ROWS, high)
            targets = slopes.between(first, last)
            states = slopes.states(first, last) if self.form.smooth_states else self.member.states[first:last]
            if names:
                states = np.hstack([states, rates.between(first, last)])
            inputs = list(trajectory_inputs(self.group.features, self.member, states, first, last).T)
            for start in range(0, last - first, BLOCK_ROWS):
                stop = min(start + BLOCK_ROWS, last - first)
                columns = self.group.features.rows([row[start:stop] for row in inputs], table[:, : stop - start])
                yield columns.T, targets[start:stop]


@dataclass(frozen=True)
class _FieldRows:
    """The rows of some equations of a field at all points where the stencils fit, a slab of times at a time."""

    form: StrongForm
    data: Field
    group: EquationGroup

    @cached_property
    def derivatives(self) -> SpaceDerivatives:
        whole = tuple(self.form.spectral and period is not None for period in self.data.periods)
        return SpaceDerivatives(self.form.space, self.data.axes, self.data.coords[:-1], whole)

    @cached_property
    def inner(self) -> tuple[slice, ...]:
        """Return the points in space that are far enough from the edges."""
        reach = self.derivatives.reach(self.group.features.inputs)
        return tuple(slice(r, n - r) for r, n in zip(reach, self.data.shape, strict=False))

    @cached_property
    def first(self) -> int:
        """Return the first time that is far enough from the start."""
        return max(interior_reach(self.form.differentiation, target.order) for target in self.group.targets)

    def __len__(self) -> int:
        return max(len(self.data.times) - 2 * self.first, 0)

    def rows(self, low: int, high: int) -> Iterator[tuple[Array, Array]]:
        slab = max(_SLAB_POINTS // max(int(np.prod(self.data.shape[:-1])), 1), 8)
        for start in range(low + self.first, high + self.first, slab):
            inputs, targets = self._slab(start, min(start + slab, high + self.first))
            for a in range(0, inputs.shape[1], BLOCK_ROWS):
                part = slice(a, a + BLOCK_ROWS)
                yield self.group.features.rows(list(inputs[:, part])).T, targets[:, part].T

    def __post_init__(self) -> None:
        if min(*(part.stop - part.start for part in self.inner), len(self)) < 1:
            raise DataError(
                f"StrongForm: the grid {self.data.shape} of {', '.join(self.data.dims)} has no point where "
                "all stencils fit; use fewer derivatives, a lower order of accuracy or a shorter window."
            )
        if self.data.missing and any(self.derivatives.spectral):
            raise DataError(
                f"StrongForm: {self.data.missing} missing cells cannot be differentiated by Fourier "
                "transform; pass spectral=False, or use WeakForm."
            )

    def _slab(self, start: int, stop: int) -> tuple[Array, Array]:
        """Return inputs (inputs x points) and targets (equations x points) of a slab of times."""
        method, n = self.form.differentiation, len(self.data.times)
        reach = halo(method, max(target.order for target in self.group.targets))
        low, high = (0, n) if reach is None else (max(start - reach, 0), min(stop + reach, n))
        step = uniform_step(self.data.times)
        where = self.data.times[low:high] if step is None else step
        inside = slice(start - low, stop - low)
        values = {name: self.data[name][..., low:high] for name in self.data.names}
        targets = [
            derive(method, values[target.state][self.inner], where, target.order, axis=-1)[..., inside]
            for target in self.group.targets
        ]
        if self.form.smooth_states:
            states = {k: np.asarray(method.states(v, where, axis=-1))[..., inside] for k, v in values.items()}
        else:
            states = {k: v[..., inside] for k, v in values.items()}
        inputs = [self._input(variable, states, slice(start, stop)) for variable in self.group.features.inputs]
        flat = np.stack([array.reshape(-1) for array in inputs])
        goal = np.stack([array.reshape(-1) for array in targets])
        if not self.data.missing:
            return flat, goal
        whole = np.isfinite(flat).all(axis=0) & np.isfinite(goal).all(axis=0)
        return flat[:, whole], goal[:, whole]

    def _input(self, variable: Variable, states: dict[str, Array], times: slice) -> Array:
        if variable.name in states:
            return self.derivatives.of(states[variable.name], variable)[self.inner]
        shape = next(iter(states.values()))[self.inner].shape
        i = self.data.dims.index(variable.name)
        points = self.data.coords[i][times if i == len(shape) - 1 else self.inner[i]]
        return np.broadcast_to(points.reshape([-1 if k == i else 1 for k in range(len(shape))]), shape)

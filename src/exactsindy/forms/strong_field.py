"""Rows of the strong form of a PDE: a slab of times at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Field
from exactsindy.differentiation import FiniteDifference, uniform_step
from exactsindy.errors import DataError
from exactsindy.forms.base import EquationGroup
from exactsindy.forms.derivative import (
    Differentiation,
    SpaceDerivatives,
    derive,
    halo,
    interior_reach,
)
from exactsindy.library import Variable

# Grid points differentiated together: a few arrays of eight megabytes.
SLAB_POINTS = 1 << 20
BLOCK_ROWS = 4096


@dataclass(frozen=True)
class FieldRows:
    """The rows of some equations of a field, at all points where the stencils fit."""

    time: Differentiation
    smooth_states: bool
    space: FiniteDifference
    spectral: bool
    data: Field
    group: EquationGroup

    @cached_property
    def derivatives(self) -> SpaceDerivatives:
        """Return how the field is differentiated in space."""
        whole = tuple(self.spectral and period is not None for period in self.data.periods)
        return SpaceDerivatives(self.space, self.data.axes, self.data.coords[:-1], whole)

    @cached_property
    def inner(self) -> tuple[slice, ...]:
        """Return the points in space that are far enough from the edges."""
        reach = self.derivatives.reach(self.group.features.inputs)
        return tuple(slice(r, n - r) for r, n in zip(reach, self.data.shape, strict=False))

    @cached_property
    def first(self) -> int:
        """Return the first time that is far enough from the start."""
        return max(interior_reach(self.time, target.order) for target in self.group.targets)

    @property
    def n_times(self) -> int:
        """Return the number of times in use."""
        return len(self.data.times) - 2 * self.first

    def rows(self, ranges: list[tuple[int, int, int]]) -> Iterator[tuple[Array, Array]]:
        """Yield (theta, targets) for ranges (0, start, stop) of the times in use."""
        self._check()
        slab = max(SLAB_POINTS // max(int(np.prod(self.data.shape[:-1])), 1), 8)
        features = self.group.features
        for _, low, high in ranges:
            for start in range(low + self.first, high + self.first, slab):
                inputs, targets = self._slab(start, min(start + slab, high + self.first))
                for a in range(0, inputs.shape[1], BLOCK_ROWS):
                    part = slice(a, a + BLOCK_ROWS)
                    yield features.rows(list(inputs[:, part])).T, targets[:, part].T

    def _check(self) -> None:
        sizes = [part.stop - part.start for part in self.inner]
        if min(*sizes, self.n_times) < 1:
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
        orders = [target.order for target in self.group.targets]
        reach, n = halo(self.time, max(orders)), len(self.data.times)
        low, high = (0, n) if reach is None else (max(start - reach, 0), min(stop + reach, n))
        times = self.data.times[low:high]
        step = uniform_step(self.data.times)
        where: Array | float = times if step is None else step
        inside = slice(start - low, stop - low)
        values = {name: self.data[name][..., low:high] for name in self.data.names}
        targets = [
            derive(self.time, values[target.state][self.inner], where, target.order, axis=-1)[..., inside]
            for target in self.group.targets
        ]
        if self.smooth_states:
            states = {k: np.asarray(self.time.states(v, where, axis=-1))[..., inside] for k, v in values.items()}
        else:
            states = {k: v[..., inside] for k, v in values.items()}
        inputs = [self._input(variable, states, slice(start, stop)) for variable in self.group.features.inputs]
        flat = np.stack([array.reshape(-1) for array in inputs])
        goal = np.stack([array.reshape(-1) for array in targets])
        if not self.data.missing:
            return flat, goal
        known = np.isfinite(flat).all(axis=0) & np.isfinite(goal).all(axis=0)
        return flat[:, known], goal[:, known]

    def _input(self, variable: Variable, states: dict[str, Array], times: slice) -> Array:
        if variable.name in states:
            return self.derivatives.of(states[variable.name], variable)[self.inner]
        shape = next(iter(states.values()))[self.inner].shape
        i = self.data.dims.index(variable.name)
        points = self.data.coords[i][times if i == len(shape) - 1 else self.inner[i]]
        return np.broadcast_to(points.reshape([-1 if k == i else 1 for k in range(len(shape))]), shape)

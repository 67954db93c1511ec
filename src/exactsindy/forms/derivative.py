"""Derivatives as the forms need them: of trajectories in blocks, of fields along named axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.data import Target, Trajectory
from exactsindy.differentiation import FiniteDifference, SmoothedFiniteDifference, Spectral, uniform_step
from exactsindy.library import Variable


class Differentiation(Protocol):
    """A way of differentiating: `FiniteDifference`, `SmoothedFiniteDifference`, `PyNumDiff`, ..."""

    def __call__(self, x: ArrayLike, t: ArrayLike | float, *, axis: int = 0) -> Array:
        """Return the derivative of ``x`` along ``axis``."""

    def states(self, x: ArrayLike, t: ArrayLike | float, *, axis: int = 0) -> Array:
        """Return the states that belong to the derivative."""


def derive(method: Differentiation, x: Array, t: Array | float, order: int, axis: int = 0) -> Array:
    """Return the derivative of the given order: directly where the method can, else by repetition."""
    if order == 0:
        return x
    if hasattr(method, "d"):
        higher: Any = replace(method, d=order)  # type: ignore[type-var]
        return np.asarray(higher(x, t, axis=axis))
    return derive(method, method(x, t, axis=axis), t, order - 1, axis)


def halo(method: Differentiation, order: int) -> int | None:
    """Return how many samples beyond a block make its derivatives those of the whole, if it is local."""
    if isinstance(method, FiniteDifference):
        return method.order + order
    if isinstance(method, SmoothedFiniteDifference):
        return method.order + order + method.window
    return None


def interior_reach(method: Differentiation, order: int) -> int:
    """Return how far from an end the stencils are no longer central."""
    if isinstance(method, FiniteDifference):
        return FiniteDifference(method.order, order).half_width
    if isinstance(method, SmoothedFiniteDifference):
        return FiniteDifference(method.order, order).half_width + method.window // 2
    return 0


@dataclass(frozen=True)
class Slopes:
    """The left-hand sides of some equations along one trajectory, a block of samples at a time.

    Local methods on equal steps look at the block and its surroundings; others differentiate the whole once.
    """

    method: Differentiation
    member: Trajectory
    targets: Sequence[Target]
    _whole: dict[int, Array] = field(default_factory=dict, init=False, repr=False, compare=False)

    def between(self, start: int, stop: int) -> Array:
        """Return the targets (samples x equations)."""
        if self.member.derivatives is not None:
            return np.column_stack([self._measured(target)[start:stop] for target in self.targets])
        columns = {
            order: self._local(lambda x, t, k=order: derive(self.method, x, t, k), order, start, stop)
            for order in {target.order for target in self.targets}
        }
        places = [self.member.names.index(target.state) for target in self.targets]
        if len(columns) == 1 and places == list(range(len(self.member.names))):
            return columns[self.targets[0].order]
        return np.column_stack([columns[t.order][:, place] for t, place in zip(self.targets, places, strict=True)])

    def states(self, start: int, stop: int) -> Array:
        """Return the smoothed states."""
        return self._local(lambda x, t: self.method.states(x, t), 0, start, stop)

    @cached_property
    def _step(self) -> float | None:
        return uniform_step(self.member.times)

    def _local(self, apply: Callable[..., Array], order: int, start: int, stop: int) -> Array:
        reach = halo(self.method, max(order, 1))
        if reach is None or self._step is None:
            if order not in self._whole:
                self._whole[order] = apply(self.member.states, self.member.times)
            return self._whole[order][start:stop]
        low, high = max(start - reach, 0), stop + reach
        return apply(self.member.states[low:high], self._step)[start - low : stop - low]

    def _measured(self, target: Target) -> Array:
        slopes = self.member.derivatives
        assert slopes is not None
        column = slopes[:, [self.member.names.index(target.state)]]
        return derive(self.method, column, self.member.times, target.order - 1)[:, 0]


@dataclass(frozen=True)
class SpaceDerivatives:
    """Spatial derivatives of arrays whose leading axes are the space dimensions of a field.

    Finite differences of the order of ``method``, or Fourier transforms along the dimensions that are ``spectral``.
    """

    method: FiniteDifference
    axes: tuple[str, ...]
    coords: tuple[Array, ...]
    spectral: tuple[bool, ...]

    def of(self, values: Array, variable: Variable) -> Array:
        """Return the derivative of ``values`` that the axes of ``variable`` name."""
        for i, axis in enumerate(self.axes):
            order = variable.axes.count(axis)
            if order:
                rule = Spectral(order) if self.spectral[i] else FiniteDifference(self.method.order, order)
                where = uniform_step(self.coords[i])
                values = rule(values, self.coords[i] if where is None else where, axis=i)
        return values

    def reach(self, variables: Sequence[Variable]) -> tuple[int, ...]:
        """Return per dimension how many points next to its ends have no central stencil."""
        widths = []
        for axis, x, spectral in zip(self.axes, self.coords, self.spectral, strict=True):
            orders = set() if spectral else {variable.axes.count(axis) for variable in variables} - {0}
            irregular = uniform_step(x) is None  # there even derivatives take one more neighbour to keep their order
            reaches = [FiniteDifference(self.method.order, q).half_width + (irregular and q % 2 == 0) for q in orders]
            widths.append(max(reaches, default=0))
        return tuple(widths)

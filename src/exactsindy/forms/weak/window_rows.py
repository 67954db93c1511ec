"""Rows of the weak form: samples of trajectories and fields summed over windows with the weights of test functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.data import Field, Trajectory
from exactsindy.forms.base import EquationGroup, trajectory_inputs
from exactsindy.forms.weak.by_parts import IntegralPlan
from exactsindy.forms.weak.patch import Patches
from exactsindy.forms.weak.windows import AxisWindows
from exactsindy.library import Features, Variable

# Windows whose rows are computed together: enough for BLAS, few enough for their weights to stay in cache.
_BATCH = 64
# Points of a field evaluated together: the integrands of a library of a hundred terms stay in the second-level cache.
_SLAB_POINTS = 4096
# Kinds of windows whose weights are kept: windows that lie alike on the grid share them.
_SHARED = 16
# Multiplications from which on OpenBLAS starts threads. Thousands of small threaded products cost many
# times the work itself as soon as another program uses one of the cores.
_THREADED = 1 << 18


@dataclass(frozen=True)
class TrajectoryRows:
    """The weak rows of some equations along one trajectory; windows are sorted by their first sample."""

    member: Trajectory
    windows: AxisWindows
    group: EquationGroup

    def __len__(self) -> int:
        return len(self.windows)

    def rows(self, low: int, high: int) -> Iterator[tuple[Array, Array]]:
        """Yield (theta, targets) of the windows ``low`` to ``high``."""
        starts = self.windows.starts
        stops = starts + self.windows.lengths
        first = low
        while first < high:
            reach = starts[first] + 2 * int(self.windows.lengths[first])
            last = first + 1
            while last < min(high, first + _BATCH) and stops[last] <= reach:
                last += 1
            yield self._batch(first, last, int(starts[first]), int(stops[first:last].max()))
            first = last

    def _batch(self, first: int, last: int, start: int, stop: int) -> tuple[Array, Array]:
        states = self.member.states[start:stop]
        features = self.group.features
        columns = features.evaluate(trajectory_inputs(features, self.member, states, start, stop))
        windows = range(first, last)
        theta = product(self.weights(windows, start, stop, 0), columns)
        targets = np.empty((last - first, len(self.group.targets)))
        for order in {target.order for target in self.group.targets}:
            moments = (-1.0) ** order * product(self.weights(windows, start, stop, order), states)
            for j, target in enumerate(self.group.targets):
                if target.order == order:
                    targets[:, j] = moments[:, self.member.names.index(target.state)]
        return theta, targets

    def weights(self, windows: Sequence[int] | NDArray[np.intp], low: int, high: int, order: int) -> Array:
        """Return the weights of windows as rows over the samples ``low`` to ``high``."""
        table = np.zeros((len(windows), high - low))
        for row, k in zip(table, windows, strict=True):
            start, weights = int(self.windows.starts[k]), self.windows.weights(k)[order]
            first, last = max(start, low), min(start + len(weights), high)
            row[first - low : last - low] = weights[first - start : last - start]
        return table


@dataclass(frozen=True)
class FieldRows:
    """The weak rows of some equations of a field; ``windows`` has one entry per dimension, time last."""

    data: Field
    windows: tuple[AxisWindows, ...]
    group: EquationGroup
    plan: IntegralPlan
    accuracy: int
    _shared: dict[tuple[int, ...], Array] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.windows[0])

    @cached_property
    def features(self) -> Features:
        """Return functions, then slopes, as evaluable columns."""
        return Features(self.group.features.variables, (*self.plan.functions, *self.plan.slopes))

    @cached_property
    def patches(self) -> Patches:
        """Return the source of boxes."""
        return Patches(self.data, self.accuracy)

    def rows(self, low: int, high: int) -> Iterator[tuple[Array, Array]]:
        """Yield (theta, targets) of the windows ``low`` to ``high``."""
        for start in range(low, high, _BATCH):
            pairs = [self._window(k) for k in range(start, min(start + _BATCH, high))]
            integrals = np.stack([integral for integral, _ in pairs])
            yield integrals @ self.plan.mixing.T, np.stack([target for _, target in pairs])

    def _window(self, k: int) -> tuple[Array, Array]:
        """Return the integrals of a window, flat, and its targets."""
        go_on()
        starts = [int(axis.starts[k]) for axis in self.windows]
        lengths = [int(axis.lengths[k]) for axis in self.windows]
        inputs = [self.patches.get(v, starts, lengths) for v in self.features.inputs]
        count, columns = len(self.plan.functions), self.plan.columns
        integrals = np.zeros((count, len(columns)))
        plane = int(np.prod(lengths[1:]))
        planes = max(_SLAB_POINTS // plane, 1)
        weights = self._weights(k)
        for a in range(0, lengths[0] if columns else 0, planes):
            values = self.features.rows([array[a : a + planes] for array in inputs])
            part = slice(a * plane, (a + planes) * plane)
            weighted = np.empty((len(columns), values.shape[1]))
            for column, (slope, _) in enumerate(columns):
                np.multiply(weights[column, part], values[count + slope], out=weighted[column])
            integrals += product(values[:count], weighted.T)
        return integrals.reshape(-1), self._targets(k, inputs)

    def _weights(self, k: int) -> Array:
        """Return the weights of a window (columns x points); windows that lie alike share them."""
        key = tuple(int(axis.kernel[k]) for axis in self.windows)
        if key not in self._shared:
            if len(self._shared) >= _SHARED:
                self._shared.clear()
            self._shared[key] = np.array([self.test(k, (*orders, 0)).reshape(-1) for _, orders in self.plan.columns])
        return self._shared[key]

    def test(self, k: int, orders: Sequence[int], times: slice = slice(None)) -> Array:
        """Return the weights of a derivative of the test function in a window; ``orders`` has that in time last."""
        tables = [axis.weights(k)[order] for axis, order in zip(self.windows, orders, strict=True)]
        return np.asarray(reduce(np.multiply.outer, [*tables[:-1], tables[-1][times]]))

    def _targets(self, k: int, inputs: Sequence[Array]) -> Array:
        targets = []
        for target in self.group.targets:
            total = inputs[self.features.inputs.index(Variable(target.state))]
            order = target.order
            for axis in reversed(self.windows):
                total = np.ascontiguousarray(total) @ axis.weights(k)[order]
                order = 0
            targets.append((-1.0) ** target.order * float(total))
        return np.array(targets)


def product(left: Array, right: Array) -> Array:
    """Return left @ right for few rows and columns but many products, in pieces that BLAS does on one thread."""
    (m, k), n = left.shape, right.shape[1]
    step = max((_THREADED - 1) // max(m * n, 1), 1)
    if step >= k:
        return left @ right
    if step < 64:
        # Too many rows and columns for one piece: halve them.
        half = (m + 1) // 2
        if m >= n and m > 1:
            return np.vstack([product(left[:half], right), product(left[half:], right)])
        half = (n + 1) // 2
        return np.hstack([product(left, right[:, :half]), product(left, right[:, half:])])
    total = left[:, :step] @ right[:step]
    for a in range(step, k, step):
        total += left[:, a : a + step] @ right[a : a + step]
    return np.asarray(total)

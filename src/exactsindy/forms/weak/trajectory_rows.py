"""Weak rows of trajectories: windows in time, many at once as one matrix product."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Trajectory
from exactsindy.forms.base import EquationGroup, trajectory_inputs
from exactsindy.forms.weak.products import product
from exactsindy.forms.weak.windows import AxisWindows

# Windows of one product: enough for BLAS, few enough for their weights to stay in cache.
_BATCH = 64


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
        theta = product(self._weights(first, last, start, stop, 0), columns)
        targets = np.empty((last - first, len(self.group.targets)))
        for order in {target.order for target in self.group.targets}:
            moments = (-1.0) ** order * product(self._weights(first, last, start, stop, order), states)
            for j, target in enumerate(self.group.targets):
                if target.order == order:
                    targets[:, j] = moments[:, self.member.names.index(target.state)]
        return theta, targets

    def _weights(self, first: int, last: int, start: int, stop: int, order: int) -> Array:
        """Return the weights of windows as rows over the samples ``start`` to ``stop``."""
        table = np.zeros((last - first, stop - start))
        for i, k in enumerate(range(first, last)):
            offset = self.windows.starts[k] - start
            table[i, offset : offset + self.windows.lengths[k]] = self.windows.weights(k)[order]
        return table

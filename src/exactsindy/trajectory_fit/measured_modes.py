"""The low modes of a field in the units and the order in which orbits are fitted to them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Field
from exactsindy.forms import EquationGroup, SmoothedField, interval_weights
from exactsindy.trajectory_fit.modal_grid import ModalGrid
from exactsindy.trajectory_fit.protocols import Flow, Support

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class MeasuredModes:
    """The modes of a periodic field that hold signal, as states: real and imaginary parts, field after field.

    Waves are scaled so that white noise of the field is white noise of size 1 of every state. The modes beyond
    the cutoff are taken for zero.

    Parameters
    ----------
    data, smoothed
        The field, and its modes with a first guess of them.
    equations
        The equations with their libraries.
    """

    data: Field
    smoothed: SmoothedField
    equations: tuple[EquationGroup, ...]

    @cached_property
    def constant(self) -> NDArray[np.bool_]:
        """Return which of the modes in use is the mean: it has no imaginary part."""
        return np.asarray(self.smoothed.box.shells[self.smoothed.kept] == 0)

    @property
    def per_field(self) -> int:
        """Return the number of states of each field."""
        return 2 * len(self.constant) - int(self.constant.sum())

    @property
    def work(self) -> float:
        """Return the cost of a step: times x states^3."""
        return len(self.data.times) * float(self.per_field * len(self.data.names)) ** 3

    @property
    def numbers(self) -> int:
        """Return how many numbers the library has on the grid, slopes aside."""
        each = (len(grid.group.features.terms) * int(np.prod(grid.points)) for grid in self.grids)
        return len(self.data.times) * max(each)

    @cached_property
    def grids(self) -> tuple[ModalGrid, ...]:
        """Return the grid of every group of equations."""
        return tuple(ModalGrid(self, group) for group in self.equations)

    @cached_property
    def _size(self) -> Array:
        """Return by what modes are multiplied so that noise of size 1 has size 1 in all their parts."""
        return np.asarray(np.where(self.constant, 1.0, np.sqrt(2.0)) / np.sqrt(np.prod(self.smoothed.box.sizes)))

    @cached_property
    def samples(self) -> Array:
        """Return the measured modes (times x states)."""
        return self._states(self.smoothed.measured)

    @cached_property
    def guess(self) -> Array:
        """Return the smoothed modes."""
        return self._states(self.smoothed.values)

    @property
    def times(self) -> tuple[Array, ...]:
        """Return the times: one piece."""
        return (self.data.times,)

    @cached_property
    def weights(self) -> Array:
        """Return the weights of the integrals over intervals."""
        return interval_weights(self.data.times)

    @cached_property
    def fields(self) -> tuple[int, ...]:
        """Return the field whose rate each equation gives."""
        return tuple(self.data.names.index(t.state) for group in self.equations for t in group.targets)

    @cached_property
    def own(self) -> NDArray[np.int64]:
        """Return the modes that have an equation, in its order."""
        return np.concatenate([self.columns_of(i) for i in range(len(self.fields))])

    def columns_of(self, equation: int) -> NDArray[np.int64]:
        """Return the modes of the field whose rate an equation gives."""
        return self.fields[equation] * self.per_field + np.arange(self.per_field, dtype=np.int64)

    def flow(self, supports: tuple[Support, ...]) -> Flow:
        """Return the model with these terms in its equations."""
        from exactsindy.trajectory_fit.modal_flow import ModalFlow

        return ModalFlow(self, supports)

    def waves(self, factor: Complex, points: tuple[int, ...]) -> Array:
        """Return what states of one field are on a grid, as a matrix (points x states).

        Parameters
        ----------
        factor
            By what modes (box) are multiplied: 1, or (i k)^q for derivatives.
        points
            Grid points along each dimension.
        """
        box, kept = self.smoothed.box, self.smoothed.kept
        phase = np.zeros((int(np.prod(points)), len(self.constant)))
        mesh = np.meshgrid(*(np.arange(p) / p for p in points), indexing="ij")
        index = np.meshgrid(*box.indices, indexing="ij")
        for place, k in zip(mesh, index, strict=True):
            phase += 2 * np.pi * np.outer(place.ravel(), k[kept])
        wave = np.exp(1j * phase) * (self._size * factor[kept])
        return np.hstack([wave.real, -wave.imag[:, ~self.constant]])

    def _states(self, modes: Complex) -> Array:
        found = []
        for field, noise in zip(modes, self.smoothed.noise, strict=True):
            chosen = field[:, self.smoothed.kept] * (self._size / noise)
            found += [chosen.real, chosen.imag[:, ~self.constant]]
        return np.hstack(found)

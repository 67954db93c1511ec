"""The grid on which the library of a group of equations is evaluated from modes: the same for all models."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from exactsindy.forms import EquationGroup, ModalLibrary
from exactsindy.library import Program, Variable

if TYPE_CHECKING:
    from exactsindy.trajectory_fit.measured_modes import MeasuredModes

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ModalGrid:
    """Takes modes to the grid and back.

    Parameters
    ----------
    measured
        The modes.
    group
        The equations that share a library.
    """

    measured: MeasuredModes
    group: EquationGroup

    @cached_property
    def _library(self) -> ModalLibrary:
        return ModalLibrary(self.measured.data, self.measured.smoothed, self.group)

    @property
    def points(self) -> tuple[int, ...]:
        """Return the grid points along each dimension."""
        return self._library.points

    @cached_property
    def waves(self) -> dict[Variable, Array]:
        """Return the matrix (points x modes of its field) of each input that is a field or a derivative."""
        m, noise = self.measured, self.measured.smoothed.noise
        return {
            v: m.waves(factor, self.points) * noise[m.data.names.index(v.name)]
            for v, factor in self._library.factors.items()
        }

    @cached_property
    def onto(self) -> Array:
        """Return the projection of a field on the grid to modes (points x modes), before units of the noise."""
        box = self.measured.smoothed.box
        one = np.ones([len(index) for index in box.indices], dtype=complex)
        return self.measured.waves(one, self.points) * (np.prod(box.sizes) / np.prod(self.points))

    @cached_property
    def _fixed(self) -> Array:
        """Return the inputs on the grid at the first guess: those that are time or place never change."""
        return self._library.inputs(slice(0, len(self.measured.data.times)))

    def columns(self, variable: Variable) -> slice:
        """Return the states of the field that a variable is, or is a derivative of."""
        s, f = self.measured.per_field, self.measured.data.names.index(variable.name)
        return slice(f * s, (f + 1) * s)

    def noise(self, j: int) -> float:
        """Return the noise of the field whose rate equation j of the group gives."""
        m = self.measured
        return float(m.smoothed.noise[m.data.names.index(self.group.targets[j].state)])

    def table(self, program: Program, states: Array) -> Array:
        """Return the outputs of a program on the grid (outputs x times x points)."""
        inputs = [
            (states[:, self.columns(v)] @ self.waves[v].T).ravel() if v in self.waves else self._fixed[i]
            for i, v in enumerate(self.group.features.inputs)
        ]
        n, points = len(states), len(self.onto)
        table = np.empty((len(program.outputs), n * points))
        if len(table):
            program.run(inputs, table)
        return table.reshape(len(table), n, points)

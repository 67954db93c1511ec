"""Modes of a field as states, and the grid on which a library is evaluated from them: the same for all models."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.data import Field
from exactsindy.forms import EquationGroup, ModalLibrary, SmoothedField
from exactsindy.library import Program, Variable

Complex = NDArray[np.complex128]


def states_per_field(smoothed: SmoothedField) -> int:
    """Return the number of states of each field: real and imaginary parts of its modes; the mean is real."""
    return 2 * len(smoothed.constant) - int(smoothed.constant.sum())


def wave_matrix(smoothed: SmoothedField, factor: Complex, points: tuple[int, ...]) -> Array:
    """Return what the states of one field are on a grid of ``points``, as a matrix (points x states).

    Modes (box) are multiplied by ``factor``: 1, or (i k)^q for derivatives.
    """
    phase = np.zeros((int(np.prod(points)), len(smoothed.constant)))
    mesh = np.meshgrid(*(np.arange(p) / p for p in points), indexing="ij")
    index = np.meshgrid(*smoothed.box.indices, indexing="ij")
    for place, k in zip(mesh, index, strict=True):
        phase += 2 * np.pi * np.outer(place.ravel(), k[smoothed.kept])
    wave = np.exp(1j * phase) * (smoothed.scale * factor[smoothed.kept])
    return np.hstack([wave.real, -wave.imag[:, ~smoothed.constant]])


@dataclass(frozen=True, eq=False)
class ModalGrid:
    """The matrices that take the modes of a field to a grid and back, for equations that share a library."""

    data: Field
    smoothed: SmoothedField
    group: EquationGroup

    @cached_property
    def _library(self) -> ModalLibrary:
        return ModalLibrary(self.data, self.smoothed, self.group)

    @property
    def points(self) -> tuple[int, ...]:
        """Return the grid points along each dimension."""
        return self._library.points

    @cached_property
    def waves(self) -> dict[Variable, Array]:
        """Return the matrix (points x modes of its field) of each input that is a field or a derivative."""
        return {
            v: wave_matrix(self.smoothed, factor, self.points) * self.smoothed.noise[self.data.names.index(v.name)]
            for v, factor in self._library.factors.items()
        }

    @cached_property
    def onto(self) -> Array:
        """Return the projection of a field on the grid to modes (points x modes), before units of the noise."""
        box = self.smoothed.box
        one = np.ones([len(index) for index in box.indices], dtype=complex)
        return wave_matrix(self.smoothed, one, self.points) * (np.prod(box.sizes) / np.prod(self.points))

    @cached_property
    def _fixed(self) -> Array:
        """Return the inputs on the grid at the first guess: those that are time or place never change."""
        return self._library.inputs(slice(0, len(self.data.times)))

    def columns(self, variable: Variable) -> slice:
        """Return the states of the field that a variable is, or is a derivative of."""
        s, f = states_per_field(self.smoothed), self.data.names.index(variable.name)
        return slice(f * s, (f + 1) * s)

    def noise(self, j: int) -> float:
        """Return the noise of the field whose rate equation j of the group gives."""
        return float(self.smoothed.noise[self.data.names.index(self.group.targets[j].state)])

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

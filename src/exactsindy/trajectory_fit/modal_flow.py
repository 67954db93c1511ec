"""A model of a field as the equations of its modes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from exactsindy.forms import integrate_intervals
from exactsindy.library import Variable
from exactsindy.trajectory_fit.block_banded import profile_states
from exactsindy.trajectory_fit.compiled_terms import ChosenTerms
from exactsindy.trajectory_fit.measured import by_group, defects
from exactsindy.trajectory_fit.measured_modes import MeasuredModes
from exactsindy.trajectory_fit.modal_grid import ModalGrid
from exactsindy.trajectory_fit.protocols import GaussNewtonStep, Support

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ModalFlow:
    """Right-hand sides on a grid, projected on the modes in use (Galerkin); modes of a field share coefficients.

    Parameters
    ----------
    measured
        The modes.
    supports
        Per equation the columns of its terms.
    """

    measured: MeasuredModes
    supports: tuple[Support, ...]

    @cached_property
    def _parts(self) -> tuple[_Part, ...]:
        parts = zip(self.measured.grids, by_group(self.measured, self.supports), strict=True)
        return tuple(_Part(grid, supports, mine) for grid, (_, supports, mine) in parts)

    def rates(self, states: Array, coef: Sequence[Array]) -> Array:
        """Return the right-hand sides (times x modes that have an equation), in units of the noise."""
        return np.hstack([part.rates(states, coef[part.mine]) for part in self._parts])

    def step(self, states: Array, coef: Sequence[Array], precision: float, damping: float) -> GaussNewtonStep | None:
        """Return the change that minimises the linearised misfit; None where the model overflows."""
        m = self.measured
        with np.errstate(all="ignore"):
            found = [part.linear(states, coef[part.mine]) for part in self._parts]
            rates = np.hstack([r for r, _, _ in found])
            slopes = np.concatenate([s for _, _, s in found], axis=1)
            terms = [theta for _, columns, _ in found for theta in columns]
            defect = defects(m, states, rates)
        if not all(np.isfinite(part).all() for part in (defect, slopes, *terms)):
            return None
        integrals = np.zeros((len(states) - 1, len(m.own), sum(map(len, coef))))
        row = column = 0
        for theta in terms:
            rows, columns = slice(row, row + theta.shape[1]), slice(column, column + theta.shape[2])
            integrals[:, rows, columns] = integrate_intervals(m.weights, theta)
            row, column = rows.stop, columns.stop
        return profile_states(m.samples - states, defect, m.weights, slopes, integrals, m.own, precision, damping)


@dataclass(frozen=True, eq=False)
class _Part:
    """The equations of one group."""

    grid: ModalGrid
    supports: tuple[Support, ...]
    mine: slice

    @cached_property
    def _chosen(self) -> ChosenTerms:
        return ChosenTerms(self.grid.group.features, self.supports, tuple(self.grid.waves))

    def rates(self, states: Array, coef: Sequence[Array]) -> Array:
        """Return the right-hand sides (times x modes of all equations)."""
        table = self.grid.table(self._chosen.values, states)
        found = [
            np.tensordot(xi, table[rows], 1) @ self.grid.onto / self.grid.noise(j)
            for j, (xi, rows) in enumerate(zip(coef, self._chosen.rows, strict=True))
        ]
        return np.hstack(found)

    def linear(self, states: Array, coef: Sequence[Array]) -> tuple[Array, list[Array], Array]:
        """Return the right-hand sides, the terms of each equation (times x modes x terms), and the slopes.

        Slopes are (times x modes of all equations x states).
        """
        table = self.grid.table(self._chosen.values, states)
        terms = [
            np.ascontiguousarray((table[rows] @ self.grid.onto / self.grid.noise(j)).transpose(1, 2, 0))
            for j, rows in enumerate(self._chosen.rows)
        ]
        rates = np.hstack([theta @ xi for theta, xi in zip(terms, coef, strict=True)])
        beyond = self.grid.table(self._chosen.slopes, states)
        local: dict[tuple[int, Variable], Array] = {}
        for s in self._chosen.summands:
            key = s.equation, self._chosen.variables[s.variable]
            local[key] = local.get(key, 0.0) + (coef[s.equation][s.term] * s.factor) * beyond[s.output]
        size = self.grid.measured.per_field
        slopes = np.zeros((len(states), len(self.supports) * size, states.shape[1]))
        for (j, variable), values in local.items():
            onto = self.grid.onto.T / self.grid.noise(j)
            block = np.matmul(onto, values[:, :, None] * self.grid.waves[variable])
            slopes[:, j * size : (j + 1) * size, self.grid.columns(variable)] += block
        return rates, terms, slopes

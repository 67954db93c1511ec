"""Samples of a discrete map in units of their noise, and models of given terms as the equations of their states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.data import Target, Trajectories
from exactsindy.forms import EquationGroup
from exactsindy.trajectory_fit.dynamics import Dynamics
from exactsindy.trajectory_fit.map_step import profile_map
from exactsindy.trajectory_fit.protocols import Flow, GaussNewtonStep, Support, by_group, free_columns


@dataclass(frozen=True, eq=False)
class MeasuredMap:
    """Samples of a map, piece after piece, in units of the noise of each state, and their equations.

    ``data`` are the pieces as `MapForm.steps` makes them, ``equations`` those over the variables of ``lags`` earlier
    samples, ``noise`` the standard deviation of each state, and ``floor`` that below which it is rounding.
    """

    data: Trajectories
    equations: tuple[EquationGroup, ...]
    noise: Array
    floor: Array
    lags: int = 0

    @cached_property
    def samples(self) -> Array:
        """Return the measured states (samples x states)."""
        return np.vstack([member.states for member in self.data]) / self.noise

    @property
    def observed(self) -> NDArray[np.bool_]:
        """Return which states have samples: all."""
        return np.ones(len(self.noise), dtype=bool)

    @property
    def guess(self) -> Array:
        """Return the measured states: samples of a map cannot be smoothed."""
        return self.samples

    @property
    def times(self) -> tuple[Array, ...]:
        """Return the times of every piece."""
        return tuple(member.times for member in self.data)

    @cached_property
    def weights(self) -> Array:
        """Return 1 for the sample at which a step begins; rows without a step are 0."""
        weights = np.zeros((len(self.samples) - 1, 4))
        weights[self.starts, 1] = 1.0
        return weights

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Return the samples at which steps begin: those with ``lags`` samples before and one after them."""
        first = np.cumsum([0, *map(len, self.data)])
        return np.concatenate([np.arange(a + self.lags, b - 1) for a, b in pairwise(first)])

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """Return what the equations give, in their order."""
        return tuple(target for group in self.equations for target in group.targets)

    @cached_property
    def own(self) -> NDArray[np.int64]:
        """Return the state that each equation is for."""
        return np.array([self.data.state_names.index(target.state) for target in self.targets], dtype=np.int64)

    def columns_of(self, equation: int) -> NDArray[np.int64]:
        """Return the state that an equation is for."""
        return self.own[[equation]]

    def flow(self, supports: tuple[Support, ...]) -> Flow:
        """Return the model with these terms in its equations."""
        return MapFlow(self, supports)

    def with_noise_of(self, states: Array) -> MeasuredMap:
        """Return the samples in units of what fitted states leave of them, but at least the floor."""
        left = np.sqrt(np.mean((self.samples - states) ** 2, axis=0)) * self.noise
        return replace(self, noise=np.maximum(left, self.floor))

    @cached_property
    def constants(self) -> Array:
        """Return the parameters at the steps (steps x parameters)."""
        rows = [np.tile(np.array([*member.parameters.values()]), (len(member), 1)) for member in self.data]
        return np.vstack(rows)[self.starts]

    @cached_property
    def inputs(self) -> Array:
        """Return the controls at the steps, and earlier controls by lag (lags + 1 x steps x controls)."""
        controls = np.vstack([member.controls for member in self.data])
        return np.stack([controls[self.starts - lag] for lag in range(self.lags + 1)])


@dataclass(frozen=True, eq=False)
class MapFlow:
    """One equation per state, from each sample to the next; the map is never iterated."""

    measured: MeasuredMap
    supports: tuple[Support, ...]

    @cached_property
    def _parts(self) -> tuple[tuple[Dynamics, slice], ...]:
        """Return the equations of every group, and which they are."""
        names = self.measured.data.state_names
        by = (*names, *(f"{name}[k-{lag}]" for lag in range(1, self.measured.lags + 1) for name in names))
        parts = by_group(self.measured, self.supports)
        return tuple((Dynamics(group, supports, by), equations) for group, supports, equations in parts)

    @cached_property
    def _times(self) -> Array:
        return np.concatenate(self.measured.times)[self.measured.starts]

    @cached_property
    def _kept(self) -> Array:
        """Return 1 for equations of the change of a state, to which the state itself is added; 0 for others."""
        return np.array([target.step == "change" for target in self.measured.targets], dtype=float)

    def _inputs(self, states: Array) -> list[Array]:
        """Return the inputs of the library at all steps: states, controls, both at earlier samples, constants, time."""
        m = self.measured
        physical = states * m.noise
        columns: list[Array] = []
        for lag in range(m.lags + 1):
            columns += [*physical[m.starts - lag].T, *m.inputs[lag].T]
        return [*columns, *m.constants.T, self._times]

    def defects(self, states: Array, coef: Sequence[Array]) -> Array:
        """Return what states leave of their equations (intervals x equations), in units of the noise."""
        m, inputs = self.measured, self._inputs(states)
        values = [part.rates(inputs[: len(part.group.features.inputs)], coef[which]) for part, which in self._parts]
        defect = np.zeros((len(states) - 1, len(m.own)))
        defect[m.starts] = self._left(states, np.vstack(values).T)
        return defect

    def _left(self, states: Array, values: Array) -> Array:
        """Return the next states less what the equations give (steps x equations), in units of the noise."""
        m = self.measured
        later = states[m.starts + 1][:, m.own] - self._kept * states[m.starts][:, m.own]
        return np.asarray(later - values / m.noise[m.own])

    def errors(self, states: Array, coef: Sequence[Array]) -> Array:
        """Return zeros: nothing is integrated."""
        return np.zeros((len(states) - 1, len(self.measured.own)))

    def refined(self, states: Array, coef: Sequence[Array]) -> MapFlow:
        """Return the model itself: nothing is integrated."""
        return self

    def step(
        self, states: Array, coef: Sequence[Array], precision: float, damping: float, held: frozenset[int] = frozenset()
    ) -> GaussNewtonStep | None:
        """Return the change that minimises the linearised misfit; None where the model overflows."""
        m, d = self.measured, states.shape[1]
        free, _ = free_columns(coef, held)
        with np.errstate(all="ignore"):
            defect, columns, slopes = self._linear(states, coef)
        if not all(np.isfinite(part).all() for part in (defect, columns, slopes)):
            return None
        # What a change of the samples k - lags, ..., k, k + 1 does to the defect of step k.
        reach = np.zeros((len(m.starts), len(m.own), m.lags + 2, d))
        reach[:, :, :-1] = -slopes.reshape(len(m.starts), len(m.own), m.lags + 1, d)[:, :, ::-1]
        every = np.arange(len(m.own))
        reach[:, every, -1, m.own] += 1.0
        reach[:, every, -2, m.own] -= self._kept
        result = profile_map(m.samples - states, defect, reach, m.starts, columns[:, :, free], precision, damping)
        return None if result is None else result.spread(free, columns.shape[2])

    def _linear(self, states: Array, coef: Sequence[Array]) -> tuple[Array, Array, Array]:
        """Return defects (steps x equations), terms (x coefficients) and slopes (x states at all lags)."""
        m, inputs = self.measured, self._inputs(states)
        values, slopes = [], []
        terms: list[Array] = []
        for part, which in self._parts:
            value, own_terms, slope = part.linear(inputs[: len(part.group.features.inputs)], coef[which])
            values.append(value)
            slopes.append(slope)
            terms += own_terms
        own_noise = m.noise[m.own]
        columns = np.zeros((len(m.starts), len(m.own), sum(map(len, terms))))
        at = 0
        for e, theta in enumerate(terms):
            columns[:, e, at : at + len(theta)] = theta.T / own_noise[e]
            at += len(theta)
        scaled = np.concatenate(slopes).transpose(2, 0, 1) * np.tile(m.noise, m.lags + 1) / own_noise[:, None]
        return self._left(states, np.vstack(values).T), columns, scaled

"""What a trajectory fit asks of samples and of a model, and what follows from the samples alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.forms import EquationGroup, integrate_intervals
from exactsindy.library import Features

# The columns of the terms of one equation.
Support = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class GaussNewtonStep:
    """A Gauss-Newton step, and the least misfit as a function of changed coefficients dp.

    It is ``constant - 2 slope' dp + dp' curvature dp``. Unless ``moves``, terms are dependent and changes undefined.
    """

    states: Array
    coef: Array
    curvature: Array
    slope: Array
    moves: bool

    def spread(self, free: NDArray[np.intp], count: int) -> GaussNewtonStep:
        """Return the step with zeros for the coefficients, ``count`` in all, that are not among the ``free`` ones."""
        if len(free) == count:
            return self
        coef, slope, curvature = np.zeros(count), np.zeros(count), np.zeros((count, count))
        coef[free], slope[free], curvature[np.ix_(free, free)] = self.coef, self.slope, self.curvature
        return replace(self, coef=coef, slope=slope, curvature=curvature)

    def first(self, count: int) -> GaussNewtonStep:
        """Return the step of the first ``count`` coefficients alone; the others are held."""
        within = slice(count)
        return replace(self, coef=self.coef[within], slope=self.slope[within], curvature=self.curvature[within, within])


class Flow(Protocol):
    """A model of given terms as the equations of states in units of their noise."""

    def defects(self, states: Array, coef: Sequence[Array]) -> Array:
        """Return what states leave of their equations (intervals x states that have an equation)."""

    def errors(self, states: Array, coef: Sequence[Array]) -> Array:
        """Return how much integrals over intervals err (intervals x states that have an equation)."""

    def refined(self, states: Array, coef: Sequence[Array]) -> Flow:
        """Return the model integrated as accurately as these states and coefficients ask for."""

    def step(
        self, states: Array, coef: Sequence[Array], precision: float, damping: float, held: frozenset[int] = frozenset()
    ) -> GaussNewtonStep | None:
        """Return the change of least linearised misfit, None on overflow; ``precision`` is one over tolerance^2.

        Coefficients of the equations ``held`` stay; curvature and slope are those of the others.
        """


class RateModel(Protocol):
    """The right-hand sides of a group of equations; points are the last axis of all arrays."""

    @property
    def group(self) -> EquationGroup:
        """Return the equations."""

    def rates(self, inputs: Sequence[Array], coef: Sequence[Array]) -> Array:
        """Return the right-hand sides (equations x points)."""

    def linear(self, inputs: Sequence[Array], coef: Sequence[Array]) -> tuple[Array, list[Array], Array]:
        """Return right-hand sides, slopes by coefficients for each equation, slopes by states."""


class Measured(Protocol):
    """Samples of states in units of their noise, piece after piece, and the equations that some states obey."""

    @property
    def equations(self) -> tuple[EquationGroup, ...]:
        """Return the equations with their libraries."""

    @property
    def samples(self) -> Array:
        """Return the measured states (samples x states)."""

    @property
    def guess(self) -> Array:
        """Return the smoothed states."""

    @property
    def times(self) -> tuple[Array, ...]:
        """Return the times of every piece."""

    @property
    def weights(self) -> Array:
        """Return the weights of the integrals over intervals; rows between two pieces are 0."""

    @property
    def own(self) -> NDArray[np.int64]:
        """Return the states that have an equation, in its order."""

    @property
    def observed(self) -> NDArray[np.bool_]:
        """Return which states have samples (states,); the velocity of a measured position has none."""

    def columns_of(self, equation: int) -> NDArray[np.int64]:
        """Return the measured states that an equation of `equations` is for: one, or all modes of a field."""

    def flow(self, supports: tuple[Support, ...]) -> Flow:
        """Return the model with these terms in its equations."""


def within(measured: Measured) -> NDArray[np.bool_]:
    """Return which intervals lie within a piece (intervals,)."""
    return np.asarray(measured.weights.any(axis=1))


def row_count(measured: Measured) -> int:
    """Return the number of rows: intervals times states that have an equation."""
    return int(within(measured).sum()) * len(measured.own)


def target_names(measured: Measured) -> tuple[str, ...]:
    """Return the names of the equations."""
    return tuple(target.name for group in measured.equations for target in group.targets)


def features_of(measured: Measured, equation: int) -> Features:
    """Return the library of an equation."""
    return [group.features for group in measured.equations for _ in group.targets][equation]


def by_piece(measured: Measured, rows: Array) -> list[Array]:
    """Return rows, one per sample, piece by piece."""
    return np.split(rows, np.cumsum([len(times) for times in measured.times])[:-1])


def residuals(measured: Measured, states: Array) -> Array:
    """Return what states leave of the samples (samples x states that have samples)."""
    left = measured.samples - states
    return left if measured.observed.all() else np.asarray(left[:, measured.observed])


def defects(measured: Measured, states: Array, rates: Array) -> Array:
    """Return the residuals of the equations of states, from their rates (intervals x equations of states)."""
    change = np.diff(states[:, measured.own], axis=0) - integrate_intervals(measured.weights, rates)
    change[~within(measured)] = 0.0
    return np.asarray(change)


def quadrature_errors(measured: Measured, rates: Array) -> Array:
    """Return how much integrals by local cubics err, from the rates at samples (intervals x equations of states).

    The cubic through four samples errs by 11/720 of the step times the fourth difference of the rates.
    """
    return np.vstack(
        [
            11 / 720 * np.diff(times)[: max(len(times) - 4, 0), None] * np.diff(part, 4, axis=0)
            for times, part in zip(measured.times, by_piece(measured, rates), strict=True)
        ]
    )


def by_group(
    measured: Measured, supports: tuple[Support, ...]
) -> Iterator[tuple[EquationGroup, tuple[Support, ...], slice]]:
    """Yield the groups of equations that share a library, the supports of their equations, and which those are."""
    at = 0
    for group in measured.equations:
        equations = slice(at, at + len(group.targets))
        yield group, supports[equations], equations
        at = equations.stop


def free_columns(coef: Sequence[Array], held: frozenset[int]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return the coefficients of the equations that are not held, and where those of each equation begin."""
    first = offsets([tuple(range(len(part))) for part in coef])
    free = [np.arange(first[i], first[i + 1]) for i in range(len(coef)) if i not in held]
    counts = [tuple(range(0 if i in held else len(part))) for i, part in enumerate(coef)]
    return np.concatenate([np.zeros(0, dtype=np.intp), *free]).astype(np.intp), offsets(counts)


def offsets(supports: Sequence[Support]) -> NDArray[np.int64]:
    """Return where the coefficients of each equation begin, and the end."""
    return np.concatenate([[0], np.cumsum([len(s) for s in supports])]).astype(np.int64)

"""The likelihood of all right-hand sides of one equation near a trajectory fit, as functions on the fitted curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from exactsindy._types import Array
from exactsindy.forms import EquationGroup
from exactsindy.trajectory_fit.fit import SCHEDULE, TrajectoryFit, TrajectoryModel
from exactsindy.trajectory_fit.measured_trajectories import MeasuredTrajectories
from exactsindy.trajectory_fit.protocols import RateModel, Support, row_count

# Relative rounding error of the curvature, added to its diagonal, as in tangent problems.
_ROUNDING = 1e-10


@dataclass(frozen=True, eq=False)
class CurveLikelihood:
    """The misfit of a right-hand side f(t) on the curve of a trajectory fit: |aim - factor basis' f|^2 + rest.

    Initial states and the coefficients of the other equations are already minimised over; the trajectory is linearised.
    No column of ``basis`` (samples x functions, orthonormal) holds a noisy derivative, and the rows are independent.
    ``rows`` counts the rows that the misfit is a sum of.
    """

    basis: Array
    factor: Array
    aim: Array
    rest: float
    rows: int

    @classmethod
    def of(
        cls,
        measured: MeasuredTrajectories,
        supports: tuple[Support, ...],
        fit: TrajectoryFit,
        equation: int,
        rate: Array,
        basis: Array,
    ) -> CurveLikelihood | None:
        """Return the likelihood of sums of orthonormal functions in place of the right-hand side of the fit, ``rate``.

        None if they are dependent beyond rounding.
        """
        from scipy.linalg import cholesky, solve_triangular  # loaded when needed: it takes as much memory as numpy

        group = [group for group in measured.equations for _ in group.targets][equation]
        known = measured.rate_models

        def models(of: EquationGroup, own: tuple[Support, ...]) -> RateModel:
            if of is not group:
                return known(of, own)
            return _OnTheCurve(known(of, (supports[equation],)), fit.coef[equation], basis)

        count = basis.shape[1]
        every = (*supports[:equation], tuple(range(count)), *supports[equation + 1 :])
        current = basis.T @ rate
        coef = np.concatenate([current if i == equation else xi for i, xi in enumerate(fit.coef)])
        model = TrajectoryModel(replace(measured, rate_models=models), every)
        step = model.step(fit.states, coef, SCHEDULE[-1])
        if step is None:
            return None
        own = np.arange(model.first[equation], model.first[equation + 1])
        others = np.setdiff1d(np.arange(len(coef)), own)
        try:
            profiled = np.linalg.solve(
                step.curvature[np.ix_(others, others)],
                np.column_stack([step.curvature[np.ix_(others, own)], step.slope[others]]),
            )
            across = step.curvature[np.ix_(own, others)] @ profiled
            gram = step.curvature[np.ix_(own, own)] - across[:, :-1]
            slope = step.slope[own] - across[:, -1]
            gram = (gram + gram.T) / 2 + np.diag(_ROUNDING * np.diag(step.curvature)[own])
            factor = cholesky(gram)
        except np.linalg.LinAlgError:
            return None
        constant = fit.misfit - float(step.slope[others] @ profiled[:, -1])
        aim = solve_triangular(factor, slope + gram @ current, trans="T")
        rest = constant + float(current @ (2 * slope + gram @ current)) - float(aim @ aim)
        return cls(basis, factor, aim, max(rest, 0.0), row_count(measured))

    def on_rows(self, functions: Array) -> Array:
        """Return functions on the curve (samples x functions) as columns of the regression, the last row being 0."""
        columns = self.factor @ (self.basis.T @ functions)
        return np.vstack([columns, np.zeros((1, columns.shape[1]))])

    @property
    def target(self) -> Array:
        """Return the target of the regression; its last row is what no right-hand side explains."""
        return np.append(self.aim, np.sqrt(self.rest))


@dataclass(frozen=True, eq=False)
class _OnTheCurve:
    """A right-hand side whose columns are given functions on the curve, with the slopes of the fitted one."""

    fitted: RateModel
    coef: Array
    basis: Array

    @property
    def group(self) -> EquationGroup:
        return self.fitted.group

    def rates(self, inputs: Sequence[Array], coef: Sequence[Array]) -> Array:
        return self.fitted.rates(inputs, [self.coef])

    def linear(self, inputs: Sequence[Array], coef: Sequence[Array]) -> tuple[Array, list[Array], Array]:
        rate, _, slopes = self.fitted.linear(inputs, [self.coef])
        return rate, [self.basis.T], slopes

"""Inner constants by the likelihood of whole trajectories: Gauss-Newton steps at trajectory fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from exactsindy._limits import go_on, passed
from exactsindy._types import Array
from exactsindy.data import Trajectories
from exactsindy.discovery.gauss_newton import ConstantFit
from exactsindy.errors import ExactSindyError
from exactsindy.forms import Smoothed, groups
from exactsindy.library import Expression, PerEquation, Term, Terms
from exactsindy.trajectory_fit import (
    MeasuredTrajectories,
    TrajectoryFit,
    TrajectoryModel,
    features_of,
    row_count,
    tangent_problem,
    target_names,
)

# Steps at most: rows start them close to the best constants.
_STEPS = 4
# Misfit per row beyond which trajectories say nothing about constants: the terms are not those of the law.
_POOR = 2.0
# A change below this share of the standard error of a constant is the last.
_SMALL = 0.05


@dataclass(frozen=True, eq=False)
class OnTrajectories:
    """Fits of all equations, the misfit of their trajectories (infinite if there is none), and its rows."""

    fits: Mapping[str, ConstantFit]
    misfit: float
    rows: int

    @property
    def criterion(self) -> float:
        """The BIC: misfit in units of the noise, and log(rows) for every coefficient and inner constant."""
        count = sum(len(fit.terms) + len(fit.values) for fit in self.fits.values())
        return self.misfit + count * float(np.log(max(self.rows, 2)))


def refined_on_trajectories(
    data: Trajectories, smoothed: Smoothed, fits: Mapping[str, ConstantFit], deadline: float
) -> OnTrajectories:
    """Return the fits with constants and errors of the greatest likelihood of trajectories; as they are if that fails.

    Rows on smoothed states have errors of their own that shift constants by more than the noise does; terms that make
    up for the shift would be taken for terms of the law.
    """
    current, best = dict(fits), dict(fits)
    least, rows = np.inf, 0
    for _ in range(_STEPS):
        go_on()
        if passed(deadline):
            break
        at = _TrajectoryState.of(data, smoothed, current, deadline)
        if at is None or at.fit.misfit > min(least, _POOR * row_count(at.measured)):
            break
        least, best, rows = at.fit.misfit, current, row_count(at.measured)
        moved = {name: at.stepped(i, fit) for i, (name, fit) in enumerate(current.items())}
        settled = all(_is_settled(current[name], fit) for name, fit in moved.items())
        best = {name: replace(current[name], covariance=fit.covariance) for name, fit in moved.items()}
        if settled:
            break
        current = moved
    return OnTrajectories(best, least, rows)


def _is_settled(before: ConstantFit, after: ConstantFit) -> bool:
    errors = after.standard_errors
    return all(abs(after.values[name] - before.values[name]) <= _SMALL * errors[name] for name in before.values)


@dataclass(frozen=True, eq=False)
class _TrajectoryState:
    """The trajectory fit of the equations at given constants, in a library with the slopes by these constants."""

    measured: MeasuredTrajectories
    supports: tuple[tuple[int, ...], ...]
    fit: TrajectoryFit

    @classmethod
    def of(
        cls, data: Trajectories, smoothed: Smoothed, fits: Mapping[str, ConstantFit], deadline: float
    ) -> _TrajectoryState | None:
        try:
            library = PerEquation({name: Terms(_with_slopes(fit)) for name, fit in fits.items()})
            measured = MeasuredTrajectories(smoothed, groups(data, library))
            names = target_names(measured)
            terms = [features_of(measured, i).terms for i in range(len(names))]
            supports = tuple(
                tuple(own.index(term) for term in fits[name].concrete) for name, own in zip(names, terms, strict=True)
            )
            coef = [np.asarray(fits[name].coefficients, dtype=float) for name in names]
            fit = TrajectoryModel(measured, supports).fit(coef, deadline=deadline)
        except (ExactSindyError, ArithmeticError, ValueError, np.linalg.LinAlgError):
            return None
        return cls(measured, supports, fit) if np.isfinite(fit.misfit) else None

    def stepped(self, i: int, fit: ConstantFit) -> ConstantFit:
        """Return the constants after a Gauss-Newton step of one equation, and their covariance; unchanged if none."""
        coefficients = np.asarray(self.fit.coef[i])
        if not fit.values:
            return replace(fit, coefficients=coefficients)
        problem = tangent_problem(self.measured, self.supports, self.fit, i)
        if problem is None:
            return replace(fit, coefficients=coefficients)
        block, j = problem.locate(0)
        factor, (target, _) = block.theta_factor, block.target(j)
        place: dict[object, int] = {term: column for column, term in enumerate(block.terms)}
        terms = factor[:, [place[term] for term in fit.concrete]]
        slopes = np.zeros((len(factor), len(fit.values)))
        for column, name in enumerate(fit.values):
            for coefficient, term in zip(coefficients, fit.terms, strict=True):
                if name in term.constants:
                    slopes[:, column] += coefficient * _column(term.slope(name, fit.values), factor, place)
        columns = np.hstack([terms, slopes])
        scale = np.linalg.norm(columns, axis=0)
        scale[scale == 0] = 1.0
        change = np.linalg.lstsq(columns / scale, target - terms @ coefficients, rcond=None)[0] / scale
        inverse = np.linalg.pinv((columns / scale).T @ (columns / scale))
        covariance = self.fit.misfit / row_count(self.measured) * inverse / np.outer(scale, scale)
        values = {
            name: fit.values[name] + float(d) for name, d in zip(fit.values, change[len(fit.terms) :], strict=True)
        }
        return replace(fit, values=values, coefficients=coefficients, covariance=covariance)


def _with_slopes(fit: ConstantFit) -> tuple[Term, ...]:
    """Return the terms of a fit, and all that stand in their derivatives by its constants."""
    found = dict.fromkeys(fit.concrete)
    for term in fit.terms:
        for name in term.constants:
            found |= dict.fromkeys(part for _, part in term.slope(name, fit.values).parts)
    return tuple(found)


def _column(slope: Expression, factor: Array, place: Mapping[object, int]) -> Array:
    total = np.zeros(len(factor))
    for coefficient, term in slope.parts:
        total += coefficient * factor[:, place[term]]
    return total

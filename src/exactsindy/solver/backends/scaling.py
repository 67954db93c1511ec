"""Units in which solvers with absolute tolerances can work, and the refit of their answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from exactsindy._types import Array
from exactsindy.constraints import Stacked
from exactsindy.errors import MissingDependency, SolverError
from exactsindy.solver.backends.component import Component
from exactsindy.solver.backends.rational import DEPENDENCE, ExactEquation, as_float
from exactsindy.solver.equations import Equation
from exactsindy.solver.outcome import Answer, Outcome
from exactsindy.solver.settings import Deadline

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class Scaled:
    """A dense problem in units a solver with absolute tolerances can work in; powers of two, so scaling is exact.

    ``problem.matrix`` is triangular, with the ridge inside. Coefficients in the user's units are ``x * unit``; one unit
    of this objective is ``square`` in the user's units.
    """

    problem: Stacked
    unit: Array
    square: float

    @property
    def target_square(self) -> float:
        """Objective of the empty support."""
        return float(self.problem.target @ self.problem.target) + self.problem.constant


def augmented(theta_factor: Array, ridge: Array) -> Array:
    """Return the columns [R_j; sqrt(ridge_j) e_j], on which ridge regression is plain least squares."""
    return np.vstack([theta_factor, np.diag(np.sqrt(ridge))]) if np.any(ridge) else np.asarray(theta_factor)


def power_of_two(norms: Array) -> Array:
    """Return powers of two that bring positive norms into [1, 2) (1 for a zero norm)."""
    return np.where(norms > 0, np.ldexp(1.0, 1 - np.frexp(norms)[1]), 1.0)


def column_norms(columns: Array) -> Array:
    """Return the Euclidean norm of each column, free of overflow and underflow."""
    largest = np.max(np.abs(columns), axis=0, initial=0.0)
    safe = np.where(largest > 0, largest, 1.0)
    return np.asarray(largest * np.sqrt(np.sum((columns / safe) ** 2, axis=0)))


def triangular(columns: Array) -> Array:
    """Return the triangular factor of a QR factorisation."""
    return np.asarray(np.linalg.qr(columns, mode="r"))


def scaled_equation(equation: Equation, size: int) -> Scaled:
    """Return an equation with a budget of ``size`` terms, scaled; ``problem.variables`` are its nonzero columns.

    The constant belongs to the objective: a relative gap is then relative to the residual sum of squares.
    """
    kept = np.flatnonzero(np.any(equation.factor != 0, axis=0))
    columns = augmented(equation.factor, equation.ridge)[:, kept]
    none, nothing, free = np.zeros((0, len(kept))), np.zeros(0), np.full(len(kept), np.inf)
    target = np.concatenate([equation.z, np.zeros(len(columns) - len(equation.z))])
    conditions = (none, nothing, none, nothing, -free, free, np.zeros(len(kept)), free)  # no rows, no bounds
    budget = (np.ones((1, len(kept))), np.array([float(size)]))
    stacked = Stacked(kept, columns, target, equation.constant, *conditions, *budget)
    scaled = scaled_problem(stacked)
    value = greedy(scaled.problem.matrix, scaled.problem.target, size)[1] + scaled.problem.constant
    # Absolute tolerances of 1e-9 must be small beside the objective, not beside y'y; 2^20 keeps x in range.
    zoom = float(np.ldexp(1.0, min(20, max(-20, round(-0.5 * math.log2(max(value, 1e-300)))))))
    zoomed = replace(scaled.problem, target=scaled.problem.target * zoom, constant=scaled.problem.constant * zoom**2)
    return Scaled(zoomed, scaled.unit / zoom, scaled.square / zoom**2)


def scaled_problem(stacked: Stacked) -> Scaled:
    """Scale columns and target to norms in [1, 2), and compress the rows to a triangle."""
    columns, target = stacked.matrix, stacked.target
    scale = power_of_two(column_norms(columns))
    # Within these limits no square of the scale overflows.
    target_scale = float(np.clip(power_of_two(column_norms(target[:, None]))[0], 2.0**-480, 2.0**480))
    triangle = triangular(np.column_stack([columns * scale, target * target_scale]))
    width, unit = columns.shape[1], scale / target_scale
    rest = triangle[width:, width]
    problem = replace(
        stacked,
        matrix=triangle[:width, :width],
        target=triangle[:width, width],
        constant=float(rest @ rest) + stacked.constant * target_scale**2,
        equal=stacked.equal * unit,
        below=stacked.below * unit,
        lower=stacked.lower / unit,
        upper=stacked.upper / unit,
        least=stacked.least / unit,
        most=stacked.most / unit,
    )
    return Scaled(problem, unit, 1.0 / target_scale**2)


def greedy(factor: Array, target: Array, size: int) -> tuple[tuple[int, ...], float]:
    """Return the support that takes the best next column (orthogonal least squares), and its value."""
    columns, residual = factor.copy(), target.copy()
    norms = np.linalg.norm(factor, axis=0)
    chosen: list[int] = []
    for _ in range(size):
        lengths = np.linalg.norm(columns, axis=0)
        usable = lengths > 1e-10 * norms
        usable[chosen] = False
        if not usable.any() or not residual.any():
            break
        gain = np.where(usable, np.abs(residual @ columns) / np.where(usable, lengths, 1.0), -1.0)
        best = int(np.argmax(gain))
        direction = columns[:, best] / lengths[best]
        chosen.append(best)
        residual = residual - direction * (direction @ residual)
        columns = columns - np.outer(direction, direction @ columns)
    return tuple(sorted(chosen)), float(residual @ residual)


def ellipsoid_bounds(scaled: Scaled, size: int) -> Array:
    """Return M_j with |x_j| <= M_j for every x that is no worse than the greedy fit.

    Those x form the ellipsoid |factor (x - x_full)|^2 <= U - f(x_full), so
    |x_j - x_full_j| <= sqrt((U - f(x_full)) ((factor' factor)^-1)_jj).
    """
    factor, target = scaled.problem.matrix, scaled.problem.target
    diagonal = np.abs(np.diag(factor))
    if diagonal.size and diagonal.min() <= DEPENDENCE * np.linalg.norm(factor, axis=0).max():
        raise SolverError(
            "formulation='bigm': the library's columns are linearly dependent, so the data bound no "
            "coefficient. Give `bounds` (one number per term), a positive ridge, or use formulation='sos1'."
        )
    inverse = np.linalg.solve(factor, np.eye(len(diagonal)))
    full = inverse @ target
    residual = target - factor @ full
    slack = greedy(factor, target, size)[1] - float(residual @ residual)
    # 1 % and the rounding of the fit itself: a bound that is a little loose stays valid.
    width = math.sqrt(max(slack, 0.0)) + 1e3 * EPS * math.sqrt(scaled.target_square)
    return np.asarray(1.01 * (np.abs(full) + width * np.linalg.norm(inverse, axis=1)))


def unit_rows(rows: Array, rhs: Array) -> tuple[Array, Array]:
    """Return rows scaled to a largest entry of 1, with their right sides."""
    scale = np.abs(rows).max(axis=1, initial=0.0)
    scale[scale == 0] = 1.0
    return rows / scale[:, None], rhs / scale


def fitted_equation(equation: Equation, scaled: Scaled, outcome: Outcome, deadline: Deadline) -> Outcome:
    """Return an outcome with the exact fit of a solver's support, beside the solver's own bound.

    Dependent columns and columns with coefficient zero leave the support. The constant is a true bound, and no true
    bound exceeds the objective of a feasible point: a claim outside (by the solver's tolerances) is cut to these.
    """
    support = scaled.problem.variables[list(outcome.answers[0].support)].tolist() if outcome.answers else []
    exact = ExactEquation(equation.factor, equation.z, equation.ridge)
    reduced = exact.reduced(support)
    pairs = [(j, x) for j, x in zip(reduced, exact.coefficients(reduced), strict=True) if x != 0.0]
    kept = tuple(j for j, _ in pairs)
    objective = as_float(exact.value(kept) + Fraction(equation.constant))
    bound = min(max(outcome.lower_bound, equation.constant), objective)
    answer = Answer(kept, tuple(x for _, x in pairs), objective)
    return replace(outcome, answers=(answer,), lower_bound=bound, seconds=deadline.elapsed)


def fitted_component(component: Component, outcome: Outcome, deadline: Deadline) -> Outcome:
    """Return an outcome with the native fit of a solver's support (its columns), so that objectives compare."""
    fits = [component.fit(component.variables[list(a.support)].tolist()) for a in outcome.answers]
    answers = fits[0].answers if fits else ()
    return replace(outcome, answers=answers, seconds=deadline.elapsed)


def missing(package: str) -> MissingDependency:
    """Return the error for a solver package that is not installed."""
    return MissingDependency(
        f"The {package} package is not installed; this backend needs it: pip install exactsindy[solvers]. "
        "The backend 'native' needs no other package."
    )

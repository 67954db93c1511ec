"""What the mixed-integer backends share: scaling, a greedy fit, valid bounds, the refit of their answers."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from exactsindy.errors import MissingDependency, SolverError
from exactsindy.solver.backends.rational import DEPENDENCE, ExactEquation, as_float
from exactsindy.solver.backends.result import BackendResult

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from exactsindy.solver.settings import Status

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class ScaledEquation:
    """An equation in units a solver with absolute tolerances can work in; powers of two, so scaling is exact.

    The objective in these units is ``|target - factor @ x|^2 + constant``, with ``factor`` square and the
    ridge inside. Only the nonzero columns are kept: column ``i`` is term ``columns[i]``, and ``xi = x *
    unit``. One unit of this objective is ``square`` in the user's units.
    """

    factor: NDArray[np.float64]
    target: NDArray[np.float64]
    constant: float
    columns: tuple[int, ...]
    unit: NDArray[np.float64]
    square: float

    @property
    def target_square(self) -> float:
        """Objective of the empty support."""
        return float(self.target @ self.target) + self.constant

    def claim(self, bound: float) -> float:
        """Map a bound of the solver to the user's objective (-inf if it has none)."""
        return bound * self.square


def check_size(size: int, n_terms: int) -> int:
    """Return the size cut to the number of terms, or say what is wrong with it."""
    if size < 0:
        raise SolverError(f"size={size!r}: expected a number of terms >= 0.")
    return min(size, n_terms)


def augmented(theta_factor: NDArray[np.float64], ridge: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the columns [R_j; sqrt(ridge_j) e_j], on which ridge regression is plain least squares."""
    return np.vstack([theta_factor, np.diag(np.sqrt(ridge))]) if np.any(ridge) else np.asarray(theta_factor)


def power_of_two(norms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return powers of two that bring positive norms into [1, 2) (1 for a zero norm)."""
    return np.where(norms > 0, np.ldexp(1.0, 1 - np.frexp(norms)[1]), 1.0)


def column_norms(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Euclidean norm of each column, free of overflow and underflow."""
    largest = np.max(np.abs(columns), axis=0, initial=0.0)
    safe = np.where(largest > 0, largest, 1.0)
    return np.asarray(largest * np.sqrt(np.sum((columns / safe) ** 2, axis=0)))


def triangular(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the triangular factor of a QR factorisation."""
    return np.asarray(np.linalg.qr(columns, mode="r"))


def scaled_equation(
    theta_factor: NDArray[np.float64],
    z: NDArray[np.float64],
    rest_square: float,
    ridge: NDArray[np.float64],
    size: int,
) -> ScaledEquation:
    """Scale columns to norms in [1, 2) and the target so that a greedy fit has an objective near 1.

    The constant belongs to the objective: a relative gap is then relative to the residual sum of squares.
    """
    kept = np.flatnonzero(np.any(theta_factor != 0, axis=0))
    columns = augmented(theta_factor, ridge)[:, kept]
    padded = np.concatenate([z, np.zeros(len(columns) - len(z))])
    scale = power_of_two(column_norms(columns))
    # Within these limits no square of the scale overflows.
    target_scale = float(np.clip(power_of_two(column_norms(padded[:, None]))[0], 2.0**-480, 2.0**480))
    triangle = triangular(np.column_stack([columns * scale, padded * target_scale]))
    width = len(kept)
    factor, target, rest = triangle[:width, :width], triangle[:width, width], triangle[width:, width]
    constant = float(rest @ rest) + rest_square * target_scale**2
    value = greedy(factor, target, size)[1] + constant
    # Absolute tolerances of 1e-9 must be small beside the objective, not beside y'y; 2^20 keeps x in range.
    zoom = float(np.ldexp(1.0, min(20, max(-20, round(-0.5 * math.log2(max(value, 1e-300)))))))
    return ScaledEquation(
        factor=factor,
        target=target * zoom,
        constant=constant * zoom**2,
        columns=tuple(int(j) for j in kept),
        unit=scale / (target_scale * zoom),
        square=1.0 / (target_scale * zoom) ** 2,
    )


def greedy(factor: NDArray[np.float64], target: NDArray[np.float64], size: int) -> tuple[tuple[int, ...], float]:
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


def ellipsoid_bounds(equation: ScaledEquation, size: int) -> NDArray[np.float64]:
    """Return M_j with |x_j| <= M_j for every x that is no worse than the greedy fit.

    Those x form the ellipsoid |factor (x - x_full)|^2 <= U - f(x_full), so
    |x_j - x_full_j| <= sqrt((U - f(x_full)) ((factor' factor)^-1)_jj).
    """
    diagonal = np.abs(np.diag(equation.factor))
    if diagonal.size and diagonal.min() <= DEPENDENCE * np.linalg.norm(equation.factor, axis=0).max():
        raise SolverError(
            "formulation='bigm': the library's columns are linearly dependent, so the data bound no "
            "coefficient. Give `bounds` (one number per term), a positive ridge, or use formulation='sos1'."
        )
    inverse = np.linalg.solve(equation.factor, np.eye(len(diagonal)))
    full = inverse @ equation.target
    residual = equation.target - equation.factor @ full
    slack = greedy(equation.factor, equation.target, size)[1] - float(residual @ residual)
    # 1 % and the rounding of the fit itself: a bound that is a little loose stays valid.
    width = math.sqrt(max(slack, 0.0)) + 1e3 * EPS * math.sqrt(equation.target_square)
    return np.asarray(1.01 * (np.abs(full) + width * np.linalg.norm(inverse, axis=1)))


def finish(
    theta_factor: NDArray[np.float64],
    z: NDArray[np.float64],
    rest_square: float,
    ridge: NDArray[np.float64],
    *,
    support: Iterable[int],
    claimed_bound: float,
    status: Status,
    nodes: int,
    started: float,
) -> BackendResult:
    """Refit a solver's support in exact arithmetic and report it beside the solver's own bound.

    Dependent columns and columns with coefficient zero leave the support. ``rest_square`` is a true bound,
    and no true bound exceeds the objective of a feasible point: a claim outside (by the solver's tolerances)
    is cut to these.
    """
    exact = ExactEquation(theta_factor, z, ridge)
    kept = exact.reduced(support)
    fitted = exact.coefficients(kept)
    kept = tuple(j for j, value in zip(kept, fitted, strict=True) if value != 0.0)
    coef = np.zeros(theta_factor.shape[1])
    coef[list(kept)] = [value for value in fitted if value != 0.0]
    objective = as_float(exact.value(kept) + Fraction(float(rest_square)))
    return BackendResult(
        support=kept,
        coef=coef,
        objective=objective,
        lower_bound=min(max(float(claimed_bound), float(rest_square)), objective),
        margin=math.nan,
        status=status,
        nodes=nodes,
        seconds=time.perf_counter() - started,
    )


def missing(package: str) -> MissingDependency:
    """Return the error for a solver package that is not installed."""
    return MissingDependency(
        f"The {package} package is not installed; this backend needs it: pip install exactsindy[solvers]. "
        "The backend 'native' needs no other package."
    )

"""Inner constants of one equation by Gauss-Newton steps on its rows, the coefficients being fitted at every step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.errors import ExactSindyError
from exactsindy.library import Expression, OpenTerm, Term, Terms
from exactsindy.problem import Problem

# Steps at most, halvings of a step at most, and the relative decrease of the residual sum of squares below which a fit
# has converged.
_STEPS, _HALVINGS, _SETTLED = 30, 8, 1e-12
# Rows of one equation over a library of few terms: any form can make them.
Rows = Callable[[Terms], Problem]


@dataclass(frozen=True, eq=False)
class ConstantFit:
    """Terms with inner constants, fitted to the rows of one equation.

    ``covariance`` is that of coefficients and then constants, for residuals that are independent.
    """

    terms: tuple[OpenTerm, ...]
    values: Mapping[str, float]
    coefficients: Array
    rss: float
    n_samples: int
    covariance: Array
    converged: bool

    @property
    def concrete(self) -> tuple[Term, ...]:
        """Return the terms with the numbers found."""
        return tuple(term.at(self.values) for term in self.terms)

    @property
    def standard_errors(self) -> dict[str, float]:
        """Return the standard error of every constant, nan if it is undetermined."""
        count = len(self.terms)
        with np.errstate(invalid="ignore"):
            errors = np.sqrt(np.diag(self.covariance)[count:])
        return dict(zip(self.values, errors.tolist(), strict=True))


def fit_constants(
    terms: Sequence[OpenTerm],
    start: Mapping[str, float],
    rows: Rows,
    bounds: Mapping[str, tuple[float, float]] | None = None,
) -> ConstantFit | None:
    """Return the least-squares fit of coefficients and constants, from a start; None if the start cannot be fitted.

    Parameters
    ----------
    terms
        The terms of the equation; those without constants are `OpenTerm` records, too.
    start
        A number for every constant.
    rows
        Returns the regression of the equation (one target) over the terms it is given.
    bounds
        Least and largest value of constants that have a range.

    Notes
    -----
    A step is the least-squares solution of the residual over the terms and over what the equation changes with each
    constant (the coefficients times the slopes of the terms). It is halved until the residual falls.
    """
    values, within = dict(start), dict(bounds or {})
    current = _evaluate(terms, values, rows)
    if current is None:
        return None
    converged = not values
    for _ in range(_STEPS if values else 0):
        go_on()
        change = current.step()
        after = None
        for halving in range(_HALVINGS):
            moved = {name: _clipped(values[name] + d / 2**halving, within.get(name)) for name, d in change.items()}
            after = _evaluate(terms, moved, rows)
            if after is not None and after.rss <= current.rss:
                break
            after = None
        if after is None:
            converged = True  # no step along the direction of descent helps: a minimum to rounding
            break
        gain = current.rss - after.rss
        values, current = moved, after
        if gain <= _SETTLED * after.rss:
            converged = True
            break
    return ConstantFit(
        tuple(terms), values, current.coefficients, current.rss, current.n_samples, current.covariance(), converged
    )


@dataclass(frozen=True, eq=False)
class _State:
    """The fit of the coefficients at given constants: columns of the terms and of the constants' slopes."""

    names: tuple[str, ...]
    terms: Array
    slopes: Array
    target: Array
    rest: float
    coefficients: Array
    n_samples: int

    @property
    def residual(self) -> Array:
        return np.asarray(self.target - self.terms @ self.coefficients)

    @property
    def rss(self) -> float:
        return float(self.residual @ self.residual) + self.rest

    def step(self) -> dict[str, float]:
        """Return the Gauss-Newton change of every constant."""
        columns, scale = _scaled(np.hstack([self.terms, self.slopes]))
        change = np.linalg.lstsq(columns, self.residual, rcond=None)[0] / scale
        return dict(zip(self.names, change[self.terms.shape[1] :].tolist(), strict=True))

    def covariance(self) -> Array:
        """Return the covariance of coefficients and constants; infinite where they are dependent."""
        columns, scale = _scaled(np.hstack([self.terms, self.slopes]))
        free = max(self.n_samples - columns.shape[1], 1)
        _, sizes, turned = np.linalg.svd(columns, full_matrices=False)
        if len(sizes) < columns.shape[1] or sizes[-1] <= np.finfo(float).eps * len(columns) * sizes[0]:
            return np.full((columns.shape[1],) * 2, np.inf)
        inverse = (turned.T / sizes**2) @ turned
        return np.asarray(self.rss / free * inverse / np.outer(scale, scale))


def _evaluate(terms: Sequence[OpenTerm], values: Mapping[str, float], rows: Rows) -> _State | None:
    """Return the fit of the coefficients at given constants; None where a term has no finite values."""
    try:
        concrete = [term.at(values) for term in terms]
        slopes = [{name: term.slope(name, values) for name in term.constants if name in values} for term in terms]
        needed = dict.fromkeys(concrete)
        needed |= dict.fromkeys(part for by_name in slopes for slope in by_name.values() for _, part in slope.parts)
        problem = rows(Terms(tuple(needed)))
    except (ExactSindyError, ArithmeticError):
        return None
    block, target = problem.locate(0)
    z, rest = block.target(target)
    position: dict[object, int] = {term: j for j, term in enumerate(block.terms)}
    factor = block.theta_factor
    columns = factor[:, [position[term] for term in concrete]]
    scaled, scale = _scaled(columns)
    coefficients = np.linalg.lstsq(scaled, z, rcond=None)[0] / scale
    changes = np.zeros((len(z), len(values)))
    for j, name in enumerate(values):
        for coefficient, by_name in zip(coefficients, slopes, strict=True):
            if name in by_name:
                changes[:, j] += coefficient * _combined(by_name[name], factor, position)
    if not np.isfinite(changes).all():
        return None
    return _State(tuple(values), columns, changes, z, float(rest @ rest), coefficients, block.n_samples)


def _combined(slope: Expression, factor: Array, position: Mapping[object, int]) -> Array:
    """Return the column of a sum of terms."""
    total = np.zeros(len(factor))
    for coefficient, term in slope.parts:
        total += coefficient * factor[:, position[term]]
    return total


def _scaled(columns: Array) -> tuple[Array, Array]:
    """Return columns of length 1, and their lengths."""
    lengths = np.linalg.norm(columns, axis=0)
    lengths[lengths == 0] = 1.0
    return columns / lengths, lengths


def _clipped(value: float, bounds: tuple[float, float] | None) -> float:
    return value if bounds is None else min(max(value, bounds[0]), bounds[1])

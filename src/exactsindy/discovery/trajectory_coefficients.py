"""The coefficients of each trajectory, as a table and as functions of the parameters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from exactsindy._optional import optional
from exactsindy._types import Array
from exactsindy.certificate import Certificate
from exactsindy.data import Notice, Trajectories
from exactsindy.errors import DataError
from exactsindy.library import Parameters, Term, Variables
from exactsindy.model import Equation, Model, with_error
from exactsindy.problem import Problem
from exactsindy.solver import Path, Solution, Status, solve_path

# Largest number of terms of a coefficient as a function of the parameters.
_MOST_TERMS = 4
# A term of such a function must be significant at this level: by chi-square where standard errors are right; where they
# are too small (chi-square of the largest function exceeds its degrees of freedom) by the F-test.
_LEVEL = 0.99
# Least standard error, as a share of the largest coefficient: errors of simulations and of integrals between samples,
# which standard errors do not include, are about this large on data without noise.
_LEAST_ERROR = 1e-4


@dataclass(frozen=True)
class TrajectoryCoefficient:
    """One coefficient in one trajectory: its value and standard error, and the parameters of the trajectory."""

    trajectory: str
    parameters: Mapping[str, float]
    equation: str
    term: str
    value: float
    error: float


@dataclass(frozen=True, eq=False, repr=False)
class PerTrajectory:
    """The terms that trajectories have in common, and the coefficients of each of them.

    Attributes
    ----------
    data
        What was measured, with parameters if there are any.
    models
        One model per trajectory: all with the same terms.
    solutions
        The joint regression of each equation at the chosen size: its equations are the trajectories. Its ``status`` is
        OPTIMAL if it is proved that no other common support of that size has a smaller sum of squares.
    paths
        The same for every size.
    ratios
        Gain of the last term over that of the next one, per equation: large values say that the size is clear.
    warnings
        What to be careful about.
    """

    data: Trajectories
    models: tuple[Model, ...]
    solutions: Mapping[str, Solution]
    paths: Mapping[str, Path]
    ratios: Mapping[str, float]
    warnings: tuple[Notice, ...]

    @property
    def terms(self) -> dict[str, tuple[str, ...]]:
        """The common terms of each equation."""
        return {row.name: tuple(term.name for term in row.terms) for row in self.models[0].rows}

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """What is proved about each equation, over all trajectories."""
        return tuple(one for solution in self.solutions.values() for one in solution.certificates)

    @cached_property
    def coefficients(self) -> tuple[TrajectoryCoefficient, ...]:
        """Every coefficient of every trajectory, with its standard error."""
        return tuple(self._rows())

    def _rows(self) -> Iterator[TrajectoryCoefficient]:
        for i, (member, model) in enumerate(zip(self.data, self.models, strict=True)):
            for row in model.rows:
                errors = row.standard_errors or (math.nan,) * len(row.terms)
                for term, value, error in zip(row.terms, row.coefficients, errors, strict=True):
                    label = member.label or str(i)
                    yield TrajectoryCoefficient(label, member.parameters, row.name, term.name, value, error)

    def to_frame(self) -> Any:
        """Return the coefficients as a pandas frame: a row per coefficient, a column for each parameter."""
        pandas = optional("pandas", "data", "PerTrajectory.to_frame")
        rows = [
            {"trajectory": c.trajectory, **c.parameters}
            | {"equation": c.equation, "term": c.term, "value": c.value, "error": c.error}
            for c in self.coefficients
        ]
        return pandas.DataFrame(rows)

    def against_parameters(self, degree: int = 1) -> Model:
        """Return one model whose coefficients are polynomials in the parameters, fitted to those of the trajectories.

        Each coefficient is regressed on the monomials of the parameters up to ``degree``, weighted by its standard
        errors; of every size the best subset is found exactly, and every further term must be significant at 99 %.
        Where chi-square per degree of freedom exceeds 1, errors are larger by its root, and the F-test decides.

        Raises
        ------
        DataError
            If the trajectories have no parameters, or too few for the degree.
        """
        variables = Variables.of(self.data)
        if not variables.parameters:
            raise DataError("against_parameters: the trajectories have no parameters; pass parameters={'mu': [...]}.")
        functions = Parameters(degree).bind(Variables(variables.states, parameters=variables.parameters))
        values = np.column_stack([np.zeros((len(self.data), len(variables.states))), *self.data.parameters.values()])
        columns = functions.evaluate(values)
        if np.linalg.matrix_rank(columns) < len(functions.terms):
            raise DataError(
                f"against_parameters(degree={degree}): {len(self.data)} trajectories do not tell the functions "
                f"{', '.join(functions.names)} apart; use a lower degree or more values of the parameters."
            )
        rows = []
        for i, equation in enumerate(self.models[0].rows):
            terms: list[Term] = []
            coef: list[float] = []
            errors: list[float] = []
            for j, term in enumerate(equation.terms):
                every = [model.rows[i] for model in self.models]
                spread = np.array([math.nan if e.standard_errors is None else e.standard_errors[j] for e in every])
                fit = _function_of(columns, np.array([e.coefficients[j] for e in every]), spread)
                for q, (value, error) in fit.items():
                    terms.append(variables.ordered(functions.terms[q] * term))
                    coef.append(value)
                    errors.append(error)
            rows.append(Equation(equation.target, tuple(terms), tuple(coef), tuple(errors)))
        return Model(variables, tuple(rows))

    def __str__(self) -> str:
        lines = []
        for name, terms in self.terms.items():
            solution = self.solutions[name]
            lines.append(f"{name}: {', '.join(terms) or 'no terms'} in all {len(self.data)} trajectories")
            if solution.status[0] is Status.OPTIMAL:
                margin = float(solution.margin[0])
                count = len(solution.problem.terms)
                text = f"    Proved: no other {len(terms)} of the {count} candidates fit all trajectories better"
                closer = "" if math.isnan(margin) else f"; the next best are {1 + margin:.3g} times worse"
                lines.append(f"{text}{closer}.")
            else:
                lines.append(f"    Not proved: {solution.status[0].value}.")
        head = ["trajectory", *self.data.parameter_names, "equation", "term", "coefficient"]
        table = [head]
        for c in self.coefficients:
            pair = with_error(c.value, c.error)
            number = f"{c.value:.6g}" if pair is None else f"{pair[0]} ± {pair[1]}"
            table.append([c.trajectory, *(f"{v:g}" for v in c.parameters.values()), c.equation, c.term, number])
        widths = [max(len(row[i]) for row in table) for i in range(len(head))]
        lines += [
            "",
            *("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in table),
        ]
        lines += ["", *(f"Note: {notice}" for notice in self.warnings)] if self.warnings else []
        return "\n".join(lines)

    def __repr__(self) -> str:
        terms = "; ".join(f"{name}: {', '.join(chosen)}" for name, chosen in self.terms.items())
        return f"<PerTrajectory of {len(self.data)} trajectories: {terms}>"


def _function_of(columns: Array, values: Array, errors: Array) -> dict[int, tuple[float, float]]:
    """Return the columns that a coefficient is a sum of, each with its factor and standard error."""
    from scipy.special import chdtri, fdtri  # loaded when needed

    known = bool(np.isfinite(errors).all() and (errors > 0).all())
    least = max(_LEAST_ERROR * float(np.abs(values).max()), float(np.finfo(float).tiny) ** 0.25)
    weights = 1.0 / np.maximum(errors, least) ** 2 if known else np.ones(len(values))
    count, width = columns.shape
    problem = Problem.from_arrays(columns, values, weights=weights)
    path = solve_path(problem, min(width, count, _MOST_TERMS))
    squares = np.maximum(np.array([solution.objective[0] for solution in path]), np.finfo(float).tiny)
    freedom = count - (len(squares) - 1)
    scale = squares[-1] / freedom if freedom else 1.0
    unsure = freedom > 0 and (not known or scale > 1.0)
    gain = float(fdtri(1, freedom, _LEVEL) if unsure else chdtri(1, 1 - _LEVEL))
    scores = [squares[k] / (scale if unsure else 1.0) + k * gain for k in range(len(squares))]
    k = max(int(np.argmin(scores)), 1)
    support = list(path[k].support[0])
    chosen = columns[:, support] * np.sqrt(weights)[:, None]
    left = max(count - len(support), 1)
    variance = max(squares[k] / left, 1.0) if known else squares[k] / left
    spread = np.sqrt(variance * np.diag(np.linalg.pinv(chosen.T @ chosen)))
    return {q: (float(path[k].coef[0, q]), float(error)) for q, error in zip(support, spread, strict=True)}

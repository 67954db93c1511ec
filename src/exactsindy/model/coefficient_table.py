"""The coefficients of a model as a labelled table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exactsindy._types import Array
from exactsindy.errors import ProblemError
from exactsindy.model.equation import Equation, significant
from exactsindy.problem import find_target


@dataclass(frozen=True, eq=False, repr=False)
class CoefficientTable:
    """Coefficients of all equations over all terms that occur; 0 where an equation lacks a term.

    ``table["x", "x y"]`` is one coefficient, ``str(table)`` reads well, ``np.asarray(table)`` is `values`.

    Parameters
    ----------
    target_names, term_names
        Labels of the rows and of the columns.
    values
        Equations x terms.
    standard_errors
        Equations x terms; nan where unknown or where the equation lacks the term.

    Examples
    --------
    >>> from exactsindy.model import Model
    >>> table = Model.from_coefficients({"x'": {"x": -1.0, "x y": 2.0}, "y'": {"y": 3.0}}).coefficients
    >>> table["x", "x y"]
    2.0
    >>> print(table)
    equation  term  coefficient
    x'        x              -1
    x'        x y             2
    y'        y               3
    """

    target_names: tuple[str, ...]
    term_names: tuple[str, ...]
    values: Array
    standard_errors: Array

    @classmethod
    def of(cls, equations: tuple[Equation, ...]) -> CoefficientTable:
        """Collect the coefficients of equations."""
        terms = tuple(dict.fromkeys(term for equation in equations for term in equation.terms))
        column = {term: j for j, term in enumerate(terms)}
        values = np.zeros((len(equations), len(terms)))
        errors = np.full(values.shape, np.nan)
        for i, equation in enumerate(equations):
            where = [column[term] for term in equation.terms]
            values[i, where] = equation.coefficients
            if equation.standard_errors is not None:
                errors[i, where] = equation.standard_errors
        for array in (values, errors):
            array.flags.writeable = False
        return cls(tuple(e.name for e in equations), tuple(term.name for term in terms), values, errors)

    def __getitem__(self, key: tuple[str | int, str]) -> float:
        target, term = key
        row = find_target(target, self.target_names)
        if term not in self.term_names:
            there = ", ".join(self.term_names)
            raise ProblemError(f"coefficients[..., {term!r}]: no equation has this term; there are {there}.")
        return float(self.values[row, self.term_names.index(term)])

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:
        return np.array(self.values, dtype=dtype)  # type: ignore[call-overload,no-any-return]

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return ``{equation: {term: coefficient}}`` without the zeros; `Model.from_coefficients` reads it."""
        return {
            target: {name: float(row[j]) for j, name in enumerate(self.term_names) if row[j]}
            for target, row in zip(self.target_names, self.values, strict=True)
        }

    def __str__(self) -> str:
        errors = bool(np.isfinite(self.standard_errors).any())
        lines = [("equation", "term", "coefficient", *(["standard error"] if errors else []))]
        for i, target in enumerate(self.target_names):
            for j in np.flatnonzero(self.values[i]):
                error = self.standard_errors[i, j]
                shown = [significant(error, 2) if np.isfinite(error) else "-"] if errors else []
                lines.append((target, self.term_names[j], significant(self.values[i, j], 6), *shown))
        widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if k < 2 else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        )

    def __repr__(self) -> str:
        return f"CoefficientTable({len(self.target_names)} equations; {len(self.term_names)} terms)"

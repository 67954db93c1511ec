"""The coefficients of a model as a labelled table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from exactsindy._labelled import dataset, frame
from exactsindy._types import Array
from exactsindy.errors import ProblemError
from exactsindy.model.equation import Equation, percent, significant
from exactsindy.problem import find_target


@dataclass(frozen=True, eq=False, repr=False)
class CoefficientTable:
    """Coefficients of all equations over all terms that occur; 0 where an equation lacks a term.

    ``table["x'", "x y"]`` is one coefficient, ``table["x'"]`` those of an equation, ``dict(table)`` all of them;
    ``str(table)`` reads well, ``np.asarray(table)`` is `values`.

    Parameters
    ----------
    target_names, term_names
        Labels of the rows and of the columns.
    values
        Equations x terms.
    standard_errors
        Equations x terms; nan where unknown, where a constraint fixes the coefficient, or where the equation lacks the
        term.
    fixed
        Equations x terms; whether a constraint decides the coefficient.
    shares
        Equations x terms; rms(coefficient * term) / rms(right-hand side), see `Model.shares`; nan where unknown.

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
    fixed: NDArray[np.bool_]
    shares: Array

    @classmethod
    def of(
        cls, equations: Sequence[Equation], shares: Mapping[str, Mapping[str, float]] | None = None
    ) -> CoefficientTable:
        """Collect the coefficients of equations, with the shares of their terms if they are known."""
        terms = tuple(dict.fromkeys(term for equation in equations for term in equation.terms))
        column = {term: j for j, term in enumerate(terms)}
        values = np.zeros((len(equations), len(terms)))
        errors, known = np.full(values.shape, np.nan), np.full(values.shape, np.nan)
        fixed = np.zeros(values.shape, dtype=np.bool_)
        for i, equation in enumerate(equations):
            where = [column[term] for term in equation.terms]
            values[i, where] = equation.coefficients
            fixed[i, where] = [equation.is_fixed(n) for n in range(len(where))]
            if equation.standard_errors is not None:
                errors[i, where] = equation.standard_errors
            if shares is not None:
                known[i, where] = [shares[equation.name][term.name] for term in equation.terms]
        for array in (values, errors, fixed, known):
            array.flags.writeable = False
        return cls(tuple(e.name for e in equations), tuple(term.name for term in terms), values, errors, fixed, known)

    @overload
    def __getitem__(self, key: tuple[str | int, str]) -> float: ...

    @overload
    def __getitem__(self, key: str | int) -> dict[str, float]: ...

    def __getitem__(self, key: tuple[str | int, str] | str | int) -> float | dict[str, float]:
        target, term = key if isinstance(key, tuple) else (key, None)
        row = find_target(target, self.target_names)
        if term is None:
            return self.to_dict()[self.target_names[row]]
        if term not in self.term_names:
            there = ", ".join(self.term_names)
            raise ProblemError(f"coefficients[..., {term!r}]: no equation has this term; there are {there}.")
        return float(self.values[row, self.term_names.index(term)])

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:
        return np.array(self.values, dtype=dtype)  # type: ignore[call-overload,no-any-return]

    def keys(self) -> tuple[str, ...]:
        """Return the names of the equations."""
        return self.target_names

    def __iter__(self) -> Iterator[str]:
        return iter(self.target_names)

    def __len__(self) -> int:
        return len(self.target_names)

    def __contains__(self, target: object) -> bool:
        return target in self.target_names

    def to_pandas(self) -> Any:
        """Return a pandas frame, one row per equation and term: coefficient, standard error, share, fixed."""
        places = [(i, int(j)) for i in range(len(self.target_names)) for j in np.flatnonzero(self.values[i])]
        columns = {
            "equation": [self.target_names[i] for i, _ in places],
            "term": [self.term_names[j] for _, j in places],
            "coefficient": [float(self.values[place]) for place in places],
            "standard_error": [float(self.standard_errors[place]) for place in places],
            "share": [float(self.shares[place]) for place in places],
            "fixed": [bool(self.fixed[place]) for place in places],
        }
        return frame(columns)

    def to_xarray(self) -> Any:
        """Return an xarray Dataset over equation and term: coefficient (0 where absent), standard error, share."""
        dims = ("equation", "term")
        variables = {"coefficient": self.values, "standard_error": self.standard_errors, "share": self.shares}
        coords = {"equation": list(self.target_names), "term": list(self.term_names)}
        return dataset({name: (dims, values) for name, values in variables.items()}, coords)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return ``{equation: {term: coefficient}}`` without the zeros; `Model.from_coefficients` reads it."""
        return {
            target: {name: float(row[j]) for j, name in enumerate(self.term_names) if row[j]}
            for target, row in zip(self.target_names, self.values, strict=True)
        }

    def __str__(self) -> str:
        errors = bool((np.isfinite(self.standard_errors) | self.fixed).any())
        shares = bool(np.isfinite(self.shares).any())
        heads = (*(["standard error"] if errors else []), *(["share"] if shares else []))
        lines = [("equation", "term", "coefficient", *heads)]
        for i, target in enumerate(self.target_names):
            for j in np.flatnonzero(self.values[i]):
                shown = [self._error(i, int(j))] if errors else []
                shown += [percent(self.shares[i, j])] if shares else []
                lines.append((target, self.term_names[j], significant(self.values[i, j], 6), *shown))
        widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if k < 2 else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        )

    def _error(self, i: int, j: int) -> str:
        error = self.standard_errors[i, j]
        return "fixed" if self.fixed[i, j] else significant(error, 2) if np.isfinite(error) else "-"

    def __repr__(self) -> str:
        return f"CoefficientTable({len(self.target_names)} equations; {len(self.term_names)} terms)"

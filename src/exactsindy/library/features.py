"""A library bound to named variables: terms that can be evaluated, differentiated and named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exactsindy._types import Array
from exactsindy.data import Trajectory
from exactsindy.errors import DataError, ProblemError
from exactsindy.library.calculus import differentiate
from exactsindy.library.program import Program, compile_terms
from exactsindy.library.term import Expression, Term, Variable
from exactsindy.library.variables import Variables


@dataclass(frozen=True)
class Features:
    """The columns of a regression: terms of named variables, with fast values and exact derivatives.

    Obtained from ``library.bind(variables)``.
    """

    variables: Variables
    terms: tuple[Term, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the names of the terms, the names of the columns."""
        return tuple(term.name for term in self.terms)

    @cached_property
    def inputs(self) -> tuple[Variable, ...]:
        """Return what `evaluate` needs: states, controls, parameters, then time, coordinates and derivatives in use."""
        first = tuple(Variable(name) for name in self.variables.columns)
        used = (v for term in self.terms for v in term.variables())
        return tuple(dict.fromkeys((*first, *used)))

    @cached_property
    def exponents(self) -> NDArray[np.int64] | None:
        """Return the powers (terms x inputs) if every term is a monomial in the inputs, else ``None``."""
        if not all(term.polynomial for term in self.terms):
            return None
        rows = [[term.powers.get(variable, 0) for variable in self.inputs] for term in self.terms]
        return np.array(rows, dtype=np.int64).reshape(len(self.terms), len(self.inputs))

    @cached_property
    def _program(self) -> Program:
        return compile_terms(self.terms, self.inputs)

    def evaluate(self, values: ArrayLike) -> Array:
        """Return the columns (samples x terms, column-major) at ``values`` (samples x `inputs`)."""
        return self.rows(self._split(values)).T

    def inputs_of(self, trajectory: Trajectory, states: ArrayLike | None = None) -> Array:
        """Return the samples x `inputs` of a trajectory; ``states`` (smoothed ones) replace the measured."""
        x = trajectory.states if states is None else np.asarray(states, dtype=float)
        columns = [x, trajectory.inputs]
        for extra in self.inputs[len(self.variables.columns) :]:
            if extra != Variable(self.variables.time):
                name = Term(((extra, 1),)).name
                raise ProblemError(f"The terms use {name!r}, which a trajectory does not have; it needs a field.")
            columns.append(trajectory.times[:, None])
        return np.hstack(columns)

    def rows(self, inputs: Sequence[Array], out: Array | None = None) -> Array:
        """Return the terms as rows (terms x samples) from one array of samples per input.

        ``out`` saves the allocation. Arrays of any shape are flattened in C order.
        """
        flat = [np.asarray(row, dtype=float).reshape(-1) for row in inputs]
        if len(flat) != len(self.inputs):
            names = f"{', '.join(Term(((v, 1),)).name for v in self.inputs)}, in this order (`features.inputs`)."
            raise ProblemError(f"evaluate got {len(flat)} columns; this library needs {len(self.inputs)}: {names}")
        sizes = [row.size for row in flat]
        if len(set(sizes)) > 1:
            raise ProblemError(f"evaluate got columns of {sizes} samples; expected as many in each.")
        out = np.empty((len(self.terms), flat[0].size)) if out is None else out
        self._program.run(flat, out)
        if self._program.can_fail:
            self._refuse_nonfinite(out)
        return out

    def jacobian(
        self, values: ArrayLike, coef: ArrayLike | None = None, *, wrt: Sequence[Variable] | None = None
    ) -> Array:
        """Return d term / d variable at ``values``, shape (samples, terms, variables).

        With ``coef`` (equations x terms) it is that of the right-hand sides ``coef @ terms``: (samples, equations,
        variables); terms with coefficient 0 cost nothing. ``wrt`` are the variables, which may be derivatives such as
        ``Variable("u", ("x",))``; by default the states.
        """
        by = tuple(Variable(name) for name in self.variables.states) if wrt is None else tuple(wrt)
        weights = np.eye(len(self.terms)) if coef is None else np.atleast_2d(np.asarray(coef, dtype=float))
        count = len(self.terms)
        if weights.shape[1] != count:
            raise ProblemError(f"jacobian(coef=...) has {weights.shape[1]} columns; expected {count}, one per term.")
        slopes = [self._slopes(row, by) for row in weights]
        monomials = tuple(dict.fromkeys(term for row in slopes for slope in row for _, term in slope.parts))
        columns = self._split(values)
        n = columns[0].size if columns else 0
        result = np.zeros((n, len(weights), len(by)))
        if monomials:
            table = np.empty((len(monomials), n))
            compile_terms(monomials, self.inputs).run(columns, table)
            position = {term: i for i, term in enumerate(monomials)}
            for i, row in enumerate(slopes):
                for j, slope in enumerate(row):
                    for coefficient, term in slope.parts:
                        result[:, i, j] += coefficient * table[position[term]]
        return result

    def _slopes(self, weights: Array, by: Sequence[Variable]) -> list[Expression]:
        """Return the derivatives of a weighted sum of the terms by each of the variables."""
        used = [(float(weights[j]), self.terms[j]) for j in np.flatnonzero(weights)]
        involved = {variable for _, term in used for variable in term.variables()}
        return [
            Expression.of(
                (weight * coefficient, part)
                for weight, term in used
                for coefficient, part in differentiate(term, variable).parts
            )
            if variable in involved
            else Expression.of(())
            for variable in by
        ]

    def _split(self, values: ArrayLike) -> list[Array]:
        table = np.asarray(values, dtype=float)
        if table.ndim != 2:
            width = len(self.inputs)
            raise ProblemError(f"evaluate got an array of shape {table.shape}; expected samples x {width} inputs.")
        return list(table.T)

    def _refuse_nonfinite(self, rows: Array) -> None:
        finite = np.isfinite(rows)
        if not finite.all():
            term, sample = (int(i) for i in np.argwhere(~finite)[0])
            cure = "it is not defined there. Leave the term out, or shift or restrict the data."
            raise DataError(f"The term {self.names[term]!r} is {rows[term, sample]} at sample {sample}: {cure}")

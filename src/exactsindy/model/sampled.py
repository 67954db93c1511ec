"""Right-hand sides and their slopes at samples of the states, vectorised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.data import Samples, by_name, is_labelled_row, is_named, numbers
from exactsindy.errors import DataError, ProblemError
from exactsindy.library import Features, Term, Variable, Variables
from exactsindy.model.codegen import vector_function
from exactsindy.model.equation import Equation, variable_name
from exactsindy.model.simulation_inputs import control_rows


@dataclass(frozen=True)
class Sampled:
    """The equations of trajectories as functions of arrays of samples."""

    rows: tuple[Equation, ...]
    variables: Variables

    @cached_property
    def inputs(self) -> tuple[Variable, ...]:
        """Return the states, the controls and, where it is used, the time."""
        basic = tuple(Variable(name) for name in self.variables.basic)
        used = dict.fromkeys(v for row in self.rows for v in row.variables() if v not in basic)
        strange = [v for v in used if v != Variable(self.variables.time)]
        if strange:
            raise ProblemError(
                f"The equations use {variable_name(strange[0])!r}, which is neither a state, a control nor the "
                f"time; known are {', '.join(self.variables.known)}."
            )
        return (*basic, *used)

    def predict(self, x: Samples, u: Samples | None, t: ArrayLike | None) -> Array:
        """Return samples x equations."""
        columns, single = self._columns(x, u, t)
        result = _table(self._function, columns, len(self.rows))
        return result[0] if single else result

    def values(self, terms: Sequence[Term], x: Samples, u: Samples | None, t: ArrayLike | None) -> Array:
        """Return terms of the equations, samples x terms; nan or infinite where a term is not defined."""
        columns, _ = self._columns(x, u, t)
        return _table(vector_function([((1.0, term),) for term in terms], self.inputs), columns, len(terms))

    def jacobian(self, x: Samples, u: Samples | None, t: ArrayLike | None) -> Array:
        """Return samples x equations x states."""
        columns, single = self._columns(x, u, t)
        terms = tuple(dict.fromkeys(term for row in self.rows for term in row.terms))
        coef = np.zeros((len(self.rows), len(terms)))
        for i, row in enumerate(self.rows):
            coef[i, [terms.index(term) for term in row.terms]] = row.coefficients
        slopes = Features(self.variables, terms).jacobian(np.column_stack(columns), coef)
        return slopes[0] if single else slopes

    @cached_property
    def _function(self) -> Callable[..., tuple[Any, ...]]:
        return vector_function([row.parts for row in self.rows], self.inputs)

    def _columns(self, x: Samples, u: Samples | None, t: ArrayLike | None) -> tuple[list[Array], bool]:
        """Return one array of samples per input, and whether one sample was given alone."""
        states = self.variables.states
        if is_named(x) or is_labelled_row(x):
            x, u, t = self._by_name(x, u, t)
        values = numbers(x, "x")
        single = values.ndim == 1 and values.shape == (len(states),)
        table = values[None] if single else values
        if table.ndim != 2 or table.shape[1] != len(states):
            raise DataError(
                f"x has shape {values.shape}; expected (samples, {len(states)}), a column for each of "
                f"{', '.join(states)}."
            )
        columns = [*table.T, *control_rows(u, self.variables.controls, len(table)).T]
        if len(columns) < len(self.inputs):
            if t is None:
                raise DataError(f"The equations use the time {self.variables.time!r}: pass it as t=...")
            times = numbers(t, "t")
            if times.shape not in ((), (len(table),)):
                raise DataError(f"t has shape {times.shape} for {len(table)} samples; expected one time for each.")
            columns.append(np.broadcast_to(times, (len(table),)))
        return columns, single

    def _by_name(
        self, x: Samples, u: Samples | None, t: ArrayLike | None
    ) -> tuple[Array, Samples | None, ArrayLike | None]:
        """Return the states out of a frame or mapping, with the controls and the time where not given apart."""
        states, controls = self.variables.states, self.variables.controls if u is None else ()
        uses_time = len(self.inputs) > len(self.variables.basic)
        time = (self.variables.time,) if uses_time and t is None else ()
        table = by_name(x, (*states, *controls, *time), "x")
        between = len(states) + len(controls)
        inputs = table[..., len(states) : between] if controls else u
        return table[..., : len(states)], inputs, table[..., between] if time else t


def _table(function: Callable[..., tuple[Any, ...]], columns: Sequence[Array], count: int) -> Array:
    """Return what a function of samples returns, one column for each of its results."""
    with np.errstate(all="ignore"):
        results = function(*columns)
    table = np.empty((len(columns[0]), count))
    for j, values in enumerate(results):
        table[:, j] = values
    return table

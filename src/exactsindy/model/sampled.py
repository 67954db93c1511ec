"""Right-hand sides and their slopes at samples of the states, vectorised."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.data import Samples, Trajectory, by_name, is_labelled_row, is_named, numbers
from exactsindy.errors import DataError, ProblemError
from exactsindy.library import Features, Term, Variable, Variables, split_step
from exactsindy.model.codegen import vector_function
from exactsindy.model.equation import Equation, variable_name
from exactsindy.model.simulation_inputs import ParameterValues, control_rows, parameter_rows


@dataclass(frozen=True)
class Sampled:
    """The equations of trajectories as functions of arrays of samples."""

    rows: tuple[Equation, ...]
    variables: Variables

    @cached_property
    def inputs(self) -> tuple[Variable, ...]:
        """Return the states, the controls, the parameters and, where used, the time and earlier samples of a map."""
        first = tuple(Variable(name) for name in self.variables.columns)
        used = dict.fromkeys(v for row in self.rows for v in row.variables() if v not in first)
        strange = [v for v in used if v != Variable(self.variables.time) and self._lag(v) is None]
        if strange:
            raise ProblemError(
                f"The equations use {variable_name(strange[0])!r}, which is neither a state, a control, a parameter "
                f"nor the time; known are {', '.join(self.variables.known)}."
            )
        return (*first, *used)

    def _lag(self, variable: Variable) -> tuple[int, int] | None:
        """Return the column of states and controls, and how many samples before; None for other variables."""
        step = split_step(variable.name) if self.rows[0].target.step else None
        return (
            None
            if step is None or step[0] not in self.variables.basic
            else (self.variables.basic.index(step[0]), -step[1])
        )

    def at(self, columns: Mapping[str, Array]) -> Array:
        """Return samples x equations from an array of samples for each of `inputs`, by name."""
        return _table(self._function, [columns[variable.name] for variable in self.inputs], len(self.rows))

    def predict(self, x: Samples, u: Samples | None, t: ArrayLike | None, parameters: ParameterValues = None) -> Array:
        """Return samples x equations."""
        columns, single = self._columns(x, u, t, parameters)
        result = _table(self._function, columns, len(self.rows))
        return result[0] if single else result

    def values(self, terms: Sequence[Term], member: Trajectory, states: Array) -> Array:
        """Return terms of the equations, samples x terms; nan or infinite where a term is not defined."""
        columns, _ = self._columns(states, member.controls, member.times, self.parameters_of(member))
        return _table(vector_function([((1.0, term),) for term in terms], self.inputs), columns, len(terms))

    def jacobian(self, x: Samples, u: Samples | None, t: ArrayLike | None, parameters: ParameterValues = None) -> Array:
        """Return samples x equations x states."""
        columns, single = self._columns(x, u, t, parameters)
        terms = tuple(dict.fromkeys(term for row in self.rows for term in row.terms))
        coef = np.zeros((len(self.rows), len(terms)))
        for i, row in enumerate(self.rows):
            coef[i, [terms.index(term) for term in row.terms]] = row.coefficients
        slopes = Features(self.variables, terms).jacobian(np.column_stack(columns), coef)
        return slopes[0] if single else slopes

    @cached_property
    def _function(self) -> Callable[..., tuple[Any, ...]]:
        return vector_function([row.parts for row in self.rows], self.inputs)

    def parameters_of(self, member: Trajectory) -> dict[str, float]:
        """Return those parameters of a trajectory that the equations know."""
        return {name: value for name, value in member.parameters.items() if name in self.variables.parameters}

    def _columns(
        self, x: Samples, u: Samples | None, t: ArrayLike | None, parameters: ParameterValues
    ) -> tuple[list[Array], bool]:
        """Return one array of samples per input, and whether one sample was given alone."""
        states = self.variables.states
        if is_named(x) or is_labelled_row(x):
            x, u, t, parameters = self._by_name(x, u, t, parameters)
        values = numbers(x, "x")
        single = values.ndim == 1 and values.shape == (len(states),)
        table = values[None] if single else values
        if table.ndim != 2 or table.shape[1] != len(states):
            raise DataError(
                f"x has shape {values.shape}; expected (samples, {len(states)}), a column for each of "
                f"{', '.join(states)}."
            )
        columns = [*table.T, *control_rows(u, self.variables.controls, len(table)).T]
        columns += [*parameter_rows(parameters, self.variables.parameters, len(table)).T]
        for variable in self.inputs[len(self.variables.columns) :]:
            lag = self._lag(variable)
            columns.append(self._times(t, len(table)) if lag is None else _shifted(columns[lag[0]], lag[1], single))
        return columns, single

    def _times(self, t: ArrayLike | None, count: int) -> Array:
        if t is None:
            raise DataError(f"The equations use the time {self.variables.time!r}: pass it as t=...")
        times = numbers(t, "t")
        if times.shape not in ((), (count,)):
            raise DataError(f"t has shape {times.shape} for {count} samples; expected one time for each.")
        return np.broadcast_to(times, (count,))

    def _by_name(
        self, x: Samples, u: Samples | None, t: ArrayLike | None, parameters: ParameterValues
    ) -> tuple[Array, Samples | None, ArrayLike | None, ParameterValues]:
        """Return the states out of a frame or mapping, with what else the equations need where not given apart."""
        states, controls = self.variables.states, self.variables.controls if u is None else ()
        constants = self.variables.parameters if parameters is None else ()
        uses_time = Variable(self.variables.time) in self.inputs[len(self.variables.columns) :]
        time = (self.variables.time,) if uses_time and t is None else ()
        table = by_name(x, (*states, *controls, *constants, *time), "x")
        between = len(states) + len(controls)
        inputs = table[..., len(states) : between] if controls else u
        if constants:
            parameters = {name: table[..., between + i] for i, name in enumerate(constants)}
        return table[..., : len(states)], inputs, table[..., -1] if time else t, parameters


def _shifted(column: Array, lag: int, single: bool) -> Array:
    """Return the samples so many steps before; nan where there are none."""
    if single:
        raise DataError(f"The map uses samples {lag} steps before: pass the samples in order, (n, states), n > {lag}.")
    earlier = np.full(len(column), np.nan)
    earlier[lag:] = column[:-lag]
    return earlier


def _table(function: Callable[..., tuple[Any, ...]], columns: Sequence[Array], count: int) -> Array:
    """Return what a function of samples returns, one column for each of its results."""
    with np.errstate(all="ignore"):
        results = function(*columns)
    table = np.empty((len(columns[0]), count))
    for j, values in enumerate(results):
        table[:, j] = values
    return table

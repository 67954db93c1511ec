"""Right-hand sides of models of fields, evaluated on a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exactsindy.data import Field, numbers
from exactsindy.errors import DataError, ProblemError
from exactsindy.library import Variables
from exactsindy.model.codegen import vector_function
from exactsindy.model.equation import Equation, variable_name
from exactsindy.model.field_grid import Grid, PerAxis, make_grid

Array = NDArray[np.float64]


def named_fields(values: Any, names: tuple[str, ...], ndim: int, argument: str) -> dict[str, Array]:
    """Return one array per field from an array, a list or a mapping; trailing axes beyond ``ndim`` may stay."""
    if isinstance(values, Mapping):
        missing = [name for name in names if name not in values]
        if missing:
            raise DataError(
                f"{argument} has the fields {', '.join(values)}; expected {', '.join(names)}: "
                f"{missing[0]!r} is missing."
            )
        given = [values[name] for name in names]
    elif len(names) == 1 and not isinstance(values, tuple | list):
        given = [values]
    elif len(values) == len(names):
        given = list(values)
    else:
        raise DataError(
            f"{argument} holds {len(values)} fields; expected {len(names)}: {', '.join(names)}, as a list, a "
            "mapping or along the first axis."
        )
    arrays = {name: numbers(array, f"{argument}: the field {name!r}") for name, array in zip(names, given, strict=True)}
    shapes = {array.shape for array in arrays.values()}
    if len(shapes) > 1 or len(next(iter(shapes))) < ndim:
        raise DataError(
            f"{argument} has arrays of shape {', '.join(map(str, sorted(shapes)))}; expected one array over "
            f"{ndim} space axes per field, all of one shape."
        )
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise DataError(f"{argument}: the field {name!r} holds missing or infinite values.")
    return arrays


def right_hand_sides(
    equations: Sequence[Equation],
    variables: Variables,
    values: Any,
    coords: PerAxis,
    periods: PerAxis,
    t: ArrayLike | None,
) -> dict[str, Array]:
    """Return the right-hand sides on the grid of a `Field`, or of arrays with coordinates and periods."""
    if isinstance(values, Field):
        fields = dict(zip(values.names, values.values, strict=True))
        fields = named_fields(fields, variables.states, len(values.axes), "values")
        return evaluate(equations, variables, fields, Grid.of_field(values), values.times if t is None else t)
    axes = variables.axes or ("x",)
    fields = named_fields(values, variables.states, len(axes), "values")
    shape = next(iter(fields.values())).shape
    return evaluate(equations, variables, fields, make_grid(axes, shape[: len(axes)], coords, periods), t)


def evaluate(
    equations: Sequence[Equation],
    variables: Variables,
    fields: Mapping[str, Array],
    grid: Grid,
    times: ArrayLike | None,
) -> dict[str, Array]:
    """Return the right-hand side of every equation on the grid (and times, along a last axis)."""
    inputs = tuple(dict.fromkeys(v for equation in equations for v in equation.variables()))
    example = next(iter(fields.values()))
    columns = []
    for variable in inputs:
        if variable.name in fields:
            columns.append(grid.derivative(fields[variable.name], variable.axes))
        elif variable.name in grid.axes:
            columns.append(grid.coordinate(variable.name, example.ndim))
        elif variable.name == variables.time and times is not None:
            columns.append(np.asarray(times, dtype=float))
        elif variable.name == variables.time:
            raise DataError(f"The equations use the time {variable.name!r}: pass it as t=...")
        else:
            raise ProblemError(
                f"The equations use {variable_name(variable)!r}, which is neither a field nor a space axis."
            )
    with np.errstate(all="ignore"):
        rates = vector_function([equation.parts for equation in equations], inputs)(*columns)
    return {
        equation.name: np.broadcast_to(np.asarray(rate, dtype=float), example.shape).copy()
        for equation, rate in zip(equations, rates, strict=True)
    }

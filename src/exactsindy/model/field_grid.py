"""Fields on a space grid: coordinates, periods, derivatives, and the right-hand sides of models there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.data import Field, Samples, numbers
from exactsindy.differentiation import PRINTED, FiniteDifference, Spectral, uniform_step
from exactsindy.errors import DataError, ProblemError
from exactsindy.library import Variables
from exactsindy.model.codegen import vector_function
from exactsindy.model.equation import Equation, variable_name

GridValues = Field | Samples | Sequence[ArrayLike]
PerAxis = Mapping[str, ArrayLike] | ArrayLike | None


@dataclass(frozen=True, eq=False)
class Grid:
    """Named axes with coordinates; ``periods`` holds ``None`` where an axis is not periodic."""

    axes: tuple[str, ...]
    coords: tuple[Array, ...]
    periods: tuple[float | None, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the number of points along each axis."""
        return tuple(len(points) for points in self.coords)

    def coordinate(self, axis: str, ndim: int) -> Array:
        """Return the coordinates along an axis, to be broadcast over arrays of ``ndim`` axes."""
        i = self.axes.index(axis)
        return self.coords[i].reshape([-1 if k == i else 1 for k in range(ndim)])

    def derivative(self, values: Array, axes: Sequence[str]) -> Array:
        """Return a spatial derivative: spectral along periodic axes, differences of order 4 along others."""
        for axis, order in Counter(axes).items():
            i = self.axes.index(axis)
            method = FiniteDifference(order=4, d=order) if self.periods[i] is None else Spectral(d=order)
            values = method(values, self.coords[i], axis=i)
        return values

    @classmethod
    def of_field(cls, field: Field) -> Grid:
        """Return the grid of data."""
        return cls(field.axes, field.coords[:-1], field.periods)


def make_grid(axes: tuple[str, ...], shape: tuple[int, ...], coords: PerAxis, periods: PerAxis) -> Grid:
    """Return a grid from what a user gave per axis; an axis without coordinates runs from 0 to its period."""
    points, lengths = _per_axis(coords, axes, "coords"), _per_axis(periods, axes, "periods")
    made: list[Array] = []
    spans: list[float | None] = []
    for axis, n in zip(axes, shape, strict=True):
        period = float(np.asarray(lengths[axis])) if axis in lengths else None
        if period is not None and not 0 < period < np.inf:
            raise DataError(f"periods: {axis!r} has the period {period}; expected a positive number.")
        if axis not in points and period is None:
            raise DataError(
                f"The axis {axis!r} has neither coordinates nor a period: pass periods={{{axis!r}: length}} or "
                f"coords={{{axis!r}: array}}."
            )
        along = np.arange(n) * (period or 0.0) / n if axis not in points else np.asarray(points[axis], float)
        if along.shape != (n,):
            raise DataError(f"coords: {axis!r} has shape {along.shape}; expected ({n},), as the field has.")
        if period is not None:
            _check_period(axis, along, period)
        made.append(along)
        spans.append(period)
    return Grid(axes, tuple(made), tuple(spans))


def _check_period(axis: str, points: Array, period: float) -> None:
    step = uniform_step(points, PRINTED) if len(points) > 2 else None
    if step is None or abs(step * len(points) - period) > PRINTED * step:
        raise DataError(
            f"The axis {axis!r} has {len(points)} points from {points[0]:g} to {points[-1]:g} and the period "
            f"{period:g}; expected at least three equal steps of period / points: the first point is not "
            "repeated at the end."
        )


def _per_axis(values: PerAxis, axes: tuple[str, ...], argument: str) -> Mapping[str, ArrayLike]:
    if values is None:
        return {}
    if isinstance(values, Mapping):
        strange = [name for name in values if name not in axes]
        if strange:
            raise DataError(
                f"{argument}: {strange[0]!r} is not a space axis of this model; there are {', '.join(axes)}."
            )
        return values
    if np.ndim(values) > 0 and (len(axes) > 1 or argument == "periods"):
        example = "2.0" if argument == "periods" else "array"
        raise DataError(f"{argument}: expected one entry per axis, e.g. {{{axes[0]!r}: {example}}}.")
    return {axis: values for axis in axes}


def named_fields(values: Any, names: tuple[str, ...], ndim: int, argument: str) -> dict[str, Array]:
    """Return one array per field from an array, a list or a mapping; trailing axes beyond ``ndim`` may stay."""
    if isinstance(values, Mapping):
        missing = [name for name in names if name not in values]
        if missing:
            raise DataError(
                f"{argument} has the fields {', '.join(values)}; expected {', '.join(names)}: "
                f"{missing[0]!r} is missing."
            )
        members = [values[name] for name in names]
    elif len(names) == 1 and not isinstance(values, tuple | list):
        members = [values]
    elif len(values) == len(names):
        members = list(values)
    else:
        raise DataError(
            f"{argument} holds {len(values)} fields; expected {len(names)}: {', '.join(names)}, as a list, a "
            "mapping or along the first axis."
        )
    labelled = zip(names, members, strict=True)
    arrays = {name: numbers(array, f"{argument}: the field {name!r}") for name, array in labelled}
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
    coords: PerAxis = None,
    periods: PerAxis = None,
    t: ArrayLike | None = None,
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

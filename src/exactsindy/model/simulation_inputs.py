"""Inputs of a simulation, checked: initial states, times, limits, and controls u(t) as a function of time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.data import Samples, by_name, is_labelled_row, is_named, numbers
from exactsindy.errors import DataError, is_real, nearest

Control = Callable[[float], Sequence[float]]
# Parameters by name: a number each, or (beside samples) one value per sample.
ParameterValues = Mapping[str, ArrayLike] | None
Inputs = Samples | tuple[ArrayLike, Samples] | Callable[[float], ArrayLike] | None

INTERPOLATIONS = ("linear", "cubic", "previous")

# Size, relative to that of the start, at which a simulation is stopped by default: a finite-time singularity passes it
# just before its time; slower growth has left any physical range.
_RANGE = 1e12


def check_start(x0: Samples, names: tuple[str, ...]) -> Array:
    """Return the initial states, by name out of a mapping or a frame of one row, or say what they should be."""
    if is_named(x0) or is_labelled_row(x0):
        table = by_name(x0, names, "x0")
        x0 = table[0] if len(table) == 1 < table.ndim else table
    start = np.atleast_1d(values := numbers(x0, "x0"))
    if start.shape != (len(names),):
        raise DataError(
            f"x0 has shape {values.shape}; expected {len(names)} numbers, one for each of {', '.join(names)}."
        )
    if not np.isfinite(start).all():
        raise DataError(f"x0 is {start.tolist()}: expected finite numbers.")
    return start


def check_output_times(t: ArrayLike) -> Array:
    """Return the times of a simulation."""
    times = numbers(t, "t")
    if times.ndim != 1 or times.size < 2 or not np.isfinite(times).all() or not (np.diff(times) > 0).all():
        raise DataError("t: expected at least two increasing finite times, e.g. np.linspace(0, 10, 1001).")
    return times


def check_limit(max_abs: float | None, start: Array) -> float:
    """Return the size at which a simulation is stopped."""
    if max_abs is None:
        return _RANGE * max(1.0, float(np.abs(start).max(initial=0.0)))
    if not is_real(max_abs) or not max_abs > np.abs(start).max(initial=0.0):
        raise DataError(
            f"max_abs={max_abs!r}: the simulation starts at {np.abs(start).max():g}; expected a larger number."
        )
    return float(max_abs)


def check_tolerances(rtol: float, atol: float) -> None:
    """Refuse tolerances no solver can meet."""
    if not (is_real(rtol) and is_real(atol) and 0 < rtol < 1 and 0 <= atol < np.inf):
        raise DataError(f"rtol={rtol!r}, atol={atol!r}: expected 0 < rtol < 1 and atol >= 0.")


def control_function(u: Inputs, names: tuple[str, ...], times: Array, interpolation: str) -> Control:
    """Return the controls, given as in `Model.simulate`, as a function of time."""
    if not isinstance(interpolation, str) or interpolation not in INTERPOLATIONS:
        raise DataError(f"interpolation={interpolation!r}: expected one of {', '.join(INTERPOLATIONS)}.")
    if not names:
        if u is not None:
            raise DataError("u was given, but this model has no controls: leave it out.")
        return lambda t: ()
    if u is None:
        raise DataError(f"This model has the controls {', '.join(names)}: pass them as u=...")
    if callable(u):
        return _checked(u, names, times)
    grid, values = _pair(u, names, times)
    if values.ndim == 1:
        values = values[:, None]
    if values.shape != (len(grid), len(names)):
        raise DataError(
            f"u has shape {values.shape} for {len(grid)} times and the controls {', '.join(names)}; expected "
            f"({len(grid)}, {len(names)}), a pair (times, samples), or a function of time."
        )
    if not np.isfinite(values).all():
        raise DataError("u holds missing or infinite values: fill them in first.")
    return _interpolant(grid, values, interpolation)


def control_rows(u: Samples | None, names: tuple[str, ...], count: int) -> Array:
    """Return samples of the controls (count x controls) that stand beside ``count`` states."""
    if u is None:
        if names:
            raise DataError(f"This model has the controls {', '.join(names)}: pass them as u=...")
        return np.zeros((count, 0))
    samples = values = np.atleast_1d(_samples(u, names))
    if values.ndim < 2:
        values = values.reshape(count, -1) if values.size == count * len(names) else values[:, None]
    if values.shape != (count, len(names)):
        expected = f"for {count} samples and {len(names)} controls; expected ({count}, {len(names)})"
        raise DataError(f"u has shape {samples.shape} {expected}.")
    return values


def parameter_rows(parameters: ParameterValues, names: tuple[str, ...], count: int) -> Array:
    """Return the parameters (count x parameters) that stand beside ``count`` states."""
    given = check_parameters(parameters, names)
    columns = []
    for name in names:
        values = numbers(given[name], f"parameters: {name!r}")
        if values.shape not in ((), (count,)):
            expected = f"expected one number, or one for each of {count} samples"
            raise DataError(f"parameters: {name!r} has shape {values.shape}; {expected}.")
        columns.append(np.broadcast_to(values, (count,)))
    return np.column_stack(columns) if columns else np.zeros((count, 0))


def parameter_values(parameters: ParameterValues, names: tuple[str, ...]) -> tuple[float, ...]:
    """Return one number for each of the parameters ``names``."""
    given = check_parameters(parameters, names)
    values = {name: numbers(given[name], f"parameters: {name!r}") for name in names}
    for name, value in values.items():
        if value.shape != () or not np.isfinite(value):
            raise DataError(f"parameters: {name!r} is {given[name]!r}; expected one finite number.")
    return tuple(float(value) for value in values.values())


def check_parameters(parameters: ParameterValues, names: tuple[str, ...]) -> Mapping[str, ArrayLike]:
    """Return parameters by name, refusing what is no mapping, names that are missing and names of none."""
    if parameters is None:
        parameters = {}
    if not isinstance(parameters, Mapping):
        raise DataError(f"parameters={parameters!r}: expected numbers by name, e.g. parameters={{'mu': 0.1}}.")
    missing = [name for name in names if name not in parameters]
    if missing:
        example = ", ".join(f"{name!r}: ..." for name in names)
        raise DataError(
            f"This model has the parameters {', '.join(names)}; {missing[0]!r} is missing: parameters={{{example}}}."
        )
    strange = next((name for name in parameters if name not in names), None)
    if strange is not None:
        known = nearest(strange, names) if names else "It has none: leave parameters out."
        raise DataError(f"parameters: this model has no parameter {strange!r}. {known}")
    return parameters


def _samples(u: Any, names: tuple[str, ...]) -> Array:
    return by_name(u, names, "u") if names and is_named(u) else numbers(u, "u")


def _pair(u: Any, names: tuple[str, ...], times: Array) -> tuple[Array, Array]:
    if not (isinstance(u, tuple) and len(u) == 2):
        return times, _samples(u, names)
    grid, values = numbers(u[0], "u=(times, samples)"), _samples(u[1], names)
    if grid.ndim != 1 or grid.size < 2 or not (np.diff(grid) > 0).all():
        raise DataError("u=(times, samples): expected at least two increasing times.")
    slack = 1e-9 * (times[-1] - times[0])
    if grid[0] > times[0] + slack or grid[-1] < times[-1] - slack:
        raise DataError(
            f"u=(times, samples) covers {grid[0]:g} to {grid[-1]:g} but the simulation runs from {times[0]:g} "
            f"to {times[-1]:g}: give the controls for all of it."
        )
    return grid, values


def _checked(u: Callable[[float], Any], names: tuple[str, ...], times: Array) -> Control:
    start, stop = float(times[0]), float(times[-1])
    size = np.asarray(u(start), dtype=float).size
    if size != len(names):
        expected = f"{len(names)}, one for each of {', '.join(names)}"
        raise DataError(f"u({start:g}) returned {size} values; expected {expected}.")

    def call(t: float) -> Sequence[float]:
        # Integrators look beyond the last time and interpolate back; many functions are not defined there.
        try:
            values: list[float] = np.asarray(u(min(max(t, start), stop)), dtype=float).reshape(-1).tolist()
        except Exception as error:  # not to be taken for an undefined term of the model
            raise DataError(f"u({t:g}) failed: {error}") from error
        if not all(map(isfinite, values)):
            raise DataError(f"u({t:g}) returned {values}: expected finite numbers.")
        return values

    return call


def _interpolant(grid: Array, values: Array, interpolation: str) -> Control:
    """Return piecewise polynomials as plain lists: one bisection and a few products per call."""
    if interpolation == "cubic" and len(grid) > 2:
        from scipy.interpolate import CubicSpline  # loaded when needed: it costs more than numpy

        coefficients = np.asarray(CubicSpline(grid, values).c)
    elif interpolation == "previous":
        coefficients = values[None, :-1]
    else:
        coefficients = np.stack([np.diff(values, axis=0) / np.diff(grid)[:, None], values[:-1]])
    pieces: list[list[list[float]]] = np.moveaxis(coefficients, 0, 2).tolist()
    if interpolation == "previous":
        pieces.append([[value] for value in values[-1].tolist()])
    starts: list[float] = grid.tolist()
    last = len(pieces) - 1

    def call(t: float) -> Sequence[float]:
        i = min(max(bisect_right(starts, t) - 1, 0), last)
        s, result = t - starts[i], []
        for piece in pieces[i]:
            value = 0.0
            for c in piece:
                value = value * s + c
            result.append(value)
        return result

    return call

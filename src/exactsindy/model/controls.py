"""Inputs u(t) for a simulation: from samples or a function to fast values at any time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exactsindy.data import Columns, by_name, is_named, numbers
from exactsindy.errors import DataError

Array = NDArray[np.float64]
Control = Callable[[float], Sequence[float]]
Given = Columns | tuple[ArrayLike, Columns] | Callable[[float], Any] | None

INTERPOLATIONS = ("linear", "cubic", "previous")


def control_function(u: Given, names: tuple[str, ...], times: Array, interpolation: str) -> Control:
    """Return the controls as a function of time.

    Parameters
    ----------
    u
        Samples at ``times`` (n,) or (n, c), a pair (own times, samples), or a function of time; samples in a
        frame or mapping are read by name.
    names
        Names of the controls.
    times
        The times of the simulation.
    interpolation
        ``"linear"``, ``"cubic"`` or ``"previous"`` (the sample before, for switched inputs).
    """
    if interpolation not in INTERPOLATIONS:
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


def control_rows(u: Columns | None, names: tuple[str, ...], count: int) -> Array:
    """Return samples of the controls (count x controls) that stand beside ``count`` states."""
    if u is None:
        if names:
            raise DataError(f"This model has the controls {', '.join(names)}: pass them as u=...")
        return np.zeros((count, 0))
    given = values = _samples(u, names)
    if values.ndim < 2:
        values = values.reshape(count, -1) if values.size == count * len(names) else values[:, None]
    if values.shape != (count, len(names)):
        raise DataError(
            f"u has shape {given.shape} for {count} samples and {len(names)} controls; expected "
            f"({count}, {len(names)})."
        )
    return values


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
    first = np.asarray(u(float(times[0])), dtype=float)
    if first.size != len(names):
        raise DataError(
            f"u({times[0]:g}) returned {first.size} values; expected {len(names)}, one for each of {', '.join(names)}."
        )
    start, stop = float(times[0]), float(times[-1])

    def call(t: float) -> Sequence[float]:
        # Integrators look beyond the last time and interpolate back; many functions are not defined there.
        try:
            value = u(min(max(t, start), stop))
            values: list[float] = np.asarray(value, dtype=float).reshape(-1).tolist()
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
        slopes = np.diff(values, axis=0) / np.diff(grid)[:, None]
        coefficients = np.stack([slopes, values[:-1]])
    pieces: list[list[list[float]]] = np.moveaxis(coefficients, 0, 2).tolist()
    if interpolation == "previous":
        pieces.append([[value] for value in values[-1].tolist()])
    starts: list[float] = grid.tolist()
    last = len(pieces) - 1

    def call(t: float) -> Sequence[float]:
        i = min(max(bisect_right(starts, t) - 1, 0), last)
        s = t - starts[i]
        result = []
        for piece in pieces[i]:
            value = 0.0
            for c in piece:
                value = value * s + c
            result.append(value)
        return result

    return call

"""The space grid of fields: coordinates, periods and derivatives along its axes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exactsindy.data import Field
from exactsindy.differentiation import PRINTED, FiniteDifference, Spectral, uniform_step
from exactsindy.errors import DataError

Array = NDArray[np.float64]
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
    """Return a grid from what a user gave per axis.

    Parameters
    ----------
    axes, shape
        Names and numbers of points.
    coords
        Coordinates per axis, a mapping or (with one axis) an array; 0 to the period by default.
    periods
        Period per axis, a mapping or one number for all; without it an axis is not periodic.
    """
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


def _per_axis(given: PerAxis, axes: tuple[str, ...], argument: str) -> Mapping[str, ArrayLike]:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        strange = [name for name in given if name not in axes]
        if strange:
            raise DataError(
                f"{argument}: {strange[0]!r} is not a space axis of this model; there are {', '.join(axes)}."
            )
        return given
    if np.ndim(given) > 0 and (len(axes) > 1 or argument == "periods"):
        example = "2.0" if argument == "periods" else "array"
        raise DataError(f"{argument}: expected one entry per axis, e.g. {{{axes[0]!r}: {example}}}.")
    return {axis: given for axis in axes}

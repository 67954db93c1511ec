"""Forward simulation of a model of fields on a periodic grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exactsindy.data import Field
from exactsindy.errors import DataError
from exactsindy.library import Variables
from exactsindy.model.etd import Stepper, linear_part, remaining_part
from exactsindy.model.field_grid import Grid, PerAxis, make_grid
from exactsindy.model.field_rhs import named_fields
from exactsindy.model.integrate import check_limit, check_output_times, check_tolerances
from exactsindy.model.march import Tolerance, march
from exactsindy.model.phase import Phase
from exactsindy.model.simulation import FieldSimulation
from exactsindy.model.spectrum import Spectrum

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FieldOptions:
    """How exact, when to stop, and whether products are dealiased."""

    rtol: float
    atol: float
    max_abs: float | None
    max_steps: int
    dealias: bool

    def __post_init__(self) -> None:
        check_tolerances(self.rtol, self.atol)


def simulate_field(
    phase: Phase,
    variables: Variables,
    u0: Any,
    t: ArrayLike | None,
    coords: PerAxis,
    periods: PerAxis,
    options: FieldOptions,
) -> FieldSimulation:
    """Return the fields at the times ``t``; see `Model.simulate_field`."""
    start, grid = _start(phase, variables, u0, coords, periods)
    if t is None and not isinstance(u0, Field):
        raise DataError("simulate_field(u0, t): t is missing; pass the times at which the fields are wanted.")
    times = check_output_times(u0.times if t is None else t)
    lengths = tuple(period for period in grid.periods if period is not None)
    if len(lengths) < len(grid.axes):
        open_axes = [axis for axis, period in zip(grid.axes, grid.periods, strict=True) if period is None]
        raise DataError(
            f"simulate_field: the axis {open_axes[0]!r} has no period; fields are simulated on periodic grids: "
            f"pass periods={{{open_axes[0]!r}: length}}. With boundaries, integrate model.rhs(u, coords=...) "
            "with scipy.integrate.solve_ivp(method='BDF') and set the rates of the points there yourself "
            "(0 keeps their values)."
        )
    spectrum = Spectrum(grid.axes, grid.shape, lengths)
    coordinates = {axis: grid.coordinate(axis, len(grid.axes)) for axis in grid.axes}
    rest = remaining_part(phase, spectrum, coordinates, variables.time, options.dealias)
    stepper = Stepper(linear_part(phase, spectrum), spectrum.mask.shape, rest)
    tolerance = Tolerance(options.rtol, options.atol, check_limit(options.max_abs, start), options.max_steps)
    outputs, ending, steps = march(stepper, spectrum, start, times, tolerance)
    values = np.stack(outputs, axis=-1)
    return FieldSimulation(
        times[: len(outputs)], tuple(values), phase.names, grid.axes, grid.coords, lengths, ending, steps
    )


def _start(phase: Phase, variables: Variables, u0: Any, coords: PerAxis, periods: PerAxis) -> tuple[Array, Grid]:
    """Return the initial fields, stacked, and their grid."""
    if isinstance(u0, Field):
        first = {name: array[..., 0] for name, array in zip(u0.names, u0.values, strict=True)}
        fields = named_fields(first, phase.names, len(u0.axes), "u0")
        grid = Grid.of_field(u0)
    else:
        axes = variables.axes or ("x",)
        fields = named_fields(u0, phase.names, len(axes), "u0")
        shape = next(iter(fields.values())).shape
        if len(shape) != len(axes):
            raise DataError(
                f"u0 has shape {shape}; expected one axis for each of {', '.join(axes)}: the field at the first time."
            )
        grid = make_grid(axes, shape, coords, periods)
    return np.stack([fields[name] for name in phase.names]), grid

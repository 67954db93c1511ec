"""Forward simulation of a model of fields on a periodic grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.data import Field
from exactsindy.differentiation import uniform_step
from exactsindy.errors import DataError
from exactsindy.library import Variables
from exactsindy.model.etd import Complex, Stepper, linear_part, remaining_part
from exactsindy.model.field_grid import Grid, PerAxis, make_grid, named_fields
from exactsindy.model.phase import Phase
from exactsindy.model.simulation import FieldSimulation, SimulationStatus
from exactsindy.model.simulation_inputs import check_limit, check_output_times, check_tolerances
from exactsindy.model.spectrum import Spectrum

# Most halvings of an output interval: 2^-48 of it no longer moves the time in double precision (53 bits).
_DEEPEST = 48
# Error of a step, in units of the tolerance, below which the next is twice as long: that makes 32 times the error, and
# the factor 2 to spare avoids needless trials.
_SMALL = 1 / 64


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
        aperiodic = [axis for axis, period in zip(grid.axes, grid.periods, strict=True) if period is None]
        raise DataError(
            f"simulate_field: the axis {aperiodic[0]!r} has no period; fields are simulated on periodic grids: "
            f"pass periods={{{aperiodic[0]!r}: length}}. With boundaries, integrate model.rhs(u, coords=...) "
            "with scipy.integrate.solve_ivp(method='BDF') and set the rates of the points there yourself "
            "(0 keeps their values)."
        )
    spectrum = Spectrum(grid.axes, grid.shape, lengths)
    coordinates = {axis: grid.coordinate(axis, len(grid.axes)) for axis in grid.axes}
    remainder = remaining_part(phase, spectrum, coordinates, variables.time, options.dealias)
    stepper = Stepper(linear_part(phase, spectrum), len(phase.names), spectrum.mask.shape, remainder)
    run = _Run(stepper, spectrum, options, check_limit(options.max_abs, start))
    outputs, status = run.march(start, times)
    values = tuple(np.stack(outputs, axis=-1))
    reached = times[: len(outputs)]
    return FieldSimulation(reached, values, phase.names, grid.axes, grid.coords, lengths, status, run.steps)


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


class _Run:
    """One simulation and the steps it has taken; it stops where a field reaches the limit.

    Every output interval is cut into 2^level equal steps. A step is done once whole and twice halved; the
    difference / 15 estimates the error of the halved ones, which are kept.
    """

    def __init__(self, stepper: Stepper, spectrum: Spectrum, options: FieldOptions, limit: float) -> None:
        self.stepper, self.spectrum, self.options, self.limit = stepper, spectrum, options, limit
        self.steps = 0

    def march(self, start: Array, times: Array) -> tuple[list[Array], SimulationStatus]:
        """Return the fields at the times that were reached, and how it ended."""
        outputs, status = [start], SimulationStatus.COMPLETE
        waves, level = self.spectrum.forward(start), 0
        # Times at equal steps differ by rounding; one step length for all saves computing its factors again.
        step = uniform_step(times)
        with np.errstate(all="ignore"):
            for t, following in zip(times[:-1].tolist(), times[1:].tolist(), strict=True):
                waves, level, status = self.interval(waves, t, step or following - t, level)
                if status is not SimulationStatus.COMPLETE:
                    break
                outputs.append(self.spectrum.backward(waves))
        return outputs, status

    def interval(self, waves: Complex, t: float, span: float, level: int) -> tuple[Complex, int, SimulationStatus]:
        """Advance by ``span``, starting with 2^level steps; return the level to go on with."""
        position = 0
        slope = self.stepper.remainder(t, waves)
        while position < 2**level:
            if self.steps >= self.options.max_steps:
                return waves, level, SimulationStatus.TOO_MANY_STEPS
            h = span / 2**level
            trial, error, size = self._trial(t + position * h, h, waves, slope)
            self.steps += 1
            if not error <= 1.0:
                if level == _DEEPEST:
                    small = np.isfinite(error)
                    return waves, level, SimulationStatus.TOO_MANY_STEPS if small else SimulationStatus.BLOW_UP
                level, position = level + 1, 2 * position
                continue
            if not size < self.limit:
                return waves, level, SimulationStatus.BLOW_UP
            waves, position = trial, position + 1
            if error < _SMALL and position % 2 == 0 and level > 0:
                level, position = level - 1, position // 2
            slope = self.stepper.remainder(t + position * span / 2**level, waves)
        return waves, level, SimulationStatus.COMPLETE

    def _trial(self, t: float, h: float, waves: Complex, slope: Complex | None) -> tuple[Complex, float, float]:
        """Return the fields after two half steps, their error in units of the tolerance and their size."""
        if slope is None:  # nothing but the linear part, which is exact
            fine = self.stepper.step(t, h, waves, None)
            return fine, 0.0, float(np.abs(self.spectrum.backward(fine)).max())
        coarse = self.stepper.step(t, h, waves, slope)
        middle = self.stepper.step(t, h / 2, waves, slope)
        fine = self.stepper.step(t + h / 2, h / 2, middle, self.stepper.remainder(t + h / 2, middle))
        values, gap = self.spectrum.backward(fine), self.spectrum.backward(fine - coarse)
        axes = tuple(range(1, values.ndim))
        sizes, gaps = np.abs(values).max(axis=axes), np.abs(gap).max(axis=axes)
        error = float((gaps / 15 / (self.options.atol + self.options.rtol * sizes)).max())
        return fine, error, float(sizes.max())

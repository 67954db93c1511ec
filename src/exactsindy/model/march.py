"""Time stepping of fields with error control, output at given times and an early stop when they run away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactsindy.differentiation import uniform_step
from exactsindy.model.etd import Complex, Stepper
from exactsindy.model.simulation import SimulationStatus
from exactsindy.model.spectrum import Spectrum

Array = NDArray[np.float64]

# Halvings of an output interval: smaller steps no longer move the time in double precision.
_DEEPEST = 48


@dataclass(frozen=True)
class Tolerance:
    """When a step is good enough, when the fields have run away, and when to give up."""

    rtol: float
    atol: float
    limit: float
    max_steps: int


def march(
    stepper: Stepper, spectrum: Spectrum, start: Array, times: Array, tolerance: Tolerance
) -> tuple[list[Array], SimulationStatus, int]:
    """Return the fields at the times that were reached, how it ended and the number of steps.

    Every output interval is cut into 2^level equal steps. A step is done once whole and twice halved; the
    difference / 15 estimates the error of the halved ones, which are kept.
    """
    run = _Run(stepper, spectrum, tolerance)
    outputs = [start]
    waves, level = spectrum.forward(start), 0
    # Times at equal steps differ by rounding; one step length for all saves computing its factors again.
    step = uniform_step(times)
    with np.errstate(all="ignore"):
        for t, following in zip(times[:-1].tolist(), times[1:].tolist(), strict=True):
            waves, level, ending = run.interval(waves, t, step or following - t, level)
            if ending is not SimulationStatus.COMPLETE:
                return outputs, ending, run.steps
            outputs.append(spectrum.backward(waves))
    return outputs, SimulationStatus.COMPLETE, run.steps


class _Run:
    """One simulation and the steps it has taken."""

    def __init__(self, stepper: Stepper, spectrum: Spectrum, tolerance: Tolerance) -> None:
        self.stepper, self.spectrum, self.tolerance = stepper, spectrum, tolerance
        self.steps = 0

    def interval(self, waves: Complex, t: float, span: float, level: int) -> tuple[Complex, int, SimulationStatus]:
        """Advance by ``span``, starting with 2^level steps; return the level to go on with."""
        position = 0
        slope = self.stepper.rest(t, waves)
        while position < 2**level:
            if self.steps >= self.tolerance.max_steps:
                return waves, level, SimulationStatus.TOO_MANY_STEPS
            h = span / 2**level
            trial, error, size = self._trial(t + position * h, h, waves, slope)
            self.steps += 1
            if not error <= 1.0:
                if level == _DEEPEST:
                    return (
                        waves,
                        level,
                        SimulationStatus.TOO_MANY_STEPS if np.isfinite(error) else SimulationStatus.BLOW_UP,
                    )
                level, position = level + 1, 2 * position
                continue
            if not size < self.tolerance.limit:
                return waves, level, SimulationStatus.BLOW_UP
            waves, position = trial, position + 1
            # Twice the step makes 32 times the error; some of it is kept in hand against needless trials.
            if error < 1 / 64 and position % 2 == 0 and level > 0:
                level, position = level - 1, position // 2
            slope = self.stepper.rest(t + position * span / 2**level, waves)
        return waves, level, SimulationStatus.COMPLETE

    def _trial(self, t: float, h: float, waves: Complex, slope: Complex | None) -> tuple[Complex, float, float]:
        """Return the fields after two half steps, their error in units of the tolerance and their size."""
        if slope is None:  # nothing but the linear part, which is exact
            fine = self.stepper.step(t, h, waves, None)
            return fine, 0.0, float(np.abs(self.spectrum.backward(fine)).max())
        coarse = self.stepper.step(t, h, waves, slope)
        middle = self.stepper.step(t, h / 2, waves, slope)
        fine = self.stepper.step(t + h / 2, h / 2, middle, self.stepper.rest(t + h / 2, middle))
        values, gap = self.spectrum.backward(fine), self.spectrum.backward(fine - coarse)
        axes = tuple(range(1, values.ndim))
        sizes, gaps = np.abs(values).max(axis=axes), np.abs(gap).max(axis=axes)
        error = float((gaps / 15 / (self.tolerance.atol + self.tolerance.rtol * sizes)).max())
        return fine, error, float(sizes.max())

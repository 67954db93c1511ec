"""Iterate a map from a start, stopped early when it runs away."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.data import Samples, by_name, is_named, numbers
from exactsindy.errors import DataError, ExactSindyError
from exactsindy.library import Variable, Variables
from exactsindy.model.codegen import scalar_function
from exactsindy.model.equation import Equation
from exactsindy.model.map_phase import MapPhase, map_phase
from exactsindy.model.simulation import Simulation, SimulationStatus
from exactsindy.model.simulation_inputs import (
    Inputs,
    ParameterValues,
    check_limit,
    check_start,
    control_rows,
    parameter_values,
)
from exactsindy.model.trajectory_simulation import RanAway

# Most steps of one call: their states are held in memory.
_MOST_STEPS = 100_000_000


@dataclass(frozen=True)
class MapIterator:
    """The equations of a map with their generated right-hand side."""

    rows: tuple[Equation, ...]
    variables: Variables

    @cached_property
    def phase(self) -> MapPhase:
        """Return the map of the present state alone."""
        return map_phase(self.rows, self.variables)

    def iterate(
        self,
        x0: Samples,
        n: int,
        u: Inputs,
        t: ArrayLike | None,
        max_abs: float | None,
        parameters: ParameterValues = None,
    ) -> Simulation:
        """Return the states at steps 0 to n; see `Model.iterate`."""
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= _MOST_STEPS:
            raise DataError(f"iterate(n={n!r}): expected a number of steps from 1 to {_MOST_STEPS:,}.")
        phase, count = self.phase, int(n)
        start = self._start(x0)
        times = self._times(t, count)
        constants = [*parameter_values(parameters, self.variables.parameters)]
        controls = [[*row, *constants] for row in self._controls(u, count)] if constants else self._controls(u, count)
        inputs = (*phase.controls, *map(Variable, self.variables.parameters))
        function = scalar_function(phase.sums, phase.variables, inputs, Variable(self.variables.time))
        limit, width = check_limit(max_abs, start), len(phase.states)
        state = start[::-1].reshape(-1)  # the present sample first
        states = np.empty((count + 1, width))
        states[0] = state[:width]
        reached, status = 1, SimulationStatus.COMPLETE
        for k in range(count):
            if k % 1024 == 0:
                go_on()
            try:
                state = np.array(function(times[k], state, lambda _, k=k: controls[k], limit, RanAway))
                if not (np.abs(state) < limit).all():
                    raise RanAway
            except ExactSindyError:
                raise
            except (RanAway, OverflowError):
                status = SimulationStatus.BLOW_UP
                break
            except (ArithmeticError, ValueError):
                status = SimulationStatus.UNDEFINED
                break
            states[reached] = state[:width]
            reached += 1
        return Simulation(np.array(times[:reached]), states[:reached], phase.states, status, reached - 1)

    def _start(self, x0: Samples) -> Array:
        """Return the first samples (lags + 1 x states), oldest first."""
        phase = self.phase
        if not phase.lags:
            return check_start(x0, phase.states)[None]
        start = numbers(x0, "x0")
        start = start[:, None] if start.ndim == 1 and len(phase.states) == 1 else start
        if start.shape != (phase.lags + 1, len(phase.states)) or not np.isfinite(start).all():
            expected = f"({phase.lags + 1}, {len(phase.states)}), oldest first"
            raise DataError(
                f"x0 has shape {start.shape}; this map uses {phase.lags} earlier samples: expected finite numbers, "
                f"{expected}, a column for each of {', '.join(phase.states)}."
            )
        return start

    def _times(self, t: ArrayLike | None, count: int) -> list[float]:
        if t is None:
            return [float(k) for k in range(count + 1)]
        times = numbers(t, "t")
        if times.shape != (count + 1,) or not np.isfinite(times).all():
            raise DataError(f"t has shape {times.shape}; expected the times of steps 0 to {count}, ({count + 1},).")
        return list(times.tolist())

    def _controls(self, u: Inputs, count: int) -> list[list[float]]:
        """Return the controls of every step: those of the present sample, then of those before."""
        names, lags = self.variables.controls, self.phase.lags
        if not names:
            if u is not None:
                raise DataError("u was given, but this model has no controls: leave it out.")
            return [[]] * count
        if callable(u):
            rows = np.array([np.asarray(u(float(k)), dtype=float).reshape(-1) for k in range(-lags, count)])
            table = control_rows(rows, names, count + lags)
        elif isinstance(u, tuple):
            raise DataError("u: expected one row per step, or a function of the step k; a map has no times between.")
        else:
            # A simulation has one sample more than steps; the controls of its last sample are not used.
            values: Any = by_name(u, names, "u") if is_named(u) else u
            long = values is not None and np.shape(values)[:1] == (count + lags + 1,)
            table = control_rows(values, names, count + lags + long)[: count + lags]
        if not np.isfinite(table).all():
            raise DataError("u holds missing or infinite values: fill them in first.")
        return [np.concatenate([table[k + lags - lag] for lag in range(lags + 1)]).tolist() for k in range(count)]

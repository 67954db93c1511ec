"""Forward simulation of a model of trajectories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import count

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exactsindy.data import Columns
from exactsindy.library import Variable, Variables
from exactsindy.model.codegen import scalar_function
from exactsindy.model.controls import Given, control_function
from exactsindy.model.integrate import (
    Options,
    RanAway,
    check_limit,
    check_output_times,
    check_start,
    integrate,
)
from exactsindy.model.phase import Phase
from exactsindy.model.simulation import Simulation

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Simulator:
    """The first-order system of a model with its generated right-hand side."""

    phase: Phase
    variables: Variables

    @cached_property
    def rhs(self) -> Callable[..., list[float]]:
        """Return the generated function, see `codegen.scalar_function`."""
        controls = tuple(Variable(name) for name in self.variables.controls)
        time = Variable(self.variables.time)
        return scalar_function(self.phase.sums, self.phase.variables, controls, time)

    def simulate(
        self,
        x0: Columns,
        t: ArrayLike,
        u: Given,
        interpolation: str,
        max_abs: float | None,
        options: Options,
    ) -> Simulation:
        """Return the states at the times ``t``; see `Model.simulate`."""
        start, times = check_start(x0, self.phase.names), check_output_times(t)
        control = control_function(u, self.variables.controls, times, interpolation)
        limit, rhs, calls = check_limit(max_abs, start), self.rhs, count()

        def rate(time: float, state: Array) -> list[float]:
            next(calls)
            return rhs(time, state, control, limit, RanAway)

        states, ending = integrate(rate, start, times, options)
        return Simulation(times[: len(states)], states, self.phase.names, ending, next(calls))

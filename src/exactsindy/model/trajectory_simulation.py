"""Forward simulation of a model of trajectories with SciPy's solvers, stopped early when it runs away."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.data import Samples
from exactsindy.errors import DataError, ExactSindyError
from exactsindy.library import Variable, Variables
from exactsindy.model.codegen import scalar_function
from exactsindy.model.phase import Phase
from exactsindy.model.simulation import Simulation, SimulationStatus
from exactsindy.model.simulation_inputs import (
    Inputs,
    ParameterValues,
    check_limit,
    check_output_times,
    check_start,
    check_tolerances,
    control_function,
    parameter_values,
)

Rate = Callable[[float, Array], list[float]]

METHODS = ("LSODA", "RK45", "RK23", "DOP853", "Radau", "BDF")

# Most steps between two outputs after LSODA has failed; what is reachable at all takes far fewer (tens).
_LAST_STRETCH = 2000


class RanAway(Exception):
    """A state left the allowed range; carries the time. Internal: becomes a status."""


_FAILURES = (RanAway, ArithmeticError, ValueError)


@dataclass(frozen=True)
class Options:
    """Which solver, how exact, and when it gives up."""

    method: str
    rtol: float
    atol: float
    max_steps: int

    def __post_init__(self) -> None:
        if not isinstance(self.method, str) or self.method not in METHODS:
            raise DataError(f"method={self.method!r}: expected one of {', '.join(METHODS)}.")
        check_tolerances(self.rtol, self.atol)
        if isinstance(self.max_steps, bool) or not isinstance(self.max_steps, int | np.integer):
            raise DataError(f"max_steps={self.max_steps!r}: expected an integer >= 1.")
        if not 1 <= self.max_steps < 2**31:
            raise DataError(f"max_steps={self.max_steps!r}: expected an integer from 1 to 2**31 - 1.")


@dataclass(frozen=True)
class Simulator:
    """The first-order system of a model with its generated right-hand side."""

    phase: Phase
    variables: Variables

    @cached_property
    def rhs(self) -> Callable[..., list[float]]:
        """Return the generated function, see `codegen.scalar_function`."""
        inputs = (*self.variables.controls, *self.variables.parameters)
        time = Variable(self.variables.time)
        return scalar_function(self.phase.sums, self.phase.variables, tuple(map(Variable, inputs)), time)

    def simulate(
        self,
        x0: Samples,
        t: ArrayLike,
        u: Inputs,
        interpolation: str,
        max_abs: float | None,
        options: Options,
        parameters: ParameterValues = None,
    ) -> Simulation:
        """Return the states at the times ``t``; see `Model.simulate`."""
        start, times = check_start(x0, self.phase.names), check_output_times(t)
        control = control_function(u, self.variables.controls, times, interpolation)
        constants = parameter_values(parameters, self.variables.parameters)
        if constants:
            driven = control

            def control(time: float) -> Sequence[float]:
                return (*driven(time), *constants)

        limit, rhs, calls = check_limit(max_abs, start), self.rhs, count()

        def rate(time: float, state: Array) -> list[float]:
            next(calls)
            return rhs(time, state, control, limit, RanAway)

        states, status = integrate(rate, start, times, options)
        return Simulation(times[: len(states)], states, self.phase.names, status, next(calls))


def integrate(rate: Rate, start: Array, times: Array, options: Options) -> tuple[Array, SimulationStatus]:
    """Return the states at the times that were reached, the first being the start, and how it ended."""
    states = np.empty((len(times), len(start)))
    states[0] = start
    try:
        rate(float(times[0]), start)
    except _FAILURES as error:
        return states[:1], _status(error)
    if options.method == "LSODA":
        reached, failure = _march_lsoda(rate, states, times, options)
        if failure is not None:
            # LSODA looks beyond the time it is asked for, and does not try a smaller step where a term is
            # undefined; so the last stretch is left to a method that does.
            careful = replace(options, method="DOP853", max_steps=min(options.max_steps, _LAST_STRETCH))
            reached, _ = _march_steps(rate, states, times, reached, careful)
    else:
        reached, failure = _march_steps(rate, states, times, 1, options)
    if reached == len(times):
        return states, SimulationStatus.COMPLETE
    return states[:reached], SimulationStatus.TOO_MANY_STEPS if failure is None else failure


def _status(error: Exception) -> SimulationStatus:
    if isinstance(error, ExactSindyError):  # a user's function failed: that is not a status
        raise error
    return SimulationStatus.BLOW_UP if isinstance(error, RanAway | OverflowError) else SimulationStatus.UNDEFINED


def _march_lsoda(rate: Rate, states: Array, times: Array, options: Options) -> tuple[int, SimulationStatus | None]:
    """Fill ``states``; return how many are filled and what stopped it, ``None`` for the end or small steps.

    `ode` is used because it hands over to compiled code from one output to the next; `solve_ivp` returns to
    Python after every step and is several times slower.
    """
    from scipy.integrate import ode  # loaded when needed: importing it costs more than numpy

    solver = ode(rate).set_integrator("lsoda", rtol=options.rtol, atol=options.atol, nsteps=options.max_steps)
    solver.set_initial_value(states[0], times[0])
    reached = 1
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?i).*lsoda")  # said by the status instead
        for t in times[1:].tolist():
            try:
                states[reached] = solver.integrate(t)
            except _FAILURES as error:
                return reached, _status(error)
            if not solver.successful():
                break
            reached += 1
    return reached, None


def _march_steps(
    rate: Rate, states: Array, times: Array, reached: int, options: Options
) -> tuple[int, SimulationStatus | None]:
    """As `_march_lsoda`, from the last filled state, by solvers written in Python: they shrink bad steps."""
    import scipy.integrate

    failures: list[SimulationStatus] = []  # of the step under way

    def careful(t: float, state: Array) -> Array | list[float]:
        try:
            return rate(t, state)
        except _FAILURES as error:
            failures.append(_status(error))
            return np.full(len(state), np.nan)

    kind, first = getattr(scipy.integrate, options.method), reached - 1
    with np.errstate(all="ignore"):
        solver = kind(careful, times[first], states[first], times[-1], rtol=options.rtol, atol=options.atol)
        steps = 0
        while solver.status == "running" and steps < options.max_steps:
            failures.clear()
            try:
                solver.step()
            except ExactSindyError:
                raise
            except (ValueError, np.linalg.LinAlgError):  # implicit solvers: a Jacobian that is not a number
                if not failures:
                    raise
                break
            if solver.status == "failed":
                break
            steps += 1
            stop = int(np.searchsorted(times, solver.t, side="right"))
            if stop > reached:
                states[reached:stop] = solver.dense_output()(times[reached:stop]).T
                reached, steps = stop, 0
    return reached, failures[-1] if failures else None

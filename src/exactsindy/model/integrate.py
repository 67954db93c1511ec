"""Integration of a model of trajectories with SciPy's solvers, stopped early when it runs away."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exactsindy.data import Columns, by_name, is_labelled_row, is_named, numbers
from exactsindy.errors import DataError, ExactSindyError
from exactsindy.model.simulation import SimulationStatus

Array = NDArray[np.float64]
Rate = Callable[[float, Array], list[float]]

METHODS = ("LSODA", "RK45", "RK23", "DOP853", "Radau", "BDF")

# A finite-time singularity passes this a hair before it; slower growth has left any physical range.
_RANGE = 1e12


# Steps spent on what LSODA left over; what is reachable at all takes far fewer.
_LAST_STRETCH = 2000


class RanAway(Exception):
    """A state left the allowed range; carries the time. Internal: becomes a status."""


_FAILURES = (RanAway, ArithmeticError, ValueError)


def check_start(x0: Columns, names: tuple[str, ...]) -> Array:
    """Return the initial states, by name out of a mapping or a frame of one row, or say what they should be."""
    if is_named(x0) or is_labelled_row(x0):
        table = by_name(x0, names, "x0")
        x0 = table[0] if len(table) == 1 < table.ndim else table
    values = numbers(x0, "x0")
    start = np.atleast_1d(values)
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
    if not max_abs > np.abs(start).max(initial=0.0):
        raise DataError(
            f"max_abs={max_abs!r}: the simulation starts at {np.abs(start).max():g}; expected a larger number."
        )
    return float(max_abs)


@dataclass(frozen=True)
class Options:
    """Which solver, how exact, and when it gives up."""

    method: str
    rtol: float
    atol: float
    max_steps: int

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise DataError(f"method={self.method!r}: expected one of {', '.join(METHODS)}.")
        check_tolerances(self.rtol, self.atol)


def check_tolerances(rtol: float, atol: float) -> None:
    """Refuse tolerances no solver can meet."""
    if not (0 < rtol < 1 and 0 <= atol < np.inf):
        raise DataError(f"rtol={rtol!r}, atol={atol!r}: expected 0 < rtol < 1 and atol >= 0.")


def integrate(rate: Rate, start: Array, times: Array, options: Options) -> tuple[Array, SimulationStatus]:
    """Return the states at the times that were reached, the first being the start, and how it ended."""
    states = np.empty((len(times), len(start)))
    states[0] = start
    try:
        rate(float(times[0]), start)
    except _FAILURES as error:
        return states[:1], _ending(error)
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


def _ending(error: Exception) -> SimulationStatus:
    if isinstance(error, ExactSindyError):  # a user's function failed: that is not a way to end
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
                return reached, _ending(error)
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
            failures.append(_ending(error))
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

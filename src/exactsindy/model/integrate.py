"""Integration of a model of trajectories with SciPy's solvers, stopped early when it runs away."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exactsindy.errors import DataError, ExactSindyError
from exactsindy.model.simulation import Ending

Array = NDArray[np.float64]
Rate = Callable[[float, Array], list[float]]

METHODS = ("LSODA", "RK45", "RK23", "DOP853", "Radau", "BDF")

# A finite-time singularity passes this a hair before it; slower growth has left any physical range.
_RANGE = 1e12


class RanAway(Exception):
    """A state left the allowed range; carries the time. Internal: becomes a status."""


def check_start(x0: ArrayLike, names: tuple[str, ...]) -> Array:
    """Return the initial states, or say what they should be."""
    start = np.atleast_1d(np.asarray(x0, dtype=float))
    if start.shape != (len(names),):
        raise DataError(
            f"x0 has shape {np.shape(x0)}; expected {len(names)} numbers, one for each of {', '.join(names)}."
        )
    if not np.isfinite(start).all():
        raise DataError(f"x0 is {start.tolist()}: expected finite numbers.")
    return start


def check_output_times(t: ArrayLike) -> Array:
    """Return the times of a simulation."""
    times = np.asarray(t, dtype=float)
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


def integrate(rate: Rate, start: Array, times: Array, options: Options) -> tuple[Array, Ending]:
    """Return the states at the times that were reached, the first being the start, and how it ended."""
    states = np.empty((len(times), len(start)))
    states[0] = start
    march = _march_lsoda if options.method == "LSODA" else _march_scipy
    reached = [1]
    try:
        march(rate, states, times, reached, options)
    except ExactSindyError:
        raise
    except (RanAway, OverflowError):
        return states[: reached[0]], Ending.BLOW_UP
    except (ValueError, ZeroDivisionError):
        return states[: reached[0]], Ending.UNDEFINED
    complete = reached[0] == len(times)
    return states[: reached[0]], Ending.COMPLETE if complete else Ending.TOO_MANY_STEPS


def _march_lsoda(rate: Rate, states: Array, times: Array, reached: list[int], options: Options) -> None:
    """Fill ``states``, counting in ``reached``, which survives an exception in ``rate``.

    `ode` is used because it hands over to compiled code from one output to the next; `solve_ivp` returns to
    Python after every step and is several times slower.
    """
    from scipy.integrate import ode  # loaded when needed: importing it costs more than numpy

    solver = ode(rate).set_integrator("lsoda", rtol=options.rtol, atol=options.atol, nsteps=options.max_steps)
    solver.set_initial_value(states[0], times[0])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="(?i).*lsoda")  # said by the status instead
        for k, t in enumerate(times[1:].tolist(), start=1):
            states[k] = solver.integrate(t)
            if not solver.successful():
                return
            reached[0] = k + 1


def _march_scipy(rate: Rate, states: Array, times: Array, reached: list[int], options: Options) -> None:
    """As `_march_lsoda`, for the solvers written in Python; output between steps by their interpolants."""
    import scipy.integrate

    kind = getattr(scipy.integrate, options.method)
    solver = kind(rate, times[0], states[0], times[-1], rtol=options.rtol, atol=options.atol)
    steps_here = 0
    while solver.status == "running" and steps_here < options.max_steps:
        solver.step()
        steps_here += 1
        if solver.status == "failed":
            return
        first = reached[0]
        last = int(np.searchsorted(times, solver.t, side="right"))
        if last > first:
            states[first:last] = solver.dense_output()(times[first:last]).T
            reached[0], steps_here = last, 0

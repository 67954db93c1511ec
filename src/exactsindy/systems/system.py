"""A known dynamical system: its equations, its true coefficients, how its experiments start."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.errors import DataError, nearest

Entry = TypeVar("Entry")
# The published experiments use numpy's legacy generator; new work may pass a Generator.
Rng = np.random.RandomState | np.random.Generator


@dataclass(frozen=True)
class System:
    """An ordinary differential equation ``x' = f(x)`` whose coefficients are known.

    Parameters
    ----------
    name
        Key in `SYSTEMS`.
    states
        Names of the state variables.
    parameters
        Values of the named constants.
    right_hand_side
        ``f``, vectorised: states along the last axis, ``(..., d) -> (..., d)``.
    sampler
        Draws ``n`` initial conditions, ``(rng, n) -> (n, d)``, in the order of the published experiments.
    truth
        Coefficients by equation and term, ``{"x'": {"x": -10.0, "y": 10.0}, ...}``. Terms are named as the
        polynomial library names them: factors in the order of the states, ``"x y"``, ``"x^2 y"``, ``"1"``.

    Examples
    --------
    >>> import numpy as np
    >>> from exactsindy.systems import SYSTEMS
    >>> lorenz = SYSTEMS["lorenz"]
    >>> lorenz.truth["x'"]
    {'x': -10.0, 'y': 10.0}
    >>> x0 = lorenz.initial_condition(np.random.RandomState(1))
    >>> lorenz.simulate(x0, np.arange(0, 1, 0.002)).shape
    (500, 3)
    """

    name: str
    states: tuple[str, ...]
    parameters: Mapping[str, float]
    right_hand_side: Callable[[Array], Array]
    sampler: Callable[[Rng, int], Array]
    truth: Mapping[str, Mapping[str, float]]

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the equations, one per state."""
        return tuple(self.truth)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of true terms of each equation."""
        return tuple(len(terms) for terms in self.truth.values())

    def initial_condition(self, rng: Rng) -> Array:
        """Draw one initial condition."""
        return np.asarray(self.initial_conditions(rng, 1)[0])

    def initial_conditions(self, rng: Rng, count: int) -> Array:
        """Draw ``count`` initial conditions, shape ``(count, d)``.

        ``np.random.RandomState(trial)`` gives those of the published trial.
        """
        return self.sampler(rng, count)

    def simulate(self, x0: ArrayLike, t: ArrayLike) -> Array:
        """Integrate from ``x0`` at ``t[0]`` and return the states at the times ``t``, shape ``(len(t), d)``.

        LSODA with relative and absolute tolerance 1e-12, as in the published experiments.
        """
        start, times = np.asarray(x0, dtype=np.float64), np.asarray(t, dtype=np.float64)
        if start.shape != (len(self.states),) or not np.isfinite(start).all():
            states = f"one for each of the states {', '.join(self.states)}."
            raise DataError(f"x0: got shape {start.shape}; expected {len(self.states)} finite numbers, {states}")
        if times.ndim != 1 or times.size < 2 or not np.isfinite(times).all() or not (np.diff(times) > 0).all():
            raise DataError("t: expected at least two increasing finite times, e.g. np.arange(0, 10, 0.002).")
        return integrate(self.right_hand_side, start, times)

    def coefficients(self, terms: Sequence[str], targets: Sequence[str] | None = None) -> Array:
        """Return the true coefficients over a library's term names, shape ``(m, D)``.

        ``targets`` says which equations, in which order; all by default. A library that lacks a true term is refused.
        """
        column = {name: index for index, name in enumerate(terms)}
        chosen = self.targets if targets is None else tuple(targets)
        coefficients = np.zeros((len(chosen), len(terms)))
        for row, target in enumerate(chosen):
            if target not in self.truth:
                known = f"expected some of {self.targets}"
                raise DataError(f"targets: {target!r} is not an equation of {self.name}; {known}.")
            missing = [name for name in self.truth[target] if name not in column]
            if missing:
                where = f"which equation {target} of {self.name} contains; use a larger library."
                raise DataError(f"terms: the library lacks {missing}, {where}")
            for name, value in self.truth[target].items():
                coefficients[row, column[name]] = value
        return coefficients


def integrate(right_hand_side: Callable[[Array], Array], x0: Array, times: Array) -> Array:
    """Integrate ``x' = f(x)`` with LSODA at tolerance 1e-12; rows are times."""
    from scipy.integrate import solve_ivp  # loaded when needed: importing scipy.integrate costs more than numpy

    limit = 1e20 * (1 + x0 @ x0)

    def rate(t: float, x: Array) -> Array:
        # LSODA meets a finite-time singularity with ever smaller steps and would never return.
        if not x @ x < limit:
            cure = "start elsewhere or simulate for a shorter time."
            raise DataError(f"x0: the trajectory from {x0.tolist()} runs away near t = {t:.6g}; {cure}")
        return right_hand_side(x)

    span = (times[0], times[-1])
    solution = solve_ivp(rate, span, x0, method="LSODA", t_eval=times, rtol=1e-12, atol=1e-12)
    if not solution.success:
        raise DataError(
            f"x0: the integration from {x0.tolist()} stopped before t = {times[-1]:g} ({solution.message}); "
            "start elsewhere or simulate for a shorter time."
        )
    return np.ascontiguousarray(solution.y.T, dtype=np.float64)


def entry_named(name: str, catalogue: Mapping[str, Entry], kind: str) -> Entry:
    """Return the entry of that name; case, blanks and hyphens do not matter. The error lists the nearest names."""
    key = name.strip().lower().replace(" ", "_").replace("-", "_")
    if key in catalogue:
        return catalogue[key]
    raise DataError(f"name: there is no {kind} {name!r}. {nearest(key, catalogue)}")

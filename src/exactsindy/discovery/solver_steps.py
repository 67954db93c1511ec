"""Samples that an ODE solver interpolated between its steps: its own steps, and the exact rates there, are read off.

An explicit Runge-Kutta pair of order 5 (`solve_ivp` by default, `ode45`) returns polynomials of degree 4 between its
steps. Where two of them meet, their common slope is the right-hand side at that point, to rounding, however coarse the
tolerance was. Between the steps, and from one to the next, errors of the size of the tolerance look like missing terms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.polynomial import polynomial

from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.data import Field, Notice, Trajectories, Trajectory
from exactsindy.discovery.families.equation_rows import EquationRows, target_square
from exactsindy.discovery.read import Measurement
from exactsindy.discovery.recognise import DEGREE, on_polynomials
from exactsindy.discovery.result import Discovery
from exactsindy.library import Term
from exactsindy.selection import Choice
from exactsindy.solver import refit

# Steps that are needed of a trajectory, and beyond twice the number of terms of an equation: rows that the terms of
# another law would have to meet by chance.
_LEAST_STEPS, _SPARE = 3, 6
# Share of the rates that the terms of the law leave at most at the steps: rounding, some 1e-12.
_EXACT = 1e-8
# Iterations for the time at which two polynomials meet, and how far they may be apart there, and their slopes times
# the length of a step, as a share of the states.
_ITERATIONS, _APART = 30, 1e-9
# Rounding of a slope times the length of a step, as a share of the states.
_ROUNDING = 1e-14
# Samples of a long record that are looked at together.
_MOST = 200_000


@dataclass(frozen=True)
class _Stretch:
    """Samples on one polynomial: their first and last place, and its coefficients (degree x states) in (t - t0) / h."""

    first: int
    last: int
    origin: float
    length: float
    coef: Array

    def at(self, time: float, order: int = 0) -> Array:
        """Return the polynomials of all states at a time, or their derivatives of an order."""
        coef = polynomial.polyder(self.coef, order) if order else self.coef
        values = polynomial.polyval((time - self.origin) / self.length, coef)
        return np.asarray(values) / self.length**order


def at_solver_steps(measured: Measurement) -> Measurement | None:
    """Return the states and exact rates at the steps of the solver; None if the samples do not show enough of them."""
    data = measured.used
    if isinstance(data, Field) or data.control_names or data.rate_names or measured.source is not None:
        return None
    if any(piece.derivatives is not None for piece in data) or sum(map(len, data)) > _MOST:
        return None
    found = [steps_of(piece) for piece in data]
    count = sum(len(piece) for piece in found if piece is not None)
    if count < _SPARE + 2:
        return None
    text = f"The samples are pieces of polynomials of time, as solve_ivp returns them between its steps. At {count} of"
    text += " these steps, where the slope is the right-hand side to rounding, the equations were found"
    cure = "To use all samples, simulate again with rtol=1e-9, atol=1e-9."
    notice = Notice("simulated", f"{text}: errors of the simulation do not enter. {cure}")
    kept = replace(data, members=tuple(piece for piece in found if piece is not None))
    return replace(measured, used=kept, notices=(*measured.notices, notice))


def left_at_steps(found: Discovery, steps: Measurement) -> dict[str, float]:
    """Return the share of the rates at the steps that the terms found leave, by equation: that of the law is rounding.

    Equations with so many terms that too few steps are left to tell are not there.
    """
    data = steps.used
    terms = {term.name: term for term in found.solution.problem.terms if isinstance(term, Term)}
    assert isinstance(data, Trajectories)
    shares: dict[str, float] = {}
    for name, support in found.solution.terms.items():
        if (
            not terms.keys() >= set(support)
            or data.n_samples < 2 * len(support) + _SPARE
            or name not in {target.name for target in data.targets}
        ):
            continue
        rows = EquationRows.of_labels(data, name)
        # A column of a term that is not there carries the target where there is no term.
        problem = rows.problem([terms[term] for term in support] or list(terms.values())[:1])
        whole = target_square(problem)
        left = refit(problem, [range(len(support))]).objective[0] if support else whole
        shares[name] = math.sqrt(float(left) / whole) if whole else 0.0
    return shares


def exact_equations(found: Discovery, steps: Measurement) -> list[str]:
    """Return the equations whose terms leave nothing but rounding of the rates at the steps."""
    return [name for name, share in left_at_steps(found, steps).items() if share < _EXACT]


def withheld_at_steps(found: Discovery, steps: Measurement) -> Discovery:
    """Return an answer without confidence in equations whose terms do not give the rates at the steps of the solver."""
    shares = left_at_steps(found, steps)
    choices = tuple(_withheld(choice, shares.get(choice.equation, 0.0)) for choice in found.selection.choices)
    notices = tuple(notice for notice in found.warnings if notice.kind != "derivatives")  # none was measured
    return replace(found, selection=replace(found.selection, choices=choices), warnings=notices)


def _withheld(choice: Choice, share: float) -> Choice:
    if share < _EXACT or choice.withheld or math.isnan(choice.confidence):
        return choice
    left = f"{100 * share:.1g} %" if share < 0.995 else "all"
    text = f"these terms leave {left} of the rates at the steps of the solver, which the samples show exactly"
    return replace(choice, confidence=math.nan, withheld=text)


def steps_of(piece: Trajectory) -> Trajectory | None:
    """Return a trajectory at the steps of its solver with the rates there; None if they do not show."""
    stretches = [_fitted(piece, first, last) for first, last in _runs(on_polynomials(piece.times, piece.states))]
    size = np.maximum(np.abs(piece.states).max(axis=0), np.finfo(float).tiny)
    times, states, rates = [], [], []
    for before, after in pairwise(stretches):
        go_on()
        time = _meeting(before, after, piece.times, size)
        if time is not None:
            times.append(time)
            states.append((before.at(time) + after.at(time)) / 2)
            rates.append((before.at(time, 1) + after.at(time, 1)) / 2)
    if len(times) < _LEAST_STEPS:
        return None
    return replace(
        piece,
        times=np.array(times),
        states=np.array(states),
        controls=np.empty((len(times), 0)),
        derivatives=np.array(rates),
    )


def _runs(inside: Array) -> list[tuple[int, int]]:
    """Return first and last sample of every stretch on one polynomial, from whether each window is on one."""
    borders = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(int)))
    return [(int(a), int(b) + DEGREE) for a, b in zip(borders[::2], borders[1::2], strict=True)]


def _fitted(piece: Trajectory, first: int, last: int) -> _Stretch:
    times, states = piece.times[first : last + 1], piece.states[first : last + 1]
    origin, length = float(times[0] + times[-1]) / 2, float(times[-1] - times[0]) / 2
    return _Stretch(
        first, last, origin, length, np.asarray(polynomial.polyfit((times - origin) / length, states, DEGREE), float)
    )


def _meeting(before: _Stretch, after: _Stretch, times: Array, size: Array) -> float | None:
    """Return the time between two stretches at which values and slopes agree; None if there is none.

    Then a shorter step lies between the two, or they bend so alike there that rounding hides where they meet.
    """
    low, high = sorted((float(times[before.last]), float(times[after.first])))
    span = max(before.length, after.length)
    low, high = low - 1e-6 * span, high + 1e-6 * span

    def slopes(time: float) -> Array:
        return np.asarray((after.at(time, 1) - before.at(time, 1)) / size)

    time = min(np.linspace(low, high, 9), key=lambda t: float(slopes(t) @ slopes(t)))
    for _ in range(_ITERATIONS):
        bend = (after.at(time, 2) - before.at(time, 2)) / size
        square = float(bend @ bend)
        if not square:
            return None
        shift = float(slopes(time) @ bend) / square
        time -= shift
        if not low <= time <= high:
            return None
        if abs(shift) < 1e-14 * span:
            break
    gap = np.abs(after.at(time) - before.at(time)) / size
    kink = np.abs(slopes(time)) * span
    # How far the time may be off, and the rates with it.
    blur = max(float(kink.max()), _ROUNDING) / span / math.sqrt(square)
    wrong = blur * np.abs(after.at(time, 2)) / size * span
    return float(time) if max(gap.max(), kink.max()) < _APART and wrong.max() < _APART else None

"""Say what to measure next: a start from which models that the data cannot tell apart predict different motions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Field, Notice, Trajectories
from exactsindy.discovery.alternatives import other_support
from exactsindy.discovery.read import Measurement
from exactsindy.errors import DataError
from exactsindy.model import Model
from exactsindy.solver import Deadline, Member, Pool, Solution

# Starts that are tried, in the box of the data made larger by this share on every side, and rivals that are compared.
_STARTS, _LARGER, _RIVALS = 32, 0.25, 3
# A state that is never below zero by more than so many times its noise is taken for an amount.
_NOISE = 4.0
# Steps of the simulations, and how many times as large as the data the motion may become.
_STEPS, _AWAY = 200, 3.0
# Root mean square of the differences, in units of the noise, that tells two models apart.
_APART = 2.0
# Share of the starts from which no motion may run away; with fewer the models are no models of experiments.
_BOUNDED = 0.25
# How often the duration is halved where too many motions run away.
_HALVINGS = 3
# Seconds below which nothing is simulated, and most states.
_LEAST_SECONDS, _MOST_STATES = 0.5, 12


def start_notices(
    measured: Measurement,
    solution: Solution,
    pool: Pool,
    alike: Mapping[str, Sequence[Member]],
    clock: Deadline | None = None,
) -> Iterator[Notice]:
    """Yield the start from which the predictions of supports that are alike differ most, one for all equations or each.

    The chosen model and each rival are simulated from 32 starts for a period of the motion (the duration of the longest
    trajectory if there is none). Nothing is said for fields, inputs, second derivatives, laws that depend on time, or
    when the time limit is near.
    """
    data = measured.used
    if isinstance(data, Field) or not alike or not _can_be_simulated(data, solution):
        return
    try:
        noise, duration = measured.smoothed.noise, _duration(measured, data)
    except DataError:  # too short to smooth
        return
    low, high = _box(data, noise)
    starts = low + (high - low) * _spread_points(_STARTS, len(low))
    limit = np.maximum(np.abs(low), np.abs(high)) * _AWAY
    model = Model.from_solution(solution, variables=data)
    own = motions(model, starts, duration, limit)
    for _ in range(_HALVINGS):  # a model that runs away is compared for a shorter time
        if np.isfinite(own[-1]).all(axis=1).mean() >= _BOUNDED:
            break
        duration /= 2
        own = motions(model, starts, duration, limit)
    apart: dict[str, Array] = {}
    for target, members in alike.items():
        if clock is not None and clock.left() < _LEAST_SECONDS:
            return
        others = [
            motions(Model.from_solution(rival, variables=data), starts, duration, limit)
            for rival in _rivals(solution, pool, target, members)
        ]
        distances = np.min([differences(own, other, noise) for other in others], axis=0)
        if np.isfinite(distances).mean() >= _BOUNDED:
            apart[target] = distances
    if not apart:
        return
    together = np.min(list(apart.values()), axis=0)
    groups = {", ".join(apart): together} if np.nanmax(together) >= _APART else apart
    for targets, distances in groups.items():
        yield _notice(targets, data.state_names, starts, distances, duration, high - low)


def _rivals(solution: Solution, pool: Pool, target: str, members: Sequence[Member]) -> Iterator[Solution]:
    """Yield the fits of the first supports that are alike and not the chosen one."""
    chosen = tuple(solution.support[solution.problem.target_names.index(target)])
    ranks = [rank for rank, member in enumerate(pool[target], 1) if member in members and member.support != chosen]
    for rank in ranks[:_RIVALS]:
        yield other_support(pool, solution, {target: rank})


def _notice(targets: str, names: Sequence[str], starts: Array, apart: Array, duration: float, width: Array) -> Notice:
    best = int(np.nanargmax(apart))
    if apart[best] < _APART:
        text = f"{targets}: no start in or near the range of the data tells these supports apart within {duration:.3g}"
        return Notice("next experiment", f"{text} in time. Measure longer or more precisely.", targets)
    place = ", ".join(f"{n} = {_rounded(v, w)}" for n, v, w in zip(names, starts[best], width, strict=True))
    text = f"{targets}: a start near {place} would tell these supports apart"
    size = "over 100" if apart[best] > 100 else f"{apart[best]:.2g}"
    why = f"within {duration:.3g} in time their predictions then differ by {size} times the noise"
    return Notice("next experiment", f"{text}: {why}.", targets)


def motions(model: Model, starts: Array, duration: float, limit: Array) -> Array:
    """Return the states (steps + 1 x starts x states) by Runge-Kutta's method; NaN from where a motion runs away."""
    step = duration / _STEPS
    states = starts.copy()
    history = [states]
    with np.errstate(all="ignore"):
        for _ in range(_STEPS):
            first = model.predict(states)
            second = model.predict(states + step / 2 * first)
            third = model.predict(states + step / 2 * second)
            fourth = model.predict(states + step * third)
            states = states + step / 6 * (first + 2 * second + 2 * third + fourth)
            away = np.any(~(np.abs(states) <= limit), axis=1, keepdims=True)
            states = np.where(away, np.nan, states)
            history.append(states)
    return np.array(history)


def differences(first: Array, second: Array, noise: Array) -> Array:
    """Return for each start the root mean square difference in units of the noise, until the second runs away.

    NaN where the first motion runs away: nobody should start there.
    """
    squares = np.mean(((first - second) / noise) ** 2, axis=2)
    known = np.isfinite(squares)
    mean = np.where(known, squares, 0.0).sum(axis=0) / known.sum(axis=0)
    return np.asarray(np.sqrt(np.where(np.isfinite(first[-1]).all(axis=1), mean, np.nan)))


def _can_be_simulated(data: Trajectories, solution: Solution) -> bool:
    """Return True if every state has an equation of first order, without inputs and time."""
    whole = tuple(target.state for target in data.targets) == data.state_names
    first = all(target.order == 1 for target in data.targets)
    used = {name for terms in solution.terms.values() for name in terms}
    timed = any(data.time_name in name for name in used)
    return (
        whole
        and first
        and not timed
        and not data.control_names
        and not data.parameter_names
        and len(data.state_names) <= _MOST_STATES
    )


def _duration(measured: Measurement, data: Trajectories) -> float:
    """Return a period of the motion, or the duration of the longest trajectory if that is shorter."""
    longest = max(float(member.times[-1] - member.times[0]) for member in data)
    step = float(np.median(np.concatenate([np.diff(member.times) for member in data])))
    period = measured.sampling.per_period * step
    return min(longest, period) if math.isfinite(period) else longest


def _box(data: Trajectories, noise: Array) -> tuple[Array, Array]:
    """Return the corners of the box of the data, made larger; what is never negative beyond noise stays so."""
    states = np.vstack([member.states for member in data])
    low, high = states.min(axis=0), states.max(axis=0)
    width = high - low
    positive = (low > -_NOISE * noise) & (high > 0)
    return np.where(positive, np.maximum(low - _LARGER * width, 0.0), low - _LARGER * width), high + _LARGER * width


def _spread_points(count: int, dimensions: int) -> Array:
    """Return points that fill the unit cube evenly: multiples of irrational steps (the R sequence of M. Roberts)."""
    ratio = 2.0
    for _ in range(50):  # the root of r^(d+1) = r + 1
        ratio = (1.0 + ratio) ** (1.0 / (dimensions + 1))
    steps = ratio ** -np.arange(1.0, dimensions + 1)
    return np.asarray((0.5 + np.arange(1, count + 1)[:, None] * steps) % 1.0)


def _rounded(value: float, width: float) -> str:
    """Return a number rounded to a few per cent of the width of the data."""
    unit = 10.0 ** math.floor(math.log10(width / 10)) if width > 0 else 1.0
    return f"{round(value / unit) * unit:.6g}"

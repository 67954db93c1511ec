"""Measured against simulated: the model run from where the measurement began."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Field, Trajectories, Trajectory
from exactsindy.errors import ExactSindyError
from exactsindy.forms import phase_space, smooth, with_rates
from exactsindy.model import FieldSimulation, Model, SimulationStatus, lags_of
from exactsindy.plots.between_ends import can_simulate, simulate_between_ends

# A simulated field with more cells than this costs minutes.
_CELLS = 20_000_000
# How far, in units of the spread of the field, a simulation may be from the measurement to be near it.
_NEAR = 0.4
# What is to be known of a simulation on an axis that is not periodic.
_BETWEEN_ENDS = "Simulated from the first time on, while the points at the ends of the axis follow the measurement."
# Points that make a line look smooth.
_POINTS = 600


@dataclass(frozen=True, eq=False)
class Replay:
    """One trajectory: what was measured, its smooth, and the model started from the first smoothed sample.

    ``simulated`` is at ``simulated_times``, which are finer where samples are few, and end early if the model ran away;
    both are empty if it could not be simulated, and ``problem`` says why. ``rates`` are slopes of the smooth,
    ``predicted`` the right-hand sides there; both are for ``rate_names``.
    """

    label: str
    time_name: str
    names: tuple[str, ...]
    times: Array
    measured: Array
    simulated_times: Array
    simulated: Array
    problem: str
    rate_names: tuple[str, ...]
    rates: Array
    predicted: Array


def replay(model: Model, data: Trajectories, *, most: int = 4) -> tuple[Replay, ...]:
    """Return the first ``most`` trajectories beside what the model makes of them."""
    names = data.state_names
    if model.is_map:
        return tuple(_iterated(model, piece, i) for i, piece in enumerate(data.members[:most]))
    try:
        smoothed = smooth(data)
        pairs = list(zip(smoothed.pieces, smoothed.values, strict=True))
        if data.rate_names:  # x' beside x, both smooth
            names = (*names, *data.rate_names)
            pairs = list(zip(smoothed.pieces, phase_space(smoothed, data.rate_names).values, strict=True))
    except ExactSindyError:  # too short to be smoothed
        pairs = [(member, member.states) for member in data]
    return tuple(_one(model, piece, values, names, i, data.time_name) for i, (piece, values) in enumerate(pairs[:most]))


def _one(
    model: Model, piece: Trajectory, smooth_states: Array, names: tuple[str, ...], index: int, time_name: str
) -> Replay:
    times, controls = piece.times, piece.controls if piece.control_names else None
    slopes = np.gradient(smooth_states, times, axis=0, edge_order=1)
    simulated, problem = _simulate(model, piece, smooth_states, names)
    known = [row for row in model.rows if row.target.integral in names]
    columns = [names.index(row.target.integral) for row in known]
    try:
        values = dict(zip(names, smooth_states.T, strict=True))
        every = model.predict(values, controls, t=times, parameters=model.parameters_of(piece))
        predicted = every[:, [model.rows.index(row) for row in known]]
    except ExactSindyError:
        predicted = np.full((len(times), len(known)), np.nan)
    return Replay(
        piece.label or str(index),
        time_name,
        piece.names,
        times,
        piece.states,
        *simulated,
        problem,
        tuple(row.name for row in known),
        slopes[:, columns],
        predicted,
    )


def _iterated(model: Model, piece: Trajectory, index: int) -> Replay:
    """Return a trajectory of a map beside the map iterated from its first samples."""
    lags, nothing = lags_of(model.rows), np.zeros((0, len(piece.names)))
    limit = 100 * max(float(np.abs(piece.states).max()), 1e-300)
    start = piece.states[: lags + 1][:, [piece.names.index(name) for name in model.state_names]]
    problem, steps, states = "", np.zeros(0), nothing
    try:
        run = model.iterate(
            start if lags else start[0],
            len(piece) - 1 - lags,
            u=piece.controls if piece.control_names else None,
            t=piece.times[lags:],
            parameters=model.parameters_of(piece),
            max_abs=limit,
        )
        steps, states = np.arange(lags, lags + len(run.t), dtype=float), run.x
        problem = "" if run.success else run.status.value
    except ExactSindyError as error:
        problem = str(error)
    none = np.zeros((len(piece), 0))
    every = np.arange(len(piece), dtype=float)
    return Replay(
        piece.label or str(index), "k", piece.names, every, piece.states, steps, states, problem, (), none, none
    )


def _simulate(
    model: Model, piece: Trajectory, states: Array, names: tuple[str, ...]
) -> tuple[tuple[Array, Array], str]:
    """Return times and states (n, d), cut where the model ran away, and what went wrong."""
    nothing = np.zeros(0), np.zeros((0, len(piece.names)))
    controls = (piece.times, piece.controls) if piece.control_names else None
    limit = 100 * max(float(np.abs(piece.states).max()), 1e-300)
    try:
        unknown = next((name for name in model.phase_names if name not in names), None)
        if unknown is not None:
            return nothing, f"The start of {unknown} is not known."
        start = [states[0, names.index(name)] for name in model.phase_names]
        constants = model.parameters_of(piece)
        run = model.simulate(
            start, _finer(piece.times), u=controls, parameters=constants, rtol=1e-8, atol=1e-10, max_abs=limit
        )
    except ExactSindyError as error:
        return nothing, str(error)
    order = [run.names.index(name) for name in piece.names]
    return (run.t, run.x[:, order]), "" if run.status is SimulationStatus.COMPLETE else run.status.value


def _finer(times: Array) -> Array:
    """Return the times with as many between them as a smooth line needs."""
    parts = -(-_POINTS // len(times))
    places = np.arange((len(times) - 1) * parts + 1) / parts
    return np.interp(places, np.arange(len(times)), times)


def _deviation(run: FieldSimulation, data: Field) -> str:
    """Return how long a simulation stays near the measurement, and why it may not; empty if it always does."""
    for name in data.names:
        apart = np.sqrt(np.mean((run[name] - data[name]) ** 2, axis=0)) / max(float(np.std(data[name])), 1e-300)
        if (apart > _NEAR).any():
            until = f"{run.t[int(np.argmax(apart > _NEAR))]:.3g}"
            why = "the law is wrong, or noise of the first field grows because the field is unstable."
            return f"{name} stays within {100 * _NEAR:.0f} % of its spread until {data.time_name} = {until}: {why}"
    return ""


def replay_field(model: Model, data: Field) -> tuple[FieldSimulation | None, str]:
    """Return the field simulated from its first time, or ``None``, and what to say about it."""
    if data.n_samples > _CELLS or data.missing:
        return None, "The field is too large, or misses cells, to be simulated for a report."
    if can_simulate(model, data):
        try:
            run = simulate_between_ends(model, data)
        except ExactSindyError as error:
            return None, str(error)
        return run, f"{_BETWEEN_ENDS} {_deviation(run, data)}".strip() if run.success else run.status.value
    if any(period is None for period in data.periods):
        return None, "Of fields that are not periodic only those on one axis, of first order in time, are simulated."
    try:
        run = model.simulate_field(with_rates(data), rtol=1e-4, atol=1e-6, max_steps=20_000)
    except ExactSindyError as error:
        return None, str(error)
    return run, "" if run.success else run.status.value

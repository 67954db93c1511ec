"""How well a model explains measured derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.data import Field, Samples, Target, Trajectories, Trajectory, by_name, is_named, rate_names
from exactsindy.differentiation import FiniteDifference, PenalisedSpline
from exactsindy.errors import DataError
from exactsindy.library import Variables
from exactsindy.model.equation import Equation, parse_target
from exactsindy.model.field_grid import right_hand_sides
from exactsindy.model.map_scores import map_predictions
from exactsindy.model.sampled import Sampled
from exactsindy.model.simulation_inputs import ParameterValues, parameter_values

Differentiation = Callable[..., Any]
Data = Trajectories | Trajectory | Field | Samples

# Order of the differences of clean data: the error of the usual second order would count against the model.
_ORDER = 4


def measured_rate(values: Array, times: Array, target: Target, method: Differentiation | None, axis: int = 0) -> Array:
    """Return the derivative of the target's state; a given method is applied once per order."""
    if method is None:
        order = _ORDER if values.shape[axis] > 2 * (_ORDER + target.order) else 2
        return FiniteDifference(order=order, d=target.order)(values, times, axis=axis)
    rate = values
    for _ in range(target.order):
        rate = np.asarray(method(rate, times, axis=axis), dtype=float)
    return rate


def as_trajectories(
    data: Trajectories | Trajectory | Samples,
    t: ArrayLike | None,
    u: Samples | None,
    sampled: Sampled,
    parameters: ParameterValues = None,
) -> tuple[Trajectory, ...]:
    """Return the data as trajectories of the model's states, controls and parameters."""
    names, controls, constants = measured_states(sampled), sampled.variables.controls, sampled.variables.parameters
    if isinstance(data, Trajectory | Trajectories):
        members = (data,) if isinstance(data, Trajectory) else data.members
        if (members[0].names, members[0].control_names) != (names, controls):
            raise DataError(
                f"The data have states {members[0].names} and controls {members[0].control_names}; this model "
                f"has {names} and {controls}."
            )
        for i, member in enumerate(members):
            missing = next((name for name in constants if name not in member.parameters), None)
            if missing is not None and parameters is None:
                cure = "give it to Trajectories.from_arrays(..., parameters=...)"
                raise DataError(f"Trajectory {i} has no parameter {missing!r}, which this model has; {cure}.")
        if parameters is None:
            return members
        values = dict(zip(constants, parameter_values(parameters, constants), strict=True))
        return tuple(replace(member, parameters=values) for member in members)
    states: Any = data
    if is_named(data):
        columns: Any = data if isinstance(data, Mapping) else data.columns  # type: ignore[union-attr]
        time = sampled.variables.time if t is None and sampled.variables.time in map(str, columns) else t
        if time is None and sampled.rows[0].target.step:
            time = 1.0  # the order of the samples is all that counts
        inside = controls if u is None else ()
        within = constants if parameters is None else ()
        (whole,) = Trajectories.from_arrays(
            data, time=time, states=names, controls=inside or None, parameters=within or None
        ).members
        if u is None:
            return (whole,) if parameters is None else as_trajectories(whole, None, None, sampled, parameters)
        t, states = whole.times, whole.states
    if t is None:
        raise DataError("score(x, t): t is missing; pass the times of the samples or their step.")
    inputs: Any = by_name(u, controls, "u") if controls and is_named(u) else u
    values = dict(zip(constants, parameter_values(parameters, constants), strict=True))
    u_names = controls if u is not None else None
    return (Trajectory(t, states, names, controls=inputs, control_names=u_names, parameters=values),)


def measured_states(sampled: Sampled) -> tuple[str, ...]:
    """Return the states of a model that data hold: all but x' where its equation is for x''."""
    rates = rate_names([row.target for row in sampled.rows], ())
    return tuple(name for name in sampled.variables.states if name not in rates)


def with_rates(
    states: Array, times: Array, names: Sequence[str], sampled: Sampled, method: Differentiation | None
) -> Array:
    """Return states with the rates beside them that the equations use: x' where one is for x''."""
    every = dict(zip(names, states.T, strict=True))
    if len(every) == len(sampled.variables.states):
        return states
    for name in sampled.variables.states:
        target = parse_target(name)
        if name not in every and target is not None:
            every[name] = measured_rate(every[target.state], times, target, method)
    return np.column_stack([every[name] for name in sampled.variables.states])


def trajectory_rates(
    members: tuple[Trajectory, ...], sampled: Sampled, method: Differentiation | None
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return measured and predicted derivatives of all samples, by equation.

    Where a method smooths, its smoothed states are used on the right-hand side too.
    """
    observed: dict[str, list[Array]] = {row.name: [] for row in sampled.rows}
    predicted: list[Array] = []
    for member in members:
        smooth = getattr(method, "states", None)
        states = member.states if smooth is None else np.asarray(smooth(member.states, member.times, axis=0))
        states = with_rates(states, member.times, member.names, sampled, method)
        predicted.append(sampled.predict(states, member.controls, member.times, sampled.parameters_of(member)))
        for row in sampled.rows:
            column = member.names.index(row.target.state)
            known = member.derivatives if row.target.order == 1 and method is None else None
            if known is None:
                rate = measured_rate(member.states[:, column], member.times, row.target, method)
            observed[row.name].append(rate if known is None else known[:, column])
    table = np.concatenate(predicted)
    return (
        {name: np.concatenate(parts) for name, parts in observed.items()},
        {row.name: table[:, j] for j, row in enumerate(sampled.rows)},
    )


def trajectory_scores(
    sampled: Sampled,
    data: Data,
    t: ArrayLike | None,
    u: Samples | None,
    method: Differentiation | None,
    parameters: ParameterValues = None,
) -> dict[str, float]:
    """Return R^2 of every equation of a model of trajectories."""
    if isinstance(data, Field):
        raise DataError("score: this model is one of trajectories; a Field was given.")
    return r_squared(*trajectory_rates(as_trajectories(data, t, u, sampled, parameters), sampled, method))


def map_scores(
    sampled: Sampled,
    data: Data,
    t: ArrayLike | None,
    u: Samples | None,
    horizon: int,
    parameters: ParameterValues = None,
) -> dict[str, float]:
    """Return R^2 of what a map predicts ``horizon`` samples ahead, by equation."""
    if isinstance(data, Field):
        raise DataError("score: this model is a map of trajectories; a Field was given.")
    named = is_named(data) and t is None
    members = as_trajectories(data, 1.0 if t is None and not named else t, u, sampled, parameters)
    return r_squared(*map_predictions(sampled, members, horizon))


def field_rates(
    equations: Sequence[Equation], variables: Variables, field: Field, method: Differentiation | None
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return measured and predicted time derivatives of fields, by equation."""
    observed = {
        row.name: measured_rate(field[row.target.state], field.times, row.target, method, axis=-1) for row in equations
    }
    return observed, right_hand_sides(equations, variables, with_field_rates(field, variables))


def with_field_rates(field: Field, variables: Variables) -> Field:
    """Return a field with the rates beside it that equations for u_tt use."""
    names = [name for name in variables.states if name not in field.names]
    targets = [target for name in names if (target := parse_target(name)) is not None and target.state in field.names]
    rates = [PenalisedSpline(d=t.order)(field[t.state], field.times, axis=-1) for t in targets]
    return replace(field, values=(*field.values, *rates), names=(*field.names, *(t.name for t in targets)))


def field_scores(
    equations: Sequence[Equation], variables: Variables, data: Data, method: Differentiation | None
) -> dict[str, float]:
    """Return R^2 of every equation of a model of fields."""
    if not isinstance(data, Field):
        raise DataError(f"score: this model is one of fields; pass a Field, not {type(data).__name__}.")
    return r_squared(*field_rates(equations, variables, data, method))


def r_squared(observed: Mapping[str, Array], predicted: Mapping[str, Array]) -> dict[str, float]:
    """Return 1 - |observed - predicted|^2 / |observed - mean|^2; for constant observations 1 or -inf."""
    scores = {}
    for name, values in observed.items():
        left = float(np.sum((values - predicted[name]) ** 2))
        total = float(np.sum((values - values.mean()) ** 2))
        scores[name] = 1.0 - left / total if total > 0.0 else (1.0 if left == 0.0 else -np.inf)
    return scores

"""How well a map predicts samples one step ahead, or a few: errors of chaos grow beyond that, whatever the model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.data import Trajectory
from exactsindy.errors import DataError
from exactsindy.model.map_phase import lags_of
from exactsindy.model.sampled import Sampled


def map_predictions(
    sampled: Sampled, members: tuple[Trajectory, ...], horizon: int
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Return measured states and those predicted from ``horizon`` samples before, by equation.

    Controls are the measured ones. For more than one step every state needs an equation.
    """
    if isinstance(horizon, bool) or not isinstance(horizon, int | np.integer) or horizon < 1:
        raise DataError(f"score(horizon={horizon!r}): expected a number of steps, 1 or more.")
    names, lags = sampled.variables.states, lags_of(sampled.rows)
    own = [names.index(row.target.state) for row in sampled.rows]
    missing = [name for j, name in enumerate(names) if j not in own]
    if horizon > 1 and missing:
        raise DataError(f"score(horizon={horizon}): {missing[0]!r} has no equation; only one step can be predicted.")
    observed, predicted = [], []
    for member in members:
        starts = np.arange(lags, len(member) - horizon)
        if not len(starts):
            continue
        window = [member.states[starts - lag] for lag in range(lags, -1, -1)]
        for ahead in range(horizon):
            later = np.empty_like(window[-1]) if not missing else np.full_like(window[-1], np.nan)
            later[:, own] = _step(sampled, window, member, starts + ahead)
            window = [*window[1:], later]
        observed.append(member.states[starts + horizon][:, own])
        predicted.append(window[-1][:, own])
    if not observed:
        raise DataError(f"score(horizon={horizon}): no trajectory has more than {lags + horizon} samples.")
    truth, guess = np.concatenate(observed), np.concatenate(predicted)
    rows = [row.name for row in sampled.rows]
    return {n: truth[:, j] for j, n in enumerate(rows)}, {n: guess[:, j] for j, n in enumerate(rows)}


def _step(sampled: Sampled, window: list[Array], member: Trajectory, at: NDArray[np.intp]) -> Array:
    """Return the next states (samples x equations) from states at the present sample and those before."""
    lags = len(window) - 1
    columns = {name: window[-1][:, j] for j, name in enumerate(member.names)}
    columns |= {name: member.controls[at, j] for j, name in enumerate(member.control_names)}
    for lag in range(1, lags + 1):
        columns |= {f"{name}[k-{lag}]": window[-1 - lag][:, j] for j, name in enumerate(member.names)}
        columns |= {f"{name}[k-{lag}]": member.controls[at - lag, j] for j, name in enumerate(member.control_names)}
    columns |= {name: np.full(len(at), value) for name, value in member.parameters.items()}
    columns[sampled.variables.time] = member.times[at]
    values = sampled.at({v.name: columns[v.name] for v in sampled.inputs})
    for j, row in enumerate(sampled.rows):
        if row.target.step == "change":
            values[:, j] += columns[row.target.state]
    return values

"""Samples of a map beside the next ones, measured and predicted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Trajectories
from exactsindy.model import Model, lags_of


@dataclass(frozen=True, eq=False)
class StepPairs:
    """One state of a map: its samples, the next ones as measured, and as predicted from the sample before."""

    state: str
    now: Array
    later: Array
    predicted: Array


def step_pairs(model: Model, data: Trajectories) -> tuple[StepPairs, ...]:
    """Return the pairs of all trajectories, one record per equation of a map."""
    lags = lags_of(model.rows)
    now, later, predicted = [], [], []
    for member in data:
        controls = member.controls if member.control_names else None
        values = model.predict(member.states, controls, t=member.times, parameters=model.parameters_of(member))
        own = [member.names.index(row.target.state) for row in model.rows]
        kept = np.array([row.target.step == "change" for row in model.rows], dtype=float)
        values = values + kept * member.states[:, own]
        now.append(member.states[lags:-1, own])
        later.append(member.states[lags + 1 :, own])
        predicted.append(values[lags:-1])
    parts = [np.vstack(rows) for rows in (now, later, predicted)]
    return tuple(StepPairs(row.target.state, *(part[:, j] for part in parts)) for j, row in enumerate(model.rows))

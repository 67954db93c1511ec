"""A field on a line with ends, simulated for a picture: the model is integrated between ends that are measured."""

from __future__ import annotations

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Field
from exactsindy.model import FieldSimulation, Model, SimulationStatus

# Points at each end that follow the measurement: what centred differences of fourth order need beside a point.
_ENDS = 2
# How many points a rate looks to either side: one-sided differences of u_xxxx look furthest.
_BAND = 8
# Most points of the line, and most evaluations of the model: at most about ten seconds.
_POINTS, _EVALUATIONS = 600, 10_000
# Size, in units of the largest measured value, at which the model has run away.
_AWAY = 100.0


def can_simulate(model: Model, data: Field) -> bool:
    """Return True if a field has one axis with ends and few enough points, and equations of first order for it."""
    return data.periods == (None,) and data.shape[0] <= _POINTS and model.phase_names == data.names


def simulate_between_ends(model: Model, data: Field) -> FieldSimulation:
    """Return the fields from the first measured ones, while their points at both ends follow the measurement."""
    measured = np.stack([data[name] for name in model.phase_names])  # fields x points x times
    (axis,), times, limit = data.axes, data.times, _AWAY * float(np.abs(measured).max())
    inside = slice(_ENDS, measured.shape[1] - _ENDS)
    shape = measured[:, inside, 0].T.shape

    def whole(t: float, free: Array) -> Array:
        """Return the fields with what was measured at the ends, linear between the times."""
        k = int(np.clip(np.searchsorted(times, t) - 1, 0, len(times) - 2))
        part = float(np.clip((t - times[k]) / (times[k + 1] - times[k]), 0.0, 1.0))
        fields = (1 - part) * measured[:, :, k] + part * measured[:, :, k + 1]
        fields[:, inside] = free.reshape(shape).T
        return np.asarray(fields)

    def rates(t: float, free: Array) -> Array:
        fields = dict(zip(model.phase_names, whole(t, free), strict=True))
        found = model.rhs(fields, coords={axis: data.coordinate(axis)}, t=t)
        return np.stack([found[name][inside] for name in model.target_names], axis=-1).ravel()

    # Neighbouring numbers are fields of one point, so that a rate needs a narrow band around its own.
    band = _BAND * len(measured)
    from scipy.integrate import LSODA  # loaded when needed: importing scipy.integrate costs more than numpy

    start = measured[:, inside, 0].T.ravel()
    solver = LSODA(rates, times[0], start, times[-1], rtol=1e-4, atol=1e-6 * limit / _AWAY, lband=band, uband=band)
    outputs, status = [measured[:, :, 0]], SimulationStatus.COMPLETE
    with np.errstate(all="ignore"):
        while len(outputs) < len(times):
            message = solver.step() if solver.status == "running" else None
            if solver.status == "failed" or not float(np.abs(solver.y).max()) < limit or solver.nfev > _EVALUATIONS:
                slow = message is None and solver.nfev > _EVALUATIONS
                status = SimulationStatus.TOO_MANY_STEPS if slow else SimulationStatus.BLOW_UP
                break
            between = solver.dense_output()
            while len(outputs) < len(times) and times[len(outputs)] <= solver.t:
                t = float(times[len(outputs)])
                outputs.append(whole(t, between(t)))
    values = tuple(np.stack(outputs, axis=-1))
    reached = times[: len(outputs)]
    return FieldSimulation(
        reached, values, model.phase_names, data.axes, data.coords[:1], (None,), status, int(solver.nfev)
    )

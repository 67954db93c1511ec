"""How long a model stays with a measurement, from several starts; and how fast its neighbouring states part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Trajectories, Trajectory
from exactsindy.errors import ExactSindyError
from exactsindy.forms import smooth
from exactsindy.model import Model

# Starts, evenly over the first three quarters of the longest stretch without gaps.
_STARTS, _PART = 6, 0.75
# A prediction has left the measurement once it is off by more than this share of the spread of the states, root mean
# square over the states; customary for chaotic systems ("valid prediction time").
_OFF = 0.4
# Samples compared after a start, and samples along which the growth of small differences is followed.
_MOST_SAMPLES, _MOST_STEPS = 2000, 20_000
# Lyapunov times that the record must hold for the estimate to be given.
_LEAST_LYAPUNOV_TIMES = 10.0


@dataclass(frozen=True, eq=False)
class Prediction:
    """One run from a smoothed sample: where it started, its states, and how long it stayed with the measurement.

    ``complete`` says that it stayed to the end of the record: then ``horizon`` is a lower bound.
    """

    start: float
    times: Array
    states: Array
    horizon: float
    complete: bool


@dataclass(frozen=True, eq=False)
class Predictions:
    """Runs from several starts; ``lyapunov_time`` is that of the model along the measured states, None if unknown."""

    runs: tuple[Prediction, ...]
    names: tuple[str, ...]
    lyapunov_time: float | None

    @property
    def horizon(self) -> float:
        """The median time for which the model stays with the measurement."""
        return float(np.median([run.horizon for run in self.runs]))

    def sentence(self) -> str:
        """Return how far the model predicts, in words."""
        count = len(self.runs)
        near = f"within {100 * _OFF:.0f} % of the spread of the states"
        where = f"Started from {count} samples of the record, the simulated model stays {near}"
        if all(run.complete for run in self.runs):
            longest = f"the longest run lasts {self.runs[0].horizon:.3g} units of time"
            return f"{where} to the end of the record each time; {longest}."
        least = "at least " if sum(run.complete for run in self.runs) * 2 >= count else ""
        text = f"{where} for {least}{self.horizon:.3g} units of time (median)"
        if self.lyapunov_time is not None:
            text += f", {self.horizon / self.lyapunov_time:.2g} Lyapunov times of the model"
        return f"{text}."


def predictions(model: Model, data: Trajectories) -> Predictions | None:
    """Return runs of a model from several samples of the longest stretch; None if it cannot be simulated."""
    if model.is_map:
        return None
    try:
        if any(row.target.order != 1 for row in model.rows) or set(model.phase_names) != set(data.state_names):
            return None
        smoothed = smooth(data)
        longest = max(range(len(smoothed.pieces)), key=lambda i: len(smoothed.pieces[i]))
        piece, states = smoothed.pieces[longest], smoothed.values[longest]
        first = np.unique((np.arange(_STARTS) * _PART / _STARTS * len(piece)).astype(int))
        runs = tuple(_run(model, piece, states, int(start)) for start in first)
        return Predictions(runs, piece.names, _lyapunov_time(model, piece, states))
    except (ExactSindyError, ArithmeticError):
        return None


def _run(model: Model, piece: Trajectory, states: Array, start: int) -> Prediction:
    stride = -(-(len(piece) - start) // _MOST_SAMPLES)
    index = np.arange(start, len(piece), stride)
    controls = (piece.times, piece.controls) if piece.control_names else None
    begin = [states[start, piece.names.index(name)] for name in model.phase_names]
    limit = 100 * max(float(np.abs(states).max()), 1e-300)
    constants = model.parameters_of(piece)
    run = model.simulate(
        begin, piece.times[index], u=controls, parameters=constants, rtol=1e-8, atol=1e-10, max_abs=limit
    )
    order = [run.names.index(name) for name in piece.names]
    spread = np.maximum(states.std(axis=0), np.finfo(float).tiny)
    reached = index[: len(run.t)]
    error = np.sqrt(np.mean(((run.x[:, order] - states[reached]) / spread) ** 2, axis=1))
    off = np.flatnonzero(~(error <= _OFF))
    complete = not len(off) and len(run.t) == len(index)
    end = run.t[off[0]] if len(off) else run.t[-1]
    return Prediction(float(piece.times[start]), run.t, run.x[:, order], float(end - piece.times[start]), complete)


def _lyapunov_time(model: Model, piece: Trajectory, states: Array) -> float | None:
    """Return 1 / (growth rate of small differences along the measured states), if they grow and the record is long."""
    stop = min(len(piece), _MOST_STEPS)
    times = piece.times[:stop]
    controls = piece.controls[:stop] if piece.control_names else None
    order = [piece.names.index(name) for name in model.state_names]
    constants = model.parameters_of(piece)
    slopes = model.jacobian(states[:stop][:, order], controls, t=times, parameters=constants)
    middle = 0.5 * (slopes[1:] + slopes[:-1]) * np.diff(times)[:, None, None]
    # exp(A) to third order: steps are far shorter than the times in which differences grow.
    square = middle @ middle
    steps = np.eye(len(order)) + middle + square / 2 + square @ middle / 6
    if not np.isfinite(steps).all():
        return None
    direction, growth = np.ones(len(order)) / np.sqrt(len(order)), 0.0
    for step in steps:
        direction = step @ direction
        size = float(np.linalg.norm(direction))
        if not 0 < size < np.inf:
            return None
        growth += float(np.log(size))
        direction /= size
    return float(times[-1] - times[0]) / growth if growth >= _LEAST_LYAPUNOV_TIMES else None

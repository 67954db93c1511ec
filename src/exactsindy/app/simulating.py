"""How well an answer fits, in numbers and by simulations that are short enough to wait for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Trajectories, Trajectory
from exactsindy.discovery import Discovery
from exactsindy.errors import ExactSindyError

# Points of a simulated line, and steps from one to the next: enough for a picture, and a bound on the time it takes.
_POINTS, _MOST_STEPS = 800, 5000


@dataclass(frozen=True, eq=False)
class Simulated:
    """The states of a model over time from a chosen start; ``problem`` says what went wrong, if anything."""

    names: tuple[str, ...]
    times: Array
    states: Array
    problem: str = ""


def fit_sentence(found: Discovery) -> str:
    """Return how well each equation fits data that its coefficients were not fitted to, and its residual."""
    parts = []
    for name, score in found.held_out.items():
        said = [] if score is None else [f"held-out R² {_score(score)}"]
        if name in found.residuals:
            said.append(f"residual {found.residuals[name]:.3g} times the noise")
        parts += [f"{name}: {', '.join(said)}"] if said else []
    return "; ".join(parts)


def _score(value: float) -> str:
    return "below 0" if value < 0 else "above 0.9999" if value > 0.9999 else f"{value:.4f}"


def starts(found: Discovery) -> dict[str, float]:
    """Return the start of the measurement by the names of what a simulation starts from."""
    data = found.data
    if not isinstance(data, Trajectories):
        return {}
    member = data.members[0]
    rates = (
        np.gradient(member.states[:5], member.times[:5], axis=0)[0] if len(member) > 4 else np.zeros(len(member.names))
    )
    values = {}
    for name in found.model.phase_names:
        stem = name.rstrip("'")
        if stem in member.names:
            column = member.names.index(stem)
            values[name] = float(member.states[0, column] if name == stem else rates[column])
        else:
            values[name] = 0.0
    return {name: float(f"{value:.4g}") for name, value in values.items()}


def simulate(found: Discovery, start: dict[str, float]) -> Simulated:
    """Return the model's trajectory over the time of the first measured one."""
    data = found.data
    assert isinstance(data, Trajectories)
    member = data.members[0]
    if found.model.is_map:
        return _iterated(found, member, start)
    times = np.linspace(member.times[0], member.times[-1], _POINTS)
    inputs = (member.times, member.controls) if member.control_names else None
    order = [start[name] for name in found.model.phase_names]
    limit = 1e3 * max(float(np.abs(member.states).max()), float(np.abs(order).max()), 1e-300)
    try:
        run = found.model.simulate(order, times, u=inputs, rtol=1e-7, atol=1e-9, max_abs=limit, max_steps=_MOST_STEPS)
    except ExactSindyError as error:
        return Simulated((), times[:0], np.zeros((0, 0)), str(error))
    return Simulated(run.names, run.t, run.x, "" if run.success else run.status.value)


def _iterated(found: Discovery, member: Trajectory, start: dict[str, float]) -> Simulated:
    """Return the samples that a map makes from a start, as many as were measured."""
    steps = min(len(member) - 1, _POINTS)
    inputs = member.controls[:steps] if member.control_names else None
    try:
        run = found.model.iterate([start[name] for name in found.model.phase_names], steps, u=inputs)
    except ExactSindyError as error:
        return Simulated((), np.zeros(0), np.zeros((0, 0)), str(error))
    return Simulated(run.names, run.t, run.x, "" if run.success else run.status.value)

"""The data before anything runs: what was read, steps, gaps, noise, and smoothed curves over the samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from exactsindy._types import Array
from exactsindy.app.columns import Columns
from exactsindy.app.files import Source
from exactsindy.app.words import on_page
from exactsindy.data import Data, Field, Trajectories, Trajectory, load
from exactsindy.differentiation import noise_level, whittaker
from exactsindy.errors import ExactSindyError

# Samples of one trajectory that are smoothed for the picture; more take seconds and show nothing else.
_MOST_SMOOTHED = 20_000
# States and trajectories drawn.
_MOST_STATES, _MOST_TRAJECTORIES = 6, 3
# Steps that differ by less than this share of their median count as equal: written times are rounded.
_EVEN = 1e-3


@dataclass(frozen=True, eq=False)
class Curve:
    """Samples of one state in one trajectory, and the smooth curve through them; empty if they are too few."""

    name: str
    trajectory: str
    times: Array
    values: Array
    smooth: Array


@dataclass(frozen=True, eq=False)
class Preview:
    """What the page says about the data; ``problem`` is the sentence why they cannot be used, if so.

    ``facts`` are pairs of a word and what is known; ``notices`` are what to be careful about.
    """

    title: str
    facts: tuple[tuple[str, str], ...] = ()
    notices: tuple[str, ...] = ()
    problem: str = ""
    data: Data | None = None
    curves: tuple[Curve, ...] = ()
    noise: tuple[tuple[str, float], ...] = ()


def preview(source: Source, columns: Columns) -> Preview:
    """Read the data with the meaning given to the columns, and look at them."""
    try:
        data = load(source.path, **columns.arguments())
    except ExactSindyError as error:
        return Preview(source.title, problem=on_page(source.named(str(error))), notices=columns.notes)
    notices = (*columns.notes, *(on_page(source.named(notice.message)) for notice in data.warnings))
    if isinstance(data, Field):
        return Preview(source.title, _field_facts(data), notices, data=data)
    noise = _noise(data)
    curves = tuple(curve for member in data.members[:_MOST_TRAJECTORIES] for curve in _curves(member))
    return Preview(source.title, _facts(data, noise), notices, "", data, curves, noise)


def _facts(data: Trajectories, noise: tuple[tuple[str, float], ...]) -> tuple[tuple[str, str], ...]:
    first, last = min(m.times[0] for m in data), max(m.times[-1] for m in data)
    rows = [("samples", f"{data.n_samples:,}"), ("states", ", ".join(data.state_names))]
    if data.control_names:
        rows.append(("inputs", ", ".join(data.control_names)))
    if len(data) > 1:
        rows.append(("trajectories", str(len(data))))
    rows += [(data.time_name, f"{first:g} to {last:g}"), ("step", _steps(data))]
    if noise:
        rows.append(("noise, about", ", ".join(f"{name} {_percent(share)}" for name, share in noise)))
    return tuple(rows)


def _percent(share: float) -> str:
    return "below 0.01 %" if share < 1e-4 else f"{100 * share:.2g} %" if share < 0.095 else f"{100 * share:.0f} %"


def _steps(data: Trajectories) -> str:
    steps = np.concatenate([np.diff(member.times) for member in data])
    middle = float(np.median(steps))
    if np.ptp(steps) <= _EVEN * middle:
        return f"{middle:g}, even"
    return f"{steps.min():.4g} to {steps.max():.4g}, mostly {middle:.4g}"


def _noise(data: Trajectories) -> tuple[tuple[str, float], ...]:
    """Return the noise of each state as a share of how much it varies; nothing if it cannot be told."""
    if data.n_samples > _MOST_SMOOTHED:
        member = data.members[0]
        data = Trajectories([member.slice(0, min(len(member), _MOST_SMOOTHED))])
    try:
        sizes = noise_level(data)
    except ExactSindyError:
        return ()
    spread = np.std(np.vstack([member.states for member in data]), axis=0)
    shares = np.divide(sizes, spread, out=np.full(len(spread), np.nan), where=spread > 0)
    return tuple((name, float(s)) for name, s in zip(data.state_names, shares, strict=True) if np.isfinite(s))


def _curves(member: Trajectory) -> list[Curve]:
    part = member.slice(0, min(len(member), _MOST_SMOOTHED))
    states = part.states[:, :_MOST_STATES]
    try:
        smooth = whittaker(states, part.times).values
    except ExactSindyError:  # too few samples
        smooth = np.zeros((0, states.shape[1]))
    return [
        Curve(name, member.label, part.times, states[:, i], smooth[:, i])
        for i, name in enumerate(member.names[:_MOST_STATES])
    ]


def _field_facts(data: Field) -> tuple[tuple[str, str], ...]:
    axes = [
        f"{dim}: {count} points from {c[0]:g} to {c[-1]:g}"
        for dim, count, c in zip(data.dims, data.shape, data.coords, strict=True)
    ]
    periodic = [axis for axis, period in zip(data.axes, data.periods, strict=True) if period is not None]
    return (
        ("fields", ", ".join(data.names)),
        ("grid", "; ".join(axes)),
        ("periodic", ", ".join(periodic) or "no axis"),
        ("missing cells", str(data.missing)),
    )

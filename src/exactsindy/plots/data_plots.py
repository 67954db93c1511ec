"""Measured data as images and lines, beside the model simulated from where the measurement began."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Field, Trajectories
from exactsindy.errors import DataError
from exactsindy.model import FieldSimulation, Model
from exactsindy.plots import axes
from exactsindy.plots.discovery_like import DiscoveryLike
from exactsindy.plots.next_samples import step_pairs
from exactsindy.plots.replays import Replay, replay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Up to this many samples are drawn large.
_FEW = 100


def fit(
    result: DiscoveryLike | Model,
    data: Trajectories | None = None,
    *,
    trajectory: int = 0,
    ax: Axes | Sequence[Axes] | None = None,
) -> list[Axes]:
    """Plot the measured states and the model simulated from where the measurement began, one panel per state.

    A chaotic system leaves any simulation after a while, however good the equations. For a map the next samples are
    plotted against the present ones instead, measured and predicted.

    Parameters
    ----------
    result
        A `Discovery`, or a `Model` with ``data``.
    data
        `Trajectories`, where the result does not hold them.
    trajectory
        Which of several trajectories.
    ax
        As many axes as there are states; a new figure by default.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> t = np.linspace(0, 6, 200)
    >>> data = es.Trajectories.from_arrays(np.column_stack([np.sin(t), np.cos(t)]), time=t, states=("x", "v"))
    >>> model = es.Model.from_coefficients({"x'": {"v": 1.0}, "v'": {"x": -1.0}})
    >>> [panel.get_ylabel() for panel in fit(model, data)]
    ['x', 'v']
    """
    if _is_map(result):
        return _steps(result, data, ax)
    run = _replay(result, data, trajectory, "plots.fit")
    panels = axes.panels(ax, len(run.names), width=7.0, height=1.5)
    size = 8 if len(run.times) <= _FEW else 3
    for i, (panel, name) in enumerate(zip(panels, run.names, strict=True)):
        panel.plot(run.times, run.measured[:, i], ".", color=axes.MEASURED, ms=size, label="measured")
        panel.plot(run.simulated_times, run.simulated[:, i], "-", color=axes.FOUND, lw=1.4, label="simulated")
        panel.set_ylabel(name)
        axes.tidy(panel)
    _legend_above(panels[0])
    panels[-1].set_xlabel(run.time_name)
    return panels


def _steps(result: DiscoveryLike | Model, data: Trajectories | None, ax: Axes | Sequence[Axes] | None) -> list[Axes]:
    """Plot the next sample of every state against the present one."""
    model, measured = _model_and_data(result, data, "plots.fit")
    pairs = step_pairs(model, measured)
    panels = axes.panels(ax, len(pairs), width=5.0, height=3.2)
    for panel, pair in zip(panels, pairs, strict=True):
        panel.plot(pair.now, pair.later, ".", color=axes.MEASURED, ms=4, label="measured")
        panel.plot(pair.now, pair.predicted, ".", color=axes.FOUND, ms=2, label="predicted")
        panel.set_xlabel(f"{pair.state}[k]")
        panel.set_ylabel(f"{pair.state}[k+1]")
        axes.tidy(panel)
    _legend_above(panels[0])
    return panels


def _legend_above(panel: Axes) -> None:
    """Put the legend where it hides no data."""
    panel.legend(frameon=False, loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.0, ncols=2)


def phase(
    result: DiscoveryLike | Model,
    data: Trajectories | None = None,
    *,
    states: Sequence[str] | None = None,
    trajectory: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Plot the phase portrait: measured points, simulated line; in three dimensions for three states.

    Parameters
    ----------
    result, data, trajectory
        As in `fit`.
    states
        Two or three names; the first three (or two) by default.
    ax
        Axes to draw on (with ``projection="3d"`` for three states); a new figure by default.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> t = np.linspace(0, 6, 200)
    >>> data = es.Trajectories.from_arrays(np.column_stack([np.sin(t), np.cos(t)]), time=t, states=("x", "v"))
    >>> model = es.Model.from_coefficients({"x'": {"v": 1.0}, "v'": {"x": -1.0}})
    >>> phase(model, data).get_xlabel()
    'x'
    """
    run = _replay(result, data, trajectory, "plots.phase")
    names = tuple(states) if states is not None else run.names[:3]
    unknown = [name for name in names if name not in run.names]
    if unknown or len(names) not in (2, 3):
        raise DataError(f"plots.phase(states={names!r}): expected two or three of {', '.join(run.names)}.")
    (drawn,) = axes.panels(ax, height=4.5, width=5.5, three=len(names) == 3)
    columns = [run.names.index(name) for name in names]
    drawn.plot(*run.measured[:, columns].T, ".", color=axes.MEASURED, ms=2, label="measured")
    line = "." if _is_map(result) else "-"
    drawn.plot(*run.simulated[:, columns].T, line, color=axes.FOUND, lw=1.2, ms=1.5, label="simulated")
    drawn.set(**dict(zip(("xlabel", "ylabel", "zlabel"), names, strict=False)))
    drawn.legend(frameon=False, loc="upper right")
    axes.tidy(drawn)
    return drawn


def _is_map(result: object) -> bool:
    model = getattr(result, "model", result)
    return isinstance(model, Model) and model.is_map


def _model_and_data(
    result: DiscoveryLike | Model, data: Trajectories | None, caller: str
) -> tuple[Model, Trajectories]:
    model = getattr(result, "model", result)
    measured = getattr(result, "data", None) if data is None else data
    if not isinstance(model, Model) or not isinstance(measured, Trajectories):
        advice = "use plots.field for fields" if isinstance(measured, Field) else "or a Model and its data=Trajectories"
        raise DataError(f"{caller}: expected a Discovery of trajectories, {advice}.")
    return model, measured


def _replay(result: DiscoveryLike | Model, data: Trajectories | None, trajectory: int, caller: str) -> Replay:
    model, measured = _model_and_data(result, data, caller)
    runs = replay(model, measured, most=trajectory + 1)
    if not 0 <= trajectory < len(runs):
        raise DataError(f"{caller}(trajectory={trajectory!r}): there are {len(runs)} trajectories, counted from 0.")
    return runs[trajectory]


def field(
    data: Field | FieldSimulation | DiscoveryLike,
    *,
    name: str | None = None,
    time: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Plot a field: position against time in one dimension, a snapshot in two.

    Parameters
    ----------
    data
        A `Field`, a `FieldSimulation`, or a `Discovery` of fields.
    name
        Which field; the first by default.
    time
        Time of the snapshot, for two or three space dimensions (then the middle of the last axis); the last by default.
    ax
        Axes to draw on; a new figure by default.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> x, t = np.linspace(0, 1, 20), np.linspace(0, 2, 30)
    >>> data = es.Field.from_arrays(np.sin(x[:, None] - t), dims=("x", "t"), coords={"x": x, "t": t})
    >>> field(data).get_xlabel()
    't'
    """
    source = data.field() if isinstance(data, FieldSimulation) else getattr(data, "data", data)
    if not isinstance(source, Field):
        raise DataError(f"plots.field: expected a Field, a FieldSimulation or a Discovery, not {type(data).__name__}.")
    label = source.names[0] if name is None else name
    if label not in source.names:
        raise DataError(f"plots.field(name={name!r}): there is no such field; there are {', '.join(source.names)}.")
    image, horizontal, vertical = _image(source, label, time)
    (drawn,) = axes.panels(ax, width=5.0, height=3.6)
    size = float(np.nanmax(np.abs(image)))
    signed = axes.both_signs(float(np.nanmin(image)), float(np.nanmax(image)))
    mesh = drawn.pcolormesh(
        source.coordinate(horizontal),
        source.coordinate(vertical),
        image,
        cmap="RdBu_r" if signed else "viridis",
        vmin=-size if signed else None,
        vmax=size if signed else None,
        shading="nearest",
        rasterized=True,
    )
    drawn.set(xlabel=horizontal, ylabel=vertical, title=label)
    drawn.figure.colorbar(mesh, ax=drawn)
    return drawn


def _image(data: Field, name: str, time: float | None) -> tuple[NDArray[np.float64], str, str]:
    """Return what to draw, rows upwards, and which dimension runs along which side."""
    values = data[name]
    if len(data.axes) == 1:
        return values, data.time_name, data.axes[0]
    index = -1 if time is None else int(np.argmin(np.abs(data.times - time)))
    snapshot = values[..., index]
    if len(data.axes) == 3:
        snapshot = snapshot[..., snapshot.shape[-1] // 2]
    return snapshot.T, data.axes[0], data.axes[1]

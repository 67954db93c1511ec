"""Fields as images."""

from __future__ import annotations

from typing import Any

import numpy as np

from exactsindy.data import Field
from exactsindy.errors import DataError
from exactsindy.report import style as canvas


def plot_field(data: Any, *, name: str | None = None, time: float | None = None, ax: Any = None) -> Any:
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
    >>> plot_field(data).get_xlabel()
    't'
    """
    source = getattr(data, "data", data)
    source = source if isinstance(source, Field) else getattr(source, "field", lambda: None)()
    if not isinstance(source, Field):
        raise DataError(f"plot_field: expected a Field, a FieldSimulation or a Discovery, not {type(data).__name__}.")
    called = source.names[0] if name is None else name
    if called not in source.names:
        raise DataError(f"plot_field(name={name!r}): there is no such field; there are {', '.join(source.names)}.")
    image, horizontal, vertical = _image(source, called, time)
    (drawn,) = canvas.axes(ax, width=5.0, height=3.6)
    size = float(np.nanmax(np.abs(image)))
    signed = bool(np.nanmin(image) < 0)
    shown = drawn.pcolormesh(
        source.coordinate(horizontal),
        source.coordinate(vertical),
        image,
        cmap="RdBu_r" if signed else "viridis",
        vmin=-size if signed else None,
        vmax=size if signed else None,
        shading="nearest",
        rasterized=True,
    )
    drawn.set(xlabel=horizontal, ylabel=vertical, title=called)
    drawn.figure.colorbar(shown, ax=drawn)
    return drawn


def _image(data: Field, name: str, time: float | None) -> tuple[Any, str, str]:
    """Return what to draw, rows upwards, and which dimension runs along which side."""
    values = data[name]
    if len(data.axes) == 1:
        return values, data.time_name, data.axes[0]
    index = -1 if time is None else int(np.argmin(np.abs(data.times - time)))
    snapshot = values[..., index]
    if len(data.axes) == 3:
        snapshot = snapshot[..., snapshot.shape[-1] // 2]
    return snapshot.T, data.axes[0], data.axes[1]

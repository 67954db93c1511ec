"""Fields as images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Field
from exactsindy.errors import DataError
from exactsindy.model import FieldSimulation
from exactsindy.plots import axes
from exactsindy.plots.discovery_like import DiscoveryLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    signed = bool(np.nanmin(image) < 0)
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

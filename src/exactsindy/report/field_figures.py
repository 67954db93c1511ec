"""Fields as interactive figures: images over space and time, and a slider through the times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Field
from exactsindy.plots import both_signs
from exactsindy.report.figures import FOUND, MEASURED, Figure, layout_of, line_of, rounded

# Points along one side of an image, and of each image behind a slider: more make the file large.
_SIDE, _SLIDER_SIDE = 160, 56
# Times behind a slider.
_TIMES = 20


def field_figures(data: Field, simulated: Field | None, name: str) -> Iterator[Figure]:
    """Yield the figures of one field: measured, and simulated on the same grid if it was."""
    sources = [("measured", data), *([("simulated", simulated)] if simulated is not None else [])]
    if len(data.axes) == 1:
        for label, source in sources:
            yield _space_time(source, name, label, data.time_name)
        yield _profiles(sources, name)
    else:
        for label, source in sources:
            yield _planes(source, name, label)


def _space_time(data: Field, name: str, label: str, time_name: str) -> Figure:
    """Return position against time as an image."""
    rows, columns = _thinned(data.shape[0], _SIDE), _thinned(len(data.times), _SIDE)
    image = data[name][np.ix_(rows, columns)]
    axis = data.axes[0]
    picture = _image(image, data.times[columns], data.coordinate(axis)[rows], _range(data[name]))
    return {"data": [picture], "layout": layout_of(time_name, axis, 360), "title": f"{name}, {label}"}


def _profiles(sources: Sequence[tuple[str, Field]], name: str) -> Figure:
    """Return the field over its axis at one time, with a slider through the times."""
    data = sources[0][1]
    axis, times = data.axes[0], _thinned(len(data.times), _TIMES)
    lines: list[dict[str, Any]] = []
    for step, index in enumerate(times):
        for label, source in sources:
            there = int(np.argmin(np.abs(source.times - data.times[index])))
            chosen = _thinned(source.shape[0], 4 * _SIDE)
            colour = MEASURED if label == "measured" else FOUND
            line = line_of(source.coordinate(axis)[chosen], source[name][chosen, there], label, colour)
            lines.append({**line, "visible": step == 0})
    layout = _with_slider(layout_of(axis, name, 420), data.times[times], len(sources), data.time_name)
    low, high = _range(data[name])
    margin = 0.05 * max(high - low, 1e-300)
    layout["yaxis"]["range"] = rounded([low - margin, high + margin])
    return {"data": lines, "layout": layout, "title": f"{name} at one time"}


def _planes(data: Field, name: str, label: str) -> Figure:
    """Return a plane of the field at one time as an image, with a slider through the times."""
    values = data[name] if len(data.axes) == 2 else data[name][:, :, data.shape[2] // 2]
    rows, columns = _thinned(data.shape[0], _SLIDER_SIDE), _thinned(data.shape[1], _SLIDER_SIDE)
    times, span = _thinned(len(data.times), _TIMES), _range(values)
    first, second = data.axes[:2]
    images = [
        {
            **_image(
                values[np.ix_(rows, columns)][:, :, index].T,
                data.coordinate(first)[rows],
                data.coordinate(second)[columns],
                span,
            ),
            "visible": step == 0,
        }
        for step, index in enumerate(times)
    ]
    layout = _with_slider(layout_of(first, second, 460), data.times[times], 1, data.time_name)
    return {"data": images, "layout": layout, "title": f"{name}, {label}"}


def _image(
    values: NDArray[np.float64], x: NDArray[np.float64], y: NDArray[np.float64], span: tuple[float, float]
) -> dict[str, Any]:
    """Return a heat map; values of both signs, beyond noise around 0, share one colour for zero."""
    signed = both_signs(*span)
    size = max(abs(span[0]), abs(span[1]))
    low, high = (-size, size) if signed else span
    return {
        "type": "heatmap",
        "z": [rounded(row) for row in values],
        "x": rounded(x),
        "y": rounded(y),
        "zmin": low,
        "zmax": high,
        "colorscale": "RdBu" if signed else "Viridis",
        "hovertemplate": "%{x:.4g}, %{y:.4g}: %{z:.4g}<extra></extra>",
    }


def _with_slider(layout: dict[str, Any], times: NDArray[np.float64], each: int, name: str) -> dict[str, Any]:
    """Return a layout with a slider, each position of which shows the next ``each`` of the lines or images."""
    count = each * len(times)
    steps = [
        {
            "method": "restyle",
            "label": f"{time:.4g}",
            "args": [{"visible": [i // each == step for i in range(count)]}],
        }
        for step, time in enumerate(times)
    ]
    slider = {"active": 0, "currentvalue": {"prefix": f"{name} = "}, "pad": {"t": 46}, "steps": steps}
    return {**layout, "sliders": [slider], "margin": {**layout["margin"], "b": 90}}


def _range(values: NDArray[np.float64]) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)


def _thinned(count: int, most: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, max(count - 1, 0), min(count, most)).round().astype(np.int64))

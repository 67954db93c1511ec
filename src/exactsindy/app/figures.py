"""Figures as plain dictionaries for Plotly's JavaScript: data, sizes, fit, residuals, simulations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from exactsindy._types import Array
from exactsindy.app.preview import Curve
from exactsindy.data import Field
from exactsindy.plots import PathCurve, Replay, ResidualSeries
from exactsindy.report import point_size, rounded, thinned

Figure = dict[str, Any]
# Points of one line, and cells along one axis of an image; more are not seen on a screen.
_POINTS, _CELLS = 1200, 240
# Colours that are told apart with any kind of sight (after Okabe and Ito), and their meaning everywhere on the page.
MEASURED, FOUND, OTHER = "#56697d", "#0072b2", "#d55e00"
_GRID, _TEXT = "#e4e8ec", "#33414e"


def data_figure(name: str, curves: Sequence[Curve], time_name: str) -> Figure:
    """Return the samples of one state, and the smooth curves through them."""
    lines: list[Any] = []
    for i, curve in enumerate(curves):
        lines.append(_points(curve.times, curve.values, "measured", i == 0))
        if len(curve.smooth):
            lines.append(_line(curve.times, curve.smooth, "smoothed", FOUND, i == 0))
    return _figure(lines, time_name, name, 210)


def field_figure(data: Field, values: Array, title: str) -> Figure:
    """Return a field over space and time as an image; of several space axes the middle of all but the first."""
    image, across, times = values, data.coords[0], data.coords[-1]
    while image.ndim > 2:
        image = image[:, image.shape[1] // 2]
    rows, columns = thinned(image.shape[0], _CELLS), thinned(image.shape[1], _CELLS)
    heat = {
        "type": "heatmap",
        "x": rounded(times[columns]),
        "y": rounded(across[rows]),
        "z": [rounded(row) for row in image[np.ix_(rows, columns)]],
        "colorscale": "Viridis",
        "hovertemplate": "%{x:.4g}, %{y:.4g}: %{z:.4g}<extra></extra>",
        "colorbar": {"thickness": 10},
    }
    figure = _figure([heat], data.dims[-1], data.dims[0], 260)
    figure["layout"]["title"] = {"text": title, "font": {"size": 13}}
    figure["layout"]["margin"]["t"] = 32
    return figure


def path_figure(curve: PathCurve, shown: int) -> Figure:
    """Return the misfit of the best support of every size with the proved bound; ``shown`` is the size on the page."""
    objective = np.array(curve.objective)
    known = np.isfinite(objective)
    positive = bool((objective[known] > 0).all())
    hover = [
        f"{k} terms, {'proved' if done else 'not proved'}<br>{', '.join(terms) or 'none'}"
        for k, done, terms in zip(curve.sizes, curve.proved, curve.terms, strict=True)
    ]
    lines: list[Any] = [
        {
            "x": list(curve.sizes),
            "y": rounded(objective),
            "text": [_escaped(text) for text in hover],
            "hovertemplate": "%{text}<br>misfit %{y:.4g}<extra></extra>",
            "mode": "lines+markers",
            "marker": {
                "size": 11,
                "symbol": ["circle" if done else "circle-open" for done in curve.proved],
                "color": FOUND,
            },
            "line": {"color": FOUND, "width": 1.5},
            "name": "best of its size (full: proved)",
        }
    ]
    unproved = [i for i, done in enumerate(curve.proved) if not done and curve.lower_bound[i] > 0]
    if unproved:
        lines.append(
            {
                "x": [curve.sizes[i] for i in unproved],
                "y": rounded([curve.lower_bound[i] for i in unproved]),
                "mode": "markers",
                "marker": {"symbol": "line-ew-open", "size": 16, "color": OTHER, "line": {"width": 2, "color": OTHER}},
                "hovertemplate": "proved: nothing below %{y:.4g}<extra></extra>",
                "name": "proved bound",
            }
        )
    if shown < len(objective) and known[shown]:
        ring = {"symbol": "circle-open", "size": 22, "color": OTHER, "line": {"width": 2.5, "color": OTHER}}
        place = {"x": [shown], "y": rounded([objective[shown]]), "mode": "markers", "marker": ring}
        lines.append({**place, "hoverinfo": "skip", "name": "size shown"})
    figure = _figure(lines, "number of terms", "squared residual", 280)
    figure["layout"]["yaxis"].update(type="log" if positive else "linear", exponentformat="power")
    if positive:  # whole powers of ten alone, else small ticks collide with them
        spread = float(np.ptp(np.log10(objective[known]))) if known.any() else 0.0
        figure["layout"]["yaxis"].update(dtick=max(1, round(spread / 6)) if spread > 1 else "D2")
    figure["layout"]["xaxis"].update(dtick=1)
    return figure


def fit_figure(run: Replay, column: int) -> Figure:
    """Return one state over time, measured, and simulated from where the measurement began."""
    lines = [
        _points(run.times, run.measured[:, column], "measured"),
        _line(run.simulated_times, run.simulated[:, column], "simulated", FOUND),
    ]
    return _figure(lines, run.time_name, run.names[column], 220)


def residual_figure(series: ResidualSeries, time_name: str) -> Figure:
    """Return what an equation leaves of the change from sample to sample, in units of the noise."""
    size = point_size(len(series.times))
    points = {**_points(series.times, series.values, "left over"), "marker": {"size": size, "color": OTHER}}
    figure = _figure([points], time_name, f"{series.equation} left over / noise", 220)
    figure["layout"]["shapes"] = [_level(-1.0), _level(1.0)]
    return figure


def correlation_figure(series: ResidualSeries) -> Figure:
    """Return the autocorrelation of what an equation leaves over, with the band of independent numbers."""
    lags = list(range(1, len(series.correlation) + 1))
    bars = {"type": "bar", "x": lags, "y": rounded(series.correlation), "marker": {"color": OTHER}}
    figure = _figure([{**bars, "hovertemplate": "%{x} apart: %{y:.3f}<extra></extra>"}], "samples apart", "", 220)
    figure["layout"]["yaxis"]["title"]["text"] = _escaped(f"{series.equation} correlation")
    figure["layout"]["yaxis"]["range"] = [min(-0.3, float(series.correlation.min(initial=0.0)) - 0.05), 1]
    figure["layout"]["shapes"] = [_level(-series.band), _level(series.band)]
    return figure


def left_over_figure(run: Replay, row: int) -> Figure:
    """Return what an equation leaves of the rate, where no residuals in units of the noise are known."""
    left = run.rates[:, row] - run.predicted[:, row]
    size = float(np.sqrt(np.mean(run.rates[:, row] ** 2))) or 1.0
    lines = [_line(run.times, 100 * left / size, "left over", OTHER)]
    return _figure(lines, run.time_name, f"{run.rate_names[row]} left over, %", 220)


def _level(height: float) -> dict[str, Any]:
    line = {"color": MEASURED, "width": 1, "dash": "dash"}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": height, "y1": height, "line": line}


def simulation_figure(names: Sequence[str], parts: Sequence[tuple[str, Array, Array]], time_name: str) -> list[Figure]:
    """Return one figure per state with the lines of several models: (label, times, states)."""
    colours = (FOUND, OTHER, MEASURED)
    figures = []
    for i, name in enumerate(names):
        lines = [
            _line(times, states[:, i], label, colour)
            for (label, times, states), colour in zip(parts, colours, strict=False)
        ]
        figures.append(_figure(lines, time_name, name, 200))
    return figures


def _figure(lines: list[Any], x: str, y: str, height: int) -> Figure:
    axis = {"zeroline": False, "gridcolor": _GRID, "linecolor": _GRID, "automargin": True}
    layout = {
        "xaxis": {**axis, "title": {"text": _escaped(x)}},
        "yaxis": {**axis, "title": {"text": _escaped(y)}},
        "height": height,
        "margin": {"l": 56, "r": 10, "t": 10, "b": 40 if x else 24},
        "legend": {"orientation": "h", "y": 1.02, "x": 0, "yanchor": "bottom"},
        "font": {"color": _TEXT, "size": 12},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": len([line for line in lines if line.get("showlegend", True)]) > 1,
    }
    if layout["showlegend"]:
        layout["margin"]["t"] = 30  # type: ignore[index]
    return {"data": lines, "layout": layout, "config": {"displayModeBar": False, "responsive": True}}


def _escaped(text: str) -> str:
    """Return text that Plotly does not read as markup: it knows a few tags in titles and labels."""
    return text.replace("<br>", "\0").replace("&", "&amp;").replace("<", "&lt;").replace("\0", "<br>")


def _line(x: Array, y: Array, name: str, colour: str, legend: bool = True) -> dict[str, Any]:
    chosen = thinned(len(x), _POINTS)
    line = {"color": colour, "width": 1.6}
    shared = {"name": name, "showlegend": legend, "hovertemplate": "%{x:.5g}: %{y:.5g}<extra></extra>"}
    return {"x": rounded(x[chosen]), "y": rounded(y[chosen]), "mode": "lines", "line": line, **shared}


def _points(x: Array, y: Array, name: str, legend: bool = True) -> dict[str, Any]:
    line = _line(x, y, name, MEASURED, legend)
    return {**line, "mode": "markers", "marker": {"size": point_size(len(x)), "color": MEASURED, "opacity": 0.55}}

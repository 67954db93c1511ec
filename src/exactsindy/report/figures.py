"""Interactive figures as plain dictionaries for Plotly's JavaScript; colours come from the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.plots import PathCurve, Predictions, Replay, ResidualSeries, StepPairs

Figure = dict[str, Any]
# Points of one line; more are not seen on a screen and make the file large.
_POINTS = 1500
# So many samples or fewer are drawn as larger points.
_FEW = 100
# Colours are names that the page replaces, so that they follow light and dark.
MEASURED, FOUND, OTHER = "--measured", "--found", "--other"


def path_figure(curve: PathCurve) -> Figure:
    """Return objective and proved bound against the number of terms."""
    hover = [
        f"{k} terms, {'proved' if done else 'not proved'}<br>{', '.join(terms) or 'none'}"
        for k, done, terms in zip(curve.sizes, curve.proved, curve.terms, strict=True)
    ]
    positive = all(value > 0 for value in curve.objective)
    bounds = rounded([value if value > 0 or not positive else np.nan for value in curve.lower_bound])
    symbols = ["circle" if done else "circle-open" for done in curve.proved]
    lines: list[Any] = [
        {
            "x": list(curve.sizes),
            "y": rounded(curve.objective),
            "text": hover,
            "hovertemplate": "%{text}<br>%{y:.5g}<extra></extra>",
            "mode": "lines+markers",
            "marker": {"size": 8, "symbol": symbols, "color": FOUND},
            "line": {"color": FOUND, "width": 1.5},
            "name": "best found",
        },
        {
            "x": list(curve.sizes),
            "y": bounds,
            "mode": "markers",
            "marker": {"symbol": "line-ew-open", "size": 16, "color": OTHER, "line": {"width": 2, "color": OTHER}},
            "hovertemplate": "proved: no %{x}-term support below %{y:.5g}<extra></extra>",
            "name": "proved bound",
        },
    ]
    if curve.chosen is not None:
        lines.append(
            {
                "x": [curve.chosen],
                "y": rounded([curve.objective[curve.chosen]]),
                "mode": "markers",
                "marker": {"symbol": "circle-open", "size": 20, "color": FOUND, "line": {"width": 2}},
                "hoverinfo": "skip",
                "name": "chosen",
            }
        )
    layout = layout_of("number of terms", "squared residual")
    layout["yaxis"].update(type="log" if positive else "linear", exponentformat="power")
    layout["xaxis"].update(dtick=1)
    if positive:  # whole powers of ten alone, else minor ticks collide; fewer of them where there are many
        values = np.log10([value for value in curve.objective if 0 < value < np.inf] or [1.0])
        layout["yaxis"].update(dtick=max(1, round(float(np.ptp(values)) / 6)) if np.ptp(values) > 1 else "D1")
    return {"data": lines, "layout": layout, "title": curve.equation}


def fit_figure(run: Replay, column: int, again: Predictions | None = None) -> Figure:
    """Return one state over time, measured and simulated, and simulated from later samples if the first run leaves."""
    lines = [
        _points(run.times, run.measured[:, column], "measured", MEASURED),
        line_of(run.simulated_times, run.simulated[:, column], "simulated", FOUND),
    ]
    if again is not None and not again.runs[0].complete:
        for n, (one, following) in enumerate(zip(again.runs[1:], [*again.runs[2:], None], strict=True)):
            shown = one.times <= (np.inf if following is None else following.start)
            restarted = line_of(one.times[shown], one.states[shown, column], "restarted", OTHER)
            restarted["line"]["dash"] = "dot"
            lines.append({**restarted, "showlegend": n == 0})
    return {"data": lines, "layout": layout_of(run.time_name, run.names[column]), "title": run.names[column]}


def step_figure(pair: StepPairs) -> Figure:
    """Return the next samples of a state of a map against the present ones, measured and predicted."""
    lines = [
        _points(pair.now, pair.later, "measured", MEASURED),
        _points(pair.now, pair.predicted, "predicted", FOUND),
    ]
    return {"data": lines, "layout": layout_of(f"{pair.state}[k]", f"{pair.state}[k+1]"), "title": pair.state}


def residual_figure(series: ResidualSeries, time_name: str) -> Figure:
    """Return the residuals of an equation over time, in units of the noise."""
    lines = [_points(series.times, series.values, "residual", OTHER)]
    layout = layout_of(time_name, "residual / noise")
    layout["shapes"] = [_level(-1.0), _level(1.0)]
    layout["showlegend"] = False
    return {"data": lines, "layout": layout, "title": f"{series.equation}, residuals"}


def correlation_figure(series: ResidualSeries) -> Figure:
    """Return the autocorrelation of the residuals of an equation, with the band of independent numbers."""
    lags = list(range(1, len(series.correlation) + 1))
    bars = {"type": "bar", "x": lags, "y": rounded(series.correlation), "marker": {"color": OTHER}, "name": "residual"}
    layout = layout_of("samples apart", "correlation")
    layout["shapes"] = [_level(-series.band), _level(series.band)]
    layout["yaxis"].update(range=[min(-0.3, float(series.correlation.min(initial=0)) - 0.05), 1])
    layout["showlegend"] = False
    return {"data": [bars], "layout": layout, "title": f"{series.equation}, correlation of residuals"}


def _level(height: float) -> dict[str, Any]:
    line = {"color": MEASURED, "width": 1, "dash": "dash"}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": height, "y1": height, "line": line}


def phase_figure(runs: Sequence[Replay]) -> Figure:
    """Return the phase portrait of the first two or three states."""
    names = runs[0].names[:3]
    lines: list[Any] = []
    for i, run in enumerate(runs):
        for states, label, colour in ((run.measured, "measured", MEASURED), (run.simulated, "simulated", FOUND)):
            chosen = thinned(len(states))
            line: dict[str, Any] = {
                axis: rounded(states[chosen, j]) for axis, j in zip("xyz", range(len(names)), strict=False)
            }
            points = label == "measured"
            line.update(
                type="scatter3d" if len(names) == 3 else "scatter",
                mode="markers" if points else "lines",
                name=label,
                showlegend=i == 0,
                marker={"size": 1.5 if len(names) == 3 else 3 if len(states) > 200 else 6, "color": colour},
                line={"color": colour, "width": 3 if len(names) == 3 else 1.5},
                hoverinfo="skip",
            )
            lines.append(line)
    layout = layout_of(names[0], names[1], height=460)
    if len(names) == 3:
        layout["scene"] = {f"{axis}axis": {"title": {"text": n}} for axis, n in zip("xyz", names, strict=True)}
        # Far enough for the numbers on the axes nearest to the eye.
        layout["scene"]["camera"] = {"eye": {"x": 1.5, "y": 1.5, "z": 1.0}, "center": {"x": 0, "y": 0, "z": -0.2}}
    return {"data": lines, "layout": layout, "title": " - ".join(names)}


def layout_of(x: str, y: str, height: int = 300) -> dict[str, Any]:
    """Return the layout of a figure with these titles of its axes."""
    return {
        "xaxis": {"title": {"text": x}, "zeroline": False},
        "yaxis": {"title": {"text": y}, "zeroline": False},
        "height": height,
        "margin": {"l": 64, "r": 12, "t": 40, "b": 44},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
    }


def line_of(x: NDArray[np.float64], y: NDArray[np.float64], name: str, colour: str) -> dict[str, Any]:
    """Return a line, thinned to what a screen shows."""
    chosen = thinned(len(x))
    line = {"color": colour, "width": 1.5}
    return {"x": rounded(x[chosen]), "y": rounded(y[chosen]), "mode": "lines", "line": line, "name": name}


def _points(x: NDArray[np.float64], y: NDArray[np.float64], name: str, colour: str) -> dict[str, Any]:
    line = line_of(x, y, name, colour)
    return {**line, "mode": "markers", "marker": {"size": point_size(len(x)), "color": colour}}


def point_size(count: int) -> float:
    """Return the size of a plot's points in pixels: a few samples must be seen beside the curve through them."""
    return 7.0 if count <= _FEW else 3.5


def thinned(count: int, most: int = _POINTS) -> NDArray[np.int64]:
    """Return which of ``count`` points are drawn: ``most`` of them, evenly."""
    return np.unique(np.linspace(0, max(count - 1, 0), min(count, most)).round().astype(np.int64))


def rounded(values: Any) -> list[float | None]:
    """Return numbers to six digits, which keeps the page small; what is not finite becomes a gap."""
    return [float(f"{value:.6g}") if np.isfinite(value) else None for value in values]

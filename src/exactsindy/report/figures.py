"""Interactive figures as plain dictionaries for Plotly's JavaScript; colours come from the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.plots import PathCurve, Replay

Figure = dict[str, Any]
# Points of one line; more are not seen on a screen and make the file large.
_POINTS = 1500
# Colours are names that the page replaces, so that they follow light and dark.
MEASURED, FOUND, OTHER = "--measured", "--found", "--other"


def path_figure(curve: PathCurve) -> Figure:
    """Return objective and proved bound against the number of terms."""
    hover = [
        f"{k} terms, {'proved' if done else 'not proved'}<br>{', '.join(terms) or 'none'}"
        for k, done, terms in zip(curve.sizes, curve.proved, curve.terms, strict=True)
    ]
    positive = all(value > 0 for value in curve.objective)
    bounds = _numbers([value if value > 0 or not positive else np.nan for value in curve.lower_bound])
    symbols = ["circle" if done else "circle-open" for done in curve.proved]
    lines: list[Any] = [
        {
            "x": list(curve.sizes),
            "y": _numbers(curve.objective),
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
                "y": _numbers([curve.objective[curve.chosen]]),
                "mode": "markers",
                "marker": {"symbol": "circle-open", "size": 20, "color": FOUND, "line": {"width": 2}},
                "hoverinfo": "skip",
                "name": "chosen",
            }
        )
    layout = _layout("number of terms", "squared residual")
    layout["yaxis"].update(type="log" if positive else "linear", exponentformat="power")
    layout["xaxis"].update(dtick=1)
    return {"data": lines, "layout": layout, "title": curve.equation}


def fit_figure(run: Replay, column: int) -> Figure:
    """Return one state over time, measured and simulated."""
    lines = [
        _points(run.times, run.measured[:, column], "measured", MEASURED),
        _line(run.simulated_times, run.simulated[:, column], "simulated", FOUND),
    ]
    return {"data": lines, "layout": _layout(run.time_name, run.names[column]), "title": run.names[column]}


def residual_figure(run: Replay, row: int) -> Figure:
    """Return what the equation leaves of the measured rate."""
    rates, predicted = run.rates[:, row], run.predicted[:, row]
    lines = [
        _line(run.times, rates, "measured rate (smoothed)", MEASURED),
        _line(run.times, rates - predicted, "left over", OTHER),
    ]
    return {"data": lines, "layout": _layout(run.time_name, run.rate_names[row]), "title": run.rate_names[row]}


def phase_figure(runs: Sequence[Replay]) -> Figure:
    """Return the phase portrait of the first two or three states."""
    names = runs[0].names[:3]
    lines: list[Any] = []
    for i, run in enumerate(runs):
        for states, label, colour in ((run.measured, "measured", MEASURED), (run.simulated, "simulated", FOUND)):
            chosen = _thinned(len(states))
            line: dict[str, Any] = {
                axis: _numbers(states[chosen, j]) for axis, j in zip("xyz", range(len(names)), strict=False)
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
    layout = _layout(names[0], names[1], height=460)
    if len(names) == 3:
        layout["scene"] = {f"{axis}axis": {"title": {"text": n}} for axis, n in zip("xyz", names, strict=True)}
    return {"data": lines, "layout": layout, "title": " - ".join(names)}


def _layout(x: str, y: str, height: int = 300) -> dict[str, Any]:
    return {
        "xaxis": {"title": {"text": x}, "zeroline": False},
        "yaxis": {"title": {"text": y}, "zeroline": False},
        "height": height,
        "margin": {"l": 64, "r": 12, "t": 12, "b": 44},
        "legend": {"orientation": "h", "y": 1.12, "x": 0},
    }


def _line(x: NDArray[np.float64], y: NDArray[np.float64], name: str, colour: str) -> dict[str, Any]:
    chosen = _thinned(len(x))
    line = {"color": colour, "width": 1.5}
    return {"x": _numbers(x[chosen]), "y": _numbers(y[chosen]), "mode": "lines", "line": line, "name": name}


def _points(x: NDArray[np.float64], y: NDArray[np.float64], name: str, colour: str) -> dict[str, Any]:
    line = _line(x, y, name, colour)
    return {**line, "mode": "markers", "marker": {"size": 4, "color": colour}}


def _thinned(count: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, max(count - 1, 0), min(count, _POINTS)).round().astype(np.int64))


def _numbers(values: Any) -> list[float | None]:
    """Return numbers to six digits, which keeps the page small; what is not finite becomes a gap."""
    return [float(f"{value:.6g}") if np.isfinite(value) else None for value in values]

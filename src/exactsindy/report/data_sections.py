"""What the page shows of the data: fits, residuals, fields, and what was measured, as plain records."""

from __future__ import annotations

import contextlib
from typing import Any

from exactsindy.data import Field, Trajectories
from exactsindy.errors import DataError, listed
from exactsindy.model import Model
from exactsindy.plots import (
    DiscoveryLike,
    predictions,
    replay,
    replay_field,
    residual_series,
    step_pairs,
)
from exactsindy.report import figures
from exactsindy.report.field_figures import field_figures

# Steps ahead at which predictions of maps are scored.
_AHEAD = (1, 2, 4, 8)


def trajectories_section(result: DiscoveryLike) -> dict[str, Any]:
    """Return fits, phase portrait, residuals and how far the model predicts."""
    data: Trajectories = result.data  # type: ignore[assignment]
    if result.model.is_map:
        return _steps(result.model, data)
    runs, again = replay(result.model, data), predictions(result.model, data)
    several = len(runs) > 1
    fits = [
        _labelled(figures.fit_figure(run, j, again if not several else None), run.label, several)
        for run in runs
        for j in range(len(run.names))
    ]
    series = residual_series(result.model, data)
    return {
        "fits": fits,
        "phase": figures.phase_figure(runs) if len(runs[0].names) > 1 else None,
        "residuals": [
            drawn
            for one in series
            for drawn in (figures.residual_figure(one, data.time_name), figures.correlation_figure(one))
        ],
        "problems": list(dict.fromkeys(run.problem for run in runs if run.problem)),
        "horizon": "" if again is None else again.sentence(),
        "shown": len(runs),
        "total": len(data),
    }


def _steps(model: Model, data: Trajectories) -> dict[str, Any]:
    """Return what is shown of a map: next samples against present ones, and how far ahead it predicts."""
    ahead = []
    for horizon in _AHEAD:
        with contextlib.suppress(DataError):  # the data are too short, or a state has no equation
            ahead.append(f"{model.score(data, horizon=horizon):.4g} ({horizon})")
    scores = f"R² of predictions from every sample, by the number of steps ahead: {', '.join(ahead)}." if ahead else ""
    return {
        "map": True,
        "fits": [figures.step_figure(pair) for pair in step_pairs(model, data)],
        "phase": None,
        "residuals": [],
        "problems": [],
        "horizon": scores,
        "shown": len(data),
        "total": len(data),
    }


def _labelled(figure: figures.Figure, label: str, several: bool) -> figures.Figure:
    return {**figure, "title": f"{figure['title']}, trajectory {label}"} if several else figure


def fields_section(result: DiscoveryLike) -> dict[str, Any]:
    """Return the fields, measured and simulated."""
    data = result.data
    assert isinstance(data, Field)
    run, problem = replay_field(result.model, data)
    simulated = run.field() if run is not None and run.success else None
    drawn = [figure for name in data.names for figure in field_figures(data, simulated, name)]
    return {"figures": drawn, "problem": problem}


def data_section(result: DiscoveryLike) -> dict[str, str]:
    """Return what was measured, row by row."""
    data = result.data
    if isinstance(data, Field):
        size = " x ".join(f"{dim} {n}" for dim, n in zip(data.dims, data.shape, strict=True))
        span = f"{data.times[0]:g} to {data.times[-1]:g}"
    else:
        size = f"{data.n_samples:,} in {len(data)} trajector{'y' if len(data) == 1 else 'ies'}"
        span = f"{min(m.times[0] for m in data):g} to {max(m.times[-1] for m in data):g}"
    rows = {"states": ", ".join(data.state_names), "samples": size, "time": span}
    if data.control_names:
        rows["controls"] = ", ".join(data.control_names)
    if isinstance(data, Trajectories) and data.parameter_names:
        rows["parameters"] = "; ".join(
            f"{name} = {listed(f'{value:g}' for value in v)}" for name, v in data.parameters.items()
        )
    counts = dict.fromkeys(len(result.problem.locate(i)[0].terms) for i in range(len(result.problem.target_names)))
    rows["candidate terms"] = " / ".join(map(str, counts))
    rows["SHA-256 of the data"] = data.fingerprint
    return rows

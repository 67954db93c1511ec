"""Figures like the paper's: means and standard errors over trials, published curves dashed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from exactsindy_experiments.pages import new_figure, write_figure
from exactsindy_experiments.paper.records import TITLES
from exactsindy_experiments.paper.studies import Setup, Study
from exactsindy_experiments.paper.summary import COUNTERPART, Cell, published_cells

_COLOURS = {
    "exact": "#1f77b4",
    "exact-constrained": "#17becf",
    "exact-all-cores": "#08306b",
    "exact-warm": "#17becf",
    "exact-short": "#e377c2",
    "stlsq": "#d62728",
    "ssr": "#2ca02c",
    "sr3": "#9467bd",
    "sr3-constrained": "#8c564b",
    "e-stlsq": "#ff7f0e",
    "gurobi": "#7f7f7f",
}
_OURS = {"exact": "#000000", "exact-constrained": "#777777"}
_MARKERS = {
    "exact-constrained": "s",
    "sr3-constrained": "s",
    "exact-all-cores": "^",
    "exact-warm": "v",
    "exact-short": "D",
}
# Panels beside one another where there is one measure only, and entries of the legend.
_ACROSS, _ENTRIES = 3, 4
_MEASURES = {
    "tpr": "true positivity rate",
    "exact": "exact-support rate",
    "log10_coef": "log10 coefficient error",
    "log10_rmse": "log10 test error (as published)",
}
# Noise levels drawn of the constraint experiment.
_LEVELS = (0.01, 0.05, 0.1)


def draw(study: Study, cells: Sequence[Cell], path: Path) -> None:
    """Write the figure of one experiment as PNG.

    Raises
    ------
    MissingDependency
        If matplotlib is not installed.
    """
    setups = [s for s in study.setups if any(_belongs(c, s) for c in cells)]
    timing = study.name == "runtime"
    measures = ["geometric_seconds"] if timing else [m for m in _MEASURES if _known(cells, m)]
    columns = [(s, study.fixed[0]) for s in setups]
    if len(study.fixed) > 1:
        columns = [(setups[0], level) for level in _LEVELS if any(c.case.noise == level for c in cells)]
    panels = [(setup, fixed, measure) for measure in measures for setup, fixed in columns]
    across = min(len(columns), _ACROSS) if len(measures) == 1 else len(columns)
    down = math.ceil(len(panels) / across)
    figure = new_figure()
    axes = figure.subplots(down, across, squeeze=False)
    for axis, (setup, fixed, measure) in zip(axes.ravel(), panels, strict=False):
        _panel(axis, study, setup, fixed, cells, measure)
        if measure == measures[0]:
            label = f", noise {fixed:.0%}" if len(study.fixed) > 1 else f", degree {setup.degree}" * (setup.degree > 0)
            axis.set_title(setup.system.replace("_", " ") + label, fontsize=10)
    for axis in axes.ravel()[len(panels) :]:
        axis.set_visible(False)
    for axis in axes[-1]:
        axis.set_xlabel("training seconds" if study.axis == "duration" else "noise", fontsize=9)
    handles, labels = _legend(axes)
    entries = min(_ENTRIES, max(len(labels), 1))
    below = 0.2 * math.ceil(len(labels) / entries) + 0.2  # inches
    height = 2.5 * down + below
    figure.set_size_inches(3.6 * across + 1.2, height)
    figure.legend(handles, labels, loc="lower center", ncol=entries, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, below / height, 1, 1))
    write_figure(figure, path, 90)


def _panel(axis: Any, study: Study, setup: Setup, fixed: float, cells: Sequence[Cell], measure: str) -> None:
    curves: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for cell in cells:
        if _belongs(cell, setup) and fixed in (cell.case.duration, cell.case.noise):
            x = cell.case.duration if study.axis == "duration" else cell.case.noise
            point = (x, getattr(cell, measure), getattr(cell, f"{measure}_se", math.nan))
            curves.setdefault((cell.case.protocol, cell.case.algorithm), []).append(point)
    for (protocol, algorithm), points in sorted(curves.items()):
        shown = sorted(point for point in points if math.isfinite(point[1]))
        if not shown:
            continue
        colour = _OURS[algorithm] if protocol == "ours" else _COLOURS[algorithm]
        marker = _MARKERS.get(algorithm, "o")
        name = TITLES[algorithm] + (", protocol ours" if protocol == "ours" else "")
        xs, ys, errors = zip(*shown, strict=True)
        bars = [0.0 if math.isnan(e) else e for e in errors]
        axis.errorbar(xs, ys, yerr=bars, color=colour, marker=marker, markersize=3, linewidth=1.2, label=name)
    for algorithm in study.algorithms:
        _dashed(axis, study, setup, fixed, algorithm, measure)
    axis.set_xscale("log")
    _few_ticks(axis)
    if measure == "geometric_seconds":
        axis.set_yscale("log")
    axis.set_ylabel(_MEASURES.get(measure, "seconds of one fit"), fontsize=8)
    axis.tick_params(labelsize=7)
    axis.grid(alpha=0.3)


def _few_ticks(axis: Any) -> None:
    """Label 1, 2 and 5 of each decade as plain numbers: ranges are often shorter than a decade."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

    axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.xaxis.set_major_formatter(FormatStrFormatter("%g"))
    axis.xaxis.set_minor_formatter(NullFormatter())


def _dashed(axis: Any, study: Study, setup: Setup, fixed: float, algorithm: str, measure: str) -> None:
    points = []
    for cell in published_cells():
        case = cell.case
        same = (case.experiment, case.system, case.degree, case.algorithm)
        at = len(study.fixed) == 1 or math.isclose(case.noise, fixed)
        if at and same == (study.name, setup.system, setup.degree, algorithm):
            points.append((case.duration if study.axis == "duration" else case.noise, float(getattr(cell, measure))))
    shown = sorted(point for point in points if math.isfinite(point[1]))
    if shown:
        label = COUNTERPART.get(algorithm, TITLES[algorithm])
        axis.plot(*zip(*shown, strict=True), "--", color=_COLOURS[algorithm], linewidth=1, label=f"{label}, published")


def _belongs(cell: Cell, setup: Setup) -> bool:
    return (cell.case.system, cell.case.degree) == (setup.system, setup.degree)


def _known(cells: Sequence[Cell], measure: str) -> bool:
    return any(math.isfinite(getattr(cell, measure)) for cell in cells)


def _legend(axes: Any) -> tuple[list[Any], list[str]]:
    found: dict[str, Any] = {}
    for axis in axes.ravel():
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    return list(found.values()), list(found)

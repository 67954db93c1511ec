"""The solver benchmark as a picture."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from exactsindy_experiments.pages import new_figure, write_figure
from exactsindy_experiments.peers import EXACT_PEERS, PEERS
from exactsindy_experiments.solver_rows import OURS, REFUSALS, Row

_MARKERS = "osD^v*"


def plot(rows: Iterable[Row], path: Path) -> None:
    """Write a PNG: left every peer's time against ours, right our time against the duration of the data."""
    every = list(rows)
    figure = new_figure(figsize=(11, 5), layout="constrained")
    against, growth = figure.subplots(1, 2)
    _peers(against, [row for row in every if row.solver != OURS and row.status not in REFUSALS])
    _durations(growth, [row for row in every if row.solver == OURS])
    write_figure(figure, path, 150)


def _peers(axes: Any, rows: list[Row]) -> None:
    for marker, name in zip(_MARKERS, EXACT_PEERS, strict=True):
        timed = [row for row in rows if row.solver == name and row.ratio > 0]
        if not timed:
            continue
        done = [row for row in timed if row.status != "time limit"]
        stopped = [row for row in timed if row.status == "time limit"]
        points = axes.scatter(*_points(done), marker=marker, s=22, alpha=0.7, label=PEERS[name].title)
        colour = points.get_facecolor()[0]
        axes.scatter(*_points(stopped), marker=marker, s=22, facecolors="none", edgecolors=[colour])
    if rows:
        low = min(row.seconds / row.ratio for row in rows if row.ratio > 0)
        high = max(row.seconds for row in rows)
        for factor in (1, 20, 1000):
            axes.plot(
                [low, high],
                [factor * low, factor * high],
                color="grey",
                lw=0.8,
                ls="--" if factor > 1 else "-",
            )
            axes.annotate(f"{factor} x", (low, factor * low), color="grey", fontsize=8, va="bottom")
        axes.set_ylim(low / 3, 3 * high)
    axes.set(xscale="log", yscale="log", xlabel="our time [s]", ylabel="peer's time [s]")
    axes.set_title("Same problem, same machine (hollow: stopped at its limit)", fontsize=10)
    axes.legend(fontsize=8, loc="lower right")  # peers are slower: their points lie above


def _points(rows: list[Row]) -> tuple[list[float], list[float]]:
    return [row.seconds / row.ratio for row in rows], [row.seconds for row in rows]


def _durations(axes: Any, rows: list[Row]) -> None:
    largest: dict[tuple[str, int], dict[float, float]] = {}
    for row in rows:
        line = largest.setdefault((row.task.library, row.n_terms), {})
        line[row.task.duration] = max(row.seconds, line.get(row.task.duration, 0.0))
    for (library, terms), times in largest.items():
        label = f"{library}, D = {terms}"
        axes.plot(*zip(*sorted(times.items()), strict=True), marker="o", ms=4, label=label)
    axes.set(xscale="log", yscale="log", xlabel="duration of the data [s]", ylabel="our time [s]")
    axes.set_title("Longest of our times per instance", fontsize=10)
    axes.legend(fontsize=8, loc="upper right")

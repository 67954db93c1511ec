"""Pictures of the answer: the fit of the whole trajectory, what is left over, and simulations from a chosen start."""

from __future__ import annotations

from typing import Any

from nicegui import html, run, ui

from exactsindy.app.figures import (
    correlation_figure,
    field_figure,
    fit_figure,
    left_over_figure,
    residual_figure,
    simulation_figure,
)
from exactsindy.app.simulating import Simulated, fit_sentence, simulate, starts
from exactsindy.app.views.desk import Desk, plot, tagged, title
from exactsindy.data import Field, Trajectories
from exactsindy.discovery import Discovery
from exactsindy.plots import Replay, ResidualSeries, replay, replay_field, residual_series

# States, and rates, that are drawn.
_MOST_DRAWN = 6


def show(desk: Desk) -> None:
    """Show the part; pictures come a moment after the equations, since simulations take longer than proofs."""
    found = desk.session.shown
    assert found is not None
    with html.section().classes("part"):
        title("Fit", "The model is started where the measurement began and left alone.")
        numbers = tagged(ui.label().classes("quiet"), "fit-numbers")
        place = ui.element("div").classes("grid")
        with place:
            ui.spinner(size="lg")
        rest = ui.element("div")
        ui.timer(0.05, lambda: _draw(place, rest, numbers, found), once=True)
    if isinstance(found.data, Trajectories):
        with html.section().classes("part"):
            title("Simulate", "From a start of your own, over the time of the first trajectory.")
            _from_start(found)


async def _draw(place: Any, rest: Any, numbers: Any, found: Discovery) -> None:
    data = found.data
    numbers.text = await run.io_bound(fit_sentence, found) or ""
    if isinstance(data, Field):
        simulated, problem = await run.io_bound(replay_field, found.model, data) or (None, "The app is closing.")
        place.clear()
        with place:
            for i, name in enumerate(data.names[:2]):
                plot(field_figure(data, data.values[i], f"{name}, measured"), "fit-plot", f"Measured {name}")
                if simulated is not None:
                    plot(field_figure(data, simulated[name], f"{name}, simulated"), "fit-plot", f"Simulated {name}")
            if problem:
                ui.label(problem).classes("notice")
        return
    runs = await run.io_bound(lambda: replay(found.model, data, most=1)) or ()
    series = await run.io_bound(residual_series, found.model, data) or ()
    place.clear()
    with place:
        for one in runs:
            for column, name in enumerate(one.names[:_MOST_DRAWN]):
                plot(fit_figure(one, column), "fit-plot", f"Measured and simulated {name}")
            if one.problem:
                ui.label(one.problem).classes("notice")
    rest.clear()
    with rest:
        _left_over(series, runs)


def _left_over(series: tuple[ResidualSeries, ...], runs: tuple[Replay, ...]) -> None:
    """Show what each equation leaves over, in units of the noise and with its autocorrelation where that is known."""
    if not series:
        with ui.element("div").classes("grid"):
            for one in runs:
                for row, name in enumerate(one.rate_names[:_MOST_DRAWN]):
                    plot(left_over_figure(one, row), "residual-plot", f"What {name} leaves over")
        return
    html.p(
        "What each equation leaves over of the change from sample to sample, in units of the noise: independent "
        "numbers of size 1 if the equation is right. Correlations outside the band speak for a missing term, or for "
        "noise that is not white."
    ).classes("quiet")
    for left in series[:_MOST_DRAWN]:
        with ui.element("div").classes("two"):
            plot(residual_figure(left, runs[0].time_name), "residual-plot", f"What {left.equation} leaves over")
            plot(correlation_figure(left), "correlation-plot", f"Correlation of what {left.equation} leaves over")


def _from_start(found: Discovery) -> None:
    start = starts(found)
    inputs = {}
    with ui.element("div").classes("line"):
        for name, value in list(start.items())[:_MOST_DRAWN]:
            number = ui.number(name, value=value, format="%.6g").props("dense outlined").style("width: 120px")
            inputs[name] = tagged(number, "start-value", f"Start of {name}")

        async def go() -> None:
            chosen = {**start, **{name: float(number.value or 0.0) for name, number in inputs.items()}}
            result = await run.io_bound(simulate, found, chosen)
            if result is not None:
                _show(place, result, found)

        tagged(ui.button("Simulate", on_click=go).props("outline no-caps"), "simulate")
    place = ui.element("div").classes("grid q-mt-sm")


def _show(place: Any, result: Simulated, found: Discovery) -> None:
    place.clear()
    with place:
        if result.problem:
            ui.label(result.problem).classes("notice")
        names = result.names[:_MOST_DRAWN]
        assert isinstance(found.data, Trajectories)
        parts = [("simulated", result.times, result.states)]
        for name, figure in zip(names, simulation_figure(names, parts, found.data.time_name), strict=True):
            plot(figure, "simulation-plot", f"Simulated {name}")

"""The search while it runs: the phase, the best terms so far, how far the proof is, and the button that stops it."""

from __future__ import annotations

from nicegui import html, ui

from exactsindy.app.running import RunView
from exactsindy.app.views.desk import Desk, scroll_to, tagged, title

# Seconds between two looks at the search.
_BETWEEN = 0.25


def show(desk: Desk) -> None:
    """Show the part while a search is under way, and its problem if it ended without an answer."""

    @ui.refreshable
    def running() -> None:
        run = desk.session.run
        if run is None or (run.view.finished and not run.view.problem):
            return
        with tagged(html.section().classes("part"), "run"):
            title("Searching" if not run.view.finished else "No answer")
            _state(desk, run.view)

    running()
    desk.parts["run"] = running.refresh
    seen: list[RunView | None] = [None]

    def look() -> None:
        run = desk.session.run
        if run is None or run.view is seen[0]:
            return
        seen[0] = run.view
        if desk.session.finish():
            desk.redraw("run", "question", "answer", "below")
            scroll_to("answer")
        elif run.view.finished:
            desk.redraw("run", "question")
        else:
            desk.redraw("run")

    ui.timer(_BETWEEN, look)


def _state(desk: Desk, view: RunView) -> None:
    if view.problem:
        tagged(ui.label(view.problem).classes("problem"), "run-problem").props("role=alert")
        return
    phases = view.phases or ("starting",)
    for phase in phases[:-1]:
        ui.label(f"✓ {phase}").classes("phase quiet")
    ui.label(f"… {phases[-1]}").classes("phase phase-now").props("aria-live=polite")
    for equation in view.equations:
        count = len(equation.terms)
        terms = ", ".join(equation.terms) or "no term"
        proof = (
            "" if equation.gap is None else f", bound {100 * equation.gap:.2g} % below" if equation.gap else ", proved"
        )
        ui.label(f"{equation.name}: {count} term{'' if count == 1 else 's'} ({terms}){proof}").classes("quiet")
    ui.label(f"{view.seconds:.0f} s, {view.nodes:,} nodes").classes("quiet")
    words = "End without an answer" if view.stopping else "Stop and keep the best so far"

    def stop() -> None:
        if desk.session.run is not None:
            desk.session.run.stop()
            desk.redraw("run")

    tagged(ui.button(words, on_click=stop).props("outline no-caps"), "stop")

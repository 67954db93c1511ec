"""Two answers side by side."""

from __future__ import annotations

from nicegui import html, ui

from exactsindy.app.comparing import Side, side
from exactsindy.app.views.desk import Desk, tagged, title


def show(desk: Desk) -> None:
    """Show the part: the answer put aside beside the one above."""
    session = desk.session
    assert session.shown is not None
    with html.section().classes("part"):
        title("Compare", "Put this answer aside, change something above, and see both.")

        def keep() -> None:
            session.kept = session.shown
            desk.redraw("below")

        tagged(ui.button("Keep this answer for comparison", on_click=keep).props("outline no-caps"), "keep")
        if session.kept is not None:
            with tagged(ui.element("div").classes("two q-mt-sm"), "comparison"):
                _side("Kept", side(session.kept, session.shown))
                _side("Shown above", side(session.shown, session.kept))


def _side(name: str, one: Side) -> None:
    with ui.element("div").classes("side"):
        html.h3(name).classes("sub-name").style("margin-top: 0")
        for text, misfit, verdict in one.equations:
            html.p(text).style("margin: 6px 0 0")
            html.p(f"{misfit} {verdict}".strip()).classes("quiet")

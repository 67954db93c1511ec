"""Files to take away, and the lines that repeat everything without the page."""

from __future__ import annotations

from nicegui import html, run, ui

from exactsindy.app.exports import EXPORTS
from exactsindy.app.views.desk import Desk, complain, tagged, title
from exactsindy.errors import ExactSindyError


def show(desk: Desk) -> None:
    """Show the part."""
    session = desk.session
    with html.section().classes("part"):
        title("Take away")
        with ui.element("div").classes("line"):
            for word in EXPORTS:
                button = ui.button(word, on_click=lambda word=word: _download(desk, word)).props("outline no-caps")
                tagged(button, f"export-{word.partition(' ')[0].lower()}")
        if session.changes.by_equation:
            text = "The run folder holds the answer of the search; the lines for Python repeat your changes."
            html.p(text).classes("quiet")
        python, shell = session.lines()
        html.h3("The same in Python").classes("sub-name")
        tagged(html.pre(python).classes("code"), "python-lines")
        html.h3("The same on the command line").classes("sub-name")
        tagged(html.pre(shell).classes("code"), "shell-line")


async def _download(desk: Desk, word: str) -> None:
    session = desk.session
    assert session.source is not None
    assert session.shown is not None
    assert session.selected is not None
    try:
        export = await run.io_bound(EXPORTS[word], session.shown, session.selected, session.source.title)
    except ExactSindyError as error:
        complain(str(error))
        return
    if export is not None:
        ui.download.content(export.content, export.name, export.media_type)

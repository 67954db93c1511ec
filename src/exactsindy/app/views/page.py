"""The page and its sessions: one for each tab, kept in memory, removed when the app ends or after a day."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from nicegui import app, html, ui

from exactsindy.app.session import Session
from exactsindy.app.views import answer_view, data_view, question_view, run_view
from exactsindy.app.views.desk import Desk
from exactsindy.app.views.style import CSS

#: Most sessions at one time; the oldest are closed first.
MOST_SESSIONS = 20
_KEY = "session"
_sessions: list[Session] = []


def register(folder: Path) -> None:
    """Define the page; data of its sessions go into a folder."""
    app.storage.max_tab_storage_age = timedelta(days=1).total_seconds()

    @ui.page("/", title="exactsindy")
    async def page() -> None:
        await ui.context.client.connected()
        session = app.storage.tab.get(_KEY)
        if not isinstance(session, Session) or session not in _sessions:
            session = _open(folder)
            app.storage.tab[_KEY] = session
        _show(Desk(session))


def _open(folder: Path) -> Session:
    while len(_sessions) >= MOST_SESSIONS:
        _sessions.pop(0).close()
    session = Session.within(folder)
    _sessions.append(session)
    return session


def close_sessions() -> None:
    """End all searches and remove all data."""
    while _sessions:
        _sessions.pop().close()


def _show(desk: Desk) -> None:
    ui.add_css(CSS)
    ui.dark_mode(None)  # as the browser prefers
    ui.colors(primary="#0072b2")
    with html.main().classes("page"):
        with ui.element("div").classes("top"):
            html.h1("exactsindy")
            html.span("Governing equations from data, proved. Everything stays on this computer.").classes("quiet")
        data_view.show(desk)
        question_view.show(desk)
        run_view.show(desk)
        answer_view.show(desk)

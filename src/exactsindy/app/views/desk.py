"""What the views of one page share: the session, and how the parts of the page are drawn again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from nicegui import html, run, ui

from exactsindy.app.session import Session
from exactsindy.app.words import on_page
from exactsindy.errors import ExactSindyError


@dataclass
class Desk:
    """One page: its session, and its parts by name."""

    session: Session
    parts: dict[str, Callable[[], Any]] = field(default_factory=dict)

    def redraw(self, *names: str) -> None:
        """Draw parts of the page again; all of them if none is named."""
        for name in names or tuple(self.parts):
            self.parts[name]()


async def attempt(action: Callable[..., Any], *arguments: Any) -> bool:
    """Do something that may take a while beside the page; return True, or show the sentence why it failed."""
    try:
        await run.io_bound(action, *arguments)
    except ExactSindyError as error:
        complain(on_page(str(error)))
        return False
    return True


def complain(sentence: str) -> None:
    """Show why something could not be done."""
    ui.notification(sentence, type="warning", position="top", timeout=12.0, close_button="OK", multi_line=True)


def title(text: str, about: str = "") -> None:
    """Begin a part of the page."""
    html.h2(text).classes("part-name")
    if about:
        html.p(about).classes("quiet")


def tagged(element: Any, name: str, label: str = "") -> Any:
    """Give an element a name for tests and a label for those who cannot see it.

    Properties are set one by one: a line of them would be parsed, and labels may hold names from data.
    """
    element.props["data-testid"] = name
    if label:
        element.props["aria-label"] = label
    return element


def scroll_to(name: str) -> None:
    """Bring a part of the page into view, by the name that `tagged` gave it."""
    ui.run_javascript(f"document.querySelector('[data-testid={name}]')?.scrollIntoView({{behavior: 'smooth'}})")


def plot(figure: dict[str, Any], name: str, label: str) -> Any:
    """Show a figure."""
    element = tagged(ui.plotly(figure).classes("plot"), name, label)
    element.props["role"] = "img"
    return element

"""Pieces of results as text for a terminal and as HTML for notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape


def equation(target: str, terms: Iterable[tuple[str, float]]) -> str:
    """Return ``x' = -10 x + 9.998 y``."""
    text = ""
    for name, value in terms:
        sign = "-" if value < 0 else "+"
        number = f"{abs(value):.6g}"
        piece = number if name == "1" else f"{number} {name}"
        text += f" {sign} {piece}" if text else (f"-{piece}" if value < 0 else piece)
    return f"{target} = {text or '0'}"


def seconds(value: float) -> str:
    """Return a time in the unit that suits it."""
    if value < 1e-3:
        return f"{value * 1e6:.0f} us"
    return f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.1f} s"


def percent(value: float) -> str:
    """Return a margin in per cent, or in words."""
    if math.isnan(value):
        return "not proved"
    if math.isinf(value):
        return "no rival"
    return "tie" if value == 0 else f"{100 * value:.3g} %"


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a plain table; every cell is escaped."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align:left">{escape(cell)}</td>' for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def note(text: str) -> str:
    """Return a small grey line."""
    return f'<div style="opacity:.7;font-size:90%;text-align:center">{escape(text)}</div>'

"""A discovery as HTML for notebooks."""

from __future__ import annotations

from html import escape

from exactsindy.model import to_mathml
from exactsindy.report.found import Found
from exactsindy.report.text import facts, joint_facts, proved


def discovery_html(found: Found) -> str:
    """Return equations with standard errors, what is known about each, and the warnings."""
    lines = []
    for i, row in enumerate(found.model.rows):
        lines.append(to_mathml([row], errors=True))
        lines += [_note(sentence) for sentence in facts(found, i)]
    if found.solution.joint:
        lines += [_note(sentence) for sentence in joint_facts(found)]
    if found.warnings:
        items = "".join(f"<li>{escape(notice.message)}</li>" for notice in found.warnings)
        lines.append(f"<details><summary>{len(found.warnings)} warnings</summary><ul>{items}</ul></details>")
    lines.append(f"<p>{escape(proved(found))} Not proved: that the system is this.</p>")
    return f"<div>{''.join(lines)}</div>"


def _note(text: str) -> str:
    return f'<div style="opacity:.75;font-size:90%;text-align:center">{escape(text)}</div>'

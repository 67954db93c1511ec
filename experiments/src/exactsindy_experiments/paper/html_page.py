"""The report as one HTML file: the same text, with its figures inside."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterator
from pathlib import Path

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; font-size: 13px; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { border: 1px solid #ddd; padding: 2px 8px; text-align: left; white-space: nowrap; }
th { background: #f4f4f4; } img { max-width: 100%; } code { background: #f4f4f4; padding: 0 3px; }
"""


def html_page(markdown: str, folder: Path) -> str:
    """Return a page from the Markdown that `report` writes (headings, tables, lists, images, bold, italic, code).

    Parameters
    ----------
    markdown
        The text.
    folder
        Where its images are.

    Examples
    --------
    >>> "<h1>Results</h1>" in html_page("# Results", Path("."))
    True
    """
    body = "\n".join(_blocks(markdown, folder))
    title = html.escape(markdown.lstrip("# ").partition("\n")[0])
    head = f'<meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n{body}\n</body></html>\n'


def _blocks(markdown: str, folder: Path) -> Iterator[str]:
    for block in re.split(r"\n\s*\n", markdown.strip()):
        lines = block.splitlines()
        if match := re.match(r"(#+) (.*)", block):
            level = len(match[1])
            yield f"<h{level}>{_inline(match[2])}</h{level}>"
            lines = lines[1:]
        if not lines:
            continue
        if match := re.fullmatch(r"!\[(.*)\]\((.*)\)", lines[0]):
            data = base64.b64encode((folder / match[2]).read_bytes()).decode()
            yield f'<img alt="{html.escape(match[1])}" src="data:image/png;base64,{data}">'
        elif lines[0].startswith("|"):
            yield _table(lines)
        elif lines[0].startswith("- "):
            items = re.split(r"\n- ", "\n".join(lines)[2:])
            yield "<ul>" + "".join(f"<li>{_inline(item)}</li>" for item in items) + "</ul>"
        else:
            yield f"<p>{_inline(' '.join(lines))}</p>"


def _table(lines: list[str]) -> str:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    head = "".join(f"<th>{_inline(cell)}</th>" for cell in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{_inline(cell)}</td>" for cell in row) + "</tr>" for row in rows[2:])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _inline(text: str) -> str:
    safe = html.escape(text, quote=False)
    safe = re.sub(r"`([^`]*)`", r"<code>\1</code>", safe)
    safe = re.sub(r"\*\*([^*]*)\*\*", r"<strong>\1</strong>", safe)
    return re.sub(r"\*([^*\s][^*]*)\*", r"<em>\1</em>", safe)

"""Runs the examples of Markdown pages; ``python tests/doc_examples.py`` writes what they print into the pages.

A block marked ``python`` is run, and what it prints is shown in the unmarked block after it. A block marked ``console``
holds ``$ exactsindy ...`` commands, each followed by what it prints. A block marked ``py`` is not run. All blocks of a
page share one folder and one set of names.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```\n(?:\n?^```(?:text)?\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Example:
    """One block: what the page shows and what it printed."""

    shown: str
    printed: str


def pages() -> list[Path]:
    """Return every page with a block to run."""
    return sorted(page for page in (ROOT / "docs").rglob("*.md") if BLOCK.search(page.read_text(encoding="utf-8")))


def run(page: Path) -> tuple[list[Example], str]:
    """Return the examples of a page, and the page with what they printed."""
    names: dict[str, object] = {"__name__": "__main__"}
    found: list[Example] = []

    def replace(match: re.Match[str]) -> str:
        kind, code, shown = match.groups()
        if kind == "console":
            printed = console(code)
            found.append(Example(code.strip(), printed.strip()))
            return f"```console\n{printed}```\n"
        printed = python(code, page.name, names)
        found.append(Example((shown or "").strip(), printed.strip()))
        result = f"\n```\n{printed.strip()}\n```\n" if printed.strip() else ""
        return f"```python\n{code}```\n{result}"

    with tempfile.TemporaryDirectory() as folder, working_in(folder):
        text = BLOCK.sub(replace, page.read_text(encoding="utf-8"))
    return found, text


def python(code: str, page: str, names: dict[str, object]) -> str:
    """Return what a block of Python prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, page, "exec"), names)
    return printed.getvalue()


def console(block: str) -> str:
    """Return the commands of a block, each with what it prints."""
    from typer.testing import CliRunner

    from exactsindy.cli import app

    text = ""
    for line in (line for line in block.splitlines() if line.startswith("$ ")):
        words = shlex.split(line[2:])
        assert words[0] == "exactsindy", line
        done = CliRunner().invoke(app, words[1:], terminal_width=100)
        shown = "\n".join(row.rstrip() for row in done.output.splitlines())
        text += f"{line}\n{shown}\n" if shown else f"{line}\n"
    return text


@contextlib.contextmanager
def working_in(folder: str):
    """Work in a folder for a while."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


if __name__ == "__main__":
    chosen = [ROOT / name for name in sys.argv[1:]] or pages()
    for page in chosen:
        examples, text = run(page)
        changed = sum(example.shown != example.printed for example in examples)
        if changed:
            page.write_text(text, encoding="utf-8")
        print(f"{page.relative_to(ROOT)}: {len(examples)} examples, {changed} changed")

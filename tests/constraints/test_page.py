"""The page whose examples print what they show; ``python tests/constraints/test_page.py`` writes what they print."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ["constraints.md"]
BLOCK = re.compile(r"```python\n(.*?)```\n(?:```text\n(.*?)```\n)?", re.DOTALL)


def run(page):
    """Yield (what is shown, what is printed, position of what is shown) of each block that is run."""
    text, names = (DOCS / page).read_text(encoding="utf-8"), {}
    for number, match in enumerate(BLOCK.finditer(text)):
        if number == 0:
            continue  # the first block is a synopsis
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(match[1], f"{page} block {number}", "exec"), names)
        if match[2] is not None:
            yield match[2], printed.getvalue(), match.span(2)


@pytest.mark.parametrize("page", PAGES)
def test_examples_print_what_is_shown(page):
    for shown, printed, _ in run(page):
        assert printed == shown


if __name__ == "__main__":
    for name in PAGES:
        content = (DOCS / name).read_text(encoding="utf-8")
        for _, output, (start, stop) in reversed(list(run(name))):
            content = content[:start] + output + content[stop:]
        (DOCS / name).write_text(content, encoding="utf-8")

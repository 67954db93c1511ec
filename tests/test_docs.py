"""The pages of docs/ that hold examples print what they show."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
PAGES = ["coming_from_pysindy.md"]
EXAMPLE = re.compile(r"```python\n(.*?)```(?:\s*```\n(.*?)```)?", re.DOTALL)


def run(page):
    """Run the examples of a page one after the other; return (shown, printed) of each."""
    names, pairs = {}, []
    for code, shown in EXAMPLE.findall((DOCS / page).read_text(encoding="utf-8")):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page, "exec"), names)
        pairs.append((shown.strip(), printed.getvalue().strip()))
    return pairs


@pytest.mark.parametrize("page", PAGES)
def test_examples_print_what_is_shown(page):
    pytest.importorskip("pysindy")
    pairs = run(page)
    assert pairs
    for shown, printed in pairs:
        assert printed == shown


def test_measured_figures_are_those_of_the_benchmark():
    figures = re.findall(r"^- \w+\.MIOSR.*: .*$", (DOCS / "benchmarks" / "miosr.md").read_text(), re.MULTILINE)
    page = (DOCS / "coming_from_pysindy.md").read_text()
    assert len(figures) == 3
    assert all(line in page for line in figures)

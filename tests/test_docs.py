"""The pages of docs/ print what they show, and hold the measured figures."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from doc_examples import ROOT, pages, run

DOCS = Path(__file__).parent.parent / "docs"
NEEDS = {"coming_from_pysindy.md": "pysindy", "constraints.md": "clarabel"}
NUMBER = re.compile(r"[-+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")


def agree(shown, printed):
    """Say whether two texts are the same up to the last digits of their numbers, which differ between machines."""
    if NUMBER.split(shown) != NUMBER.split(printed):
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True)
    numbers = ((float(a.replace(",", "")), float(b.replace(",", ""))) for a, b in pairs)
    return all(math.isclose(a, b, rel_tol=0.03, abs_tol=1e-12) for a, b in numbers)


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_print_what_is_shown(page):
    for needed in ("matplotlib", "plotly", "jinja2", *filter(None, [NEEDS.get(page.name)])):
        pytest.importorskip(needed)
    examples, _ = run(page)
    assert examples
    for example in examples:
        assert agree(example.shown, example.printed), f"shown:\n{example.shown}\nprinted:\n{example.printed}"


def test_the_comparison_sees_differences():
    assert agree("x' = -9.999 x, 2,500 rows", "x' = -9.998 x, 2,500 rows")
    assert not agree("x' = -9.999 x", "x' = -9.999 y")
    assert not agree("x' = -9.999 x", "x' = 9.999 x")
    assert not agree("confidence 98 %", "confidence 90 %")
    assert not agree("a 1", "a 1 2")


def test_pages_with_examples_are_found():
    names = {page.name for page in pages()}
    assert {"quickstart.md", "ode.md", "noisy.md", "pde.md", "selection.md", "measured.md", "cli.md"} <= names


def test_pages_of_the_navigation_exist():
    listed = set(re.findall(r"([\w/]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    assert len(listed) > 20
    assert listed <= {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}


def test_measured_figures_are_those_of_the_benchmark():
    figures = re.findall(r"^- \w+\.MIOSR.*: .*$", (DOCS / "benchmarks" / "miosr.md").read_text(), re.MULTILINE)
    page = (DOCS / "coming_from_pysindy.md").read_text()
    assert len(figures) == 3
    assert all(line in page for line in figures)

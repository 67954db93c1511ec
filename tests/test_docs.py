"""The pages of docs/ print what they show, and hold the measured figures."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from doc_examples import ROOT, pages, run
from public_names import public_names

DOCS = Path(__file__).parent.parent / "docs"
NEEDS = {
    "coming_from_pysindy.md": "pysindy",
    "constraints.md": "clarabel",
    "proof.md": "exactsindy_check",
    "howto.md": "exactsindy_check",
}
NUMBER = re.compile(r"[-+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")


def agree(shown, printed):
    """Return True if two texts are the same up to the last digits of their numbers, which differ between machines."""
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


def test_the_reference_shows_every_public_name():
    text = "".join(page.read_text(encoding="utf-8") for page in (DOCS / "reference").glob("*.md"))
    shown = {name.rpartition(".")[2] for name in re.findall(r"^::: exactsindy\.([\w.]+)$", text, re.MULTILINE)}
    assert not [name for name in public_names() if name.rpartition(".")[2] not in shown]


def test_lines_fit_a_screen():
    pages = [*DOCS.glob("*.md"), *(DOCS / "tutorials").glob("*.md"), *(DOCS / "reference").glob("*.md")]
    for page in pages:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        long = [line for line in text.splitlines() if len(line) > 120 and not line.startswith("|")]
        assert not long, f"{page.name}: {long[0]}"


def test_measured_figures_are_those_of_the_benchmark():
    figures = re.findall(r"^- \w+\.MIOSR.*: .*$", (DOCS / "benchmarks" / "miosr.md").read_text(), re.MULTILINE)
    page = " ".join((DOCS / "coming_from_pysindy.md").read_text().split())
    assert len(figures) == 3
    assert all(line in page for line in figures)


def test_figures_of_the_readme_are_those_of_the_pages():
    readme, trust = (" ".join(page.read_text().split()) for page in (ROOT / "README.md", DOCS / "trust.md"))
    tried, wrong = re.search(
        r"([\d,]+) problems in .*?\*\*(\d+) wrong\*\*", (DOCS / "benchmarks" / "torture.md").read_text(), re.DOTALL
    ).groups()
    assert f"{tried} hostile problems against the exact value of every support: {wrong} wrong" in readme
    assert f"{tried} problems, {wrong} wrong" in trust
    ratio, cases, least = re.search(
        r"^All: Gurobi needs (\d+) times our native call \(geometric mean of (\d+); least (\d+)\)",
        (DOCS / "benchmarks" / "constraints.md").read_text(),
        re.MULTILINE,
    ).groups()
    assert f"needs {ratio} times our native search (geometric mean of {cases} problems, least {least}," in readme

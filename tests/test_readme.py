"""The README's examples print what the README shows (up to times and the last digits)."""

from __future__ import annotations

import re
from pathlib import Path

from doc_examples import run
from test_docs import agree

README = Path(__file__).parent.parent / "README.md"


def without_times(text):
    return re.sub(r"\| \d+ nodes \| [\d.]+ \w+", "", text).strip()


def test_examples_print_what_is_shown():
    examples, _ = run(README)
    assert len(examples) == 2
    for example in examples:
        shown, printed = without_times(example.shown), without_times(example.printed)
        assert agree(shown, printed), f"shown:\n{shown}\nprinted:\n{printed}"


def test_a_newcomer_meets_the_essentials_first():
    text = README.read_text(encoding="utf-8")
    order = ["![Lorenz", "## Install", "## Five lines", "Identified, over 99 %", "## Without Python", "## Measured"]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)

"""Constraint text is read in linear time, and nothing in it is left out silently."""

from __future__ import annotations

import time

import pytest

from exactsindy.constraints import parse_constraint
from exactsindy.errors import ConstraintError


@pytest.mark.parametrize(
    "text",
    [
        "x': " + "x+" * 20_000 + "x == 0",
        "x': " + "1" * 40_000 + "*x == 0",
        "x': " + "1e" * 20_000 + " == 0",
        "x': " + "1.e+" * 10_000 + "x == 0",
        "x':" + "-:" * 20_000 + "x == 0",
        "x': " + "-" * 40_000 + "x == 0",
        "x': " + "(" * 20_000 + "x" + ")" * 20_000 + " == 0",
        "x':" * 10_000 + "x == 0",
        " " * 40_000 + "x': x == 0",
    ],
    ids=lambda text: text[:8],
)
def test_long_text(text):
    begin = time.perf_counter()
    try:
        parse_constraint(text)
    except ConstraintError as error:
        sentence = str(error)
        if len(sentence) > 600:
            pytest.fail(sentence)
    assert time.perf_counter() - begin < 2


def test_the_error_is_one_line():
    with pytest.raises(ConstraintError) as caught:  # found by the fuzzer
        parse_constraint("x\ny + z == 0")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x': x + (y == 0", "a parenthesis is missing"),
        ("x': x) + y == 0", "a parenthesis is missing"),
        ("x': x + == 0", "nothing follows its last sign"),
        ("x': - + y == 0", "nothing follows a sign or a colon"),
        ("x': y + 2* == 0", "nothing follows its \\*"),
        ("x': 1e999 x == 0", "its number is above the largest double"),
        ("x': x == 1e400", "its number is above the largest double"),
    ],
)
def test_what_was_read_without_a_part_of_it_is_refused(text, why):
    with pytest.raises(ConstraintError, match=why):
        parse_constraint(text)

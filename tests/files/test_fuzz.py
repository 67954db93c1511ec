"""A slice of `make torture`: random text and random mutations of files end in an answer or a sentence."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fuzz_files
from exactsindy.constraints import parse_constraint
from exactsindy.errors import ExactSindyError, ProblemError
from exactsindy.library import Variables, parse_term

VARIABLES = Variables(("x", "y", "u"), ("c",), "t", ("a", "b"))
PIECES = [*"xy()^+-*/. :20é٣\n", "u_a", "u_ab", "sin(", "sqrt(", "**", "-3", "1e300", "1e-320", "x^1000", "^-1"]
PIECES += ["999999999999", "(x+y)", "x'", "==", "<=", ">=", "1e", "e-"]
TEXTS = st.one_of(st.text(max_size=80), st.lists(st.sampled_from(PIECES), max_size=25).map("".join))


@given(TEXTS)
@settings(max_examples=400, deadline=None)
def test_terms(text):
    with suppress(ExactSindyError):
        term = parse_term(text, VARIABLES)
        assert parse_term(term.name, VARIABLES) == term
        assert term.latex
        assert term.python


@given(TEXTS, st.sampled_from(["", "x': "]), st.sampled_from(["", " == 0", " <= y': x"]))
@settings(max_examples=400, deadline=None)
def test_constraints(text, start, end):
    with suppress(ExactSindyError):
        parse_constraint(start + text + end)


def test_a_number_that_underflows():
    with pytest.raises(ProblemError, match="a number is divided by zero"):  # found by the fuzzer: 1e300^-3 is 0
        parse_term("x/1e300^-3", VARIABLES)


def test_files(tmp_path):
    counts = fuzz_files.drawn(fuzz_files._targets(tmp_path), seconds=4.0, seed=7)
    assert all(counts.values())

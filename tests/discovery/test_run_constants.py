"""Inner constants in a run folder: verify compares them with the terms of the regression."""

from __future__ import annotations

import json

import numpy as np
import pytest

import exactsindy as es
from exactsindy.discovery import NEVER_CHECKED, verify_run
from exactsindy.discovery.run_constants import _stands
from exactsindy.library import Variables, parse_term


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    t = np.arange(0.0, 6.0, 0.05)
    x = np.sqrt(1.0 + 2.0 * t) - 1.0  # x' = 1/(1 + x)
    library = es.Polynomials(1) + es.Terms(["1/(K + x)"], K=(0.2, 4.0))
    found = es.discover(x[:, None], t, states=("x",), library=library, k_max=2, form="strong")
    assert found.constants
    return found.save(tmp_path_factory.mktemp("constants") / "run")


def test_true_constants_pass_and_what_is_not_checked_is_listed(run):
    result = verify_run(run)
    assert result.ok
    assert not result.unchecked
    assert all(text in str(result) for text in NEVER_CHECKED)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"value": 1.5}, "no term of x' has these values"),
        ({"equation": "y'"}, "there is no equation"),
        ({"name": "C"}, "no term of x' has these values"),
        ({"term": "1/(K + x^2)"}, "no term of x' has these values"),
        ({"within": "x"}, "no term of x' has these values and the name 'x'"),
        ({"within": "1/(7 + x)"}, "no term of x' has these values and the name '1/(7 + x)'"),
    ],
)
def test_false_constants_are_found(run, change, words):
    path = run / "results.json"
    honest = path.read_text(encoding="utf-8")
    record = json.loads(honest)
    record["constants"][0].update(change)
    path.write_text(json.dumps(record), encoding="utf-8")
    try:
        assert any(words in failure for failure in verify_run(run).failures)
    finally:
        path.write_text(honest, encoding="utf-8")


def test_a_constant_named_twice_is_found(run):
    stored = es.Discovery.load(run)
    twice = {**vars(stored), "constants": stored.constants * 2}
    assert any("a constant is there twice" in text for text in verify_run(es.Discovery(**twice)).failures)


@pytest.mark.parametrize(
    ("text", "within", "values", "stands"),
    [
        ("S/(1 + K1 S + K2 S^2)", "", {"K1": 2.0, "K2": 0.6}, True),
        ("S/(1 + K1 S + K2 S^2)", "", {"K1": 2.0, "K2": 0.5}, False),
        ("1/(1 + K1 S + K2 S^2)", "", {"K1": 2.0, "K2": 0.6}, True),  # numerators are terms of their own
        ("S/(1 + K1 S + K2 S^2)", "", {"K1": 2.0}, False),
        ("b^2/(K^2 + b^2)", "b^2/(0.25 + b^2)", {"K": 0.5}, True),
        ("b^2/(K^2 + b^2)", "b^2/(0.25 + b^2)", {"K": 0.4}, False),
        ("sin(w S)", "sin(1.7 S)", {"w": 1.7}, True),
        ("sin(w S)", "sin(1.7 S)", {"w": 1.8}, False),
        ("w S", "S", {"w": 1.8}, False),
        ("S/(K", "S", {"K": 1.0}, False),
    ],
)
def test_terms_with_numbers_for_their_constants(text, within, values, stands):
    variables = Variables(("S", "b"))
    names = ("1", "S", "S/(1 + 2 S + 0.6 S^2)", "b^2/(0.25 + b^2)", "sin(1.7 S)")
    terms = {name: parse_term(name, variables) for name in names}
    assert _stands(text, within, values, terms, variables) is stands

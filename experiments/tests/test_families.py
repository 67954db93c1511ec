"""The page of drawn laws outside polynomials: how answers are counted."""

from __future__ import annotations

from exactsindy_experiments.default_cost import data_sets
from exactsindy_experiments.families_benchmark import page


def row(library, right, confidence, *, outside=True, seed=127):
    return {
        **{"seed": seed, "family": "holling", "equation": "x'", "outside": outside, "noise": 0.01, "library": library},
        **{"right": right, "found": "x' = x", "confidence": confidence, "tried": [], "cpu_seconds": 2.0},
    }


def test_right_sure_and_withheld_answers_are_counted():
    rows = [row("auto", True, 0.97), row("auto", False, 0.92, seed=129), row("auto", False, None, seed=131)]
    rows += [row("polynomials", False, None), row("polynomials", True, 0.99, outside=False)]
    text = page(rows, "Here.")
    assert "| holling | 1 of 3 | 2, 1 wrong | 1 | 0 | 1 | - | 1 of 1 | 2 | 2 |" in text
    assert "- holling, seed 129: `x' = x`" in text
    assert "| 90 to 95 % | 1 | 92 % | 0 of 1 |" in text
    assert "127 to 131, reporting half" in text


def test_data_of_the_cost_of_the_default():
    names = [name for name, _ in data_sets([1], [0.01])]
    assert names[0] == "lorenz, 1 %"
    assert names[-1] == "drawn 1, 1 %"

"""The check that found terms can be the law, and one problem of the Strogatz benchmark."""

import numpy as np
import pytest

from exactsindy.library import Variables, parse_term
from exactsindy_experiments.strogatz_benchmark import NOISES, SYSTEMS, cases, clean, page, run
from exactsindy_experiments.structure_check import is_law, parameters

XY = Variables(("x", "y"))


@pytest.fixture(scope="module")
def states():
    return np.random.default_rng(0).uniform(0.5, 2.0, (60, 2))


@pytest.mark.parametrize(
    ("terms", "right"),
    [
        (["x", "x y/(0.9 + x)"], True),  # the constant is fitted: 1
        (["x", "x y/(0.9 + x^2)"], False),
        (["x", "y", "y/(0.9 + x)"], True),  # the same function written in another way
        (["x", "x y/(0.9 + x)", "y^2"], False),  # one term too many
        (["x y/(0.9 + x)"], False),
    ],
)
def test_terms_that_can_be_the_law(states, terms, right):
    x, y = states.T
    rate = 2 * x - x * y / (1 + x)
    assert is_law([parse_term(text, XY) for text in terms], states, ("x", "y"), rate) is right


def test_terms_over_one_denominator_may_write_the_law(states):
    x, y = states.T
    rate = x - 0.3 * x**2 - 3 * x * y / (1 + 1.4 * x)
    over = [f"{top}/(1 + 1.40984 x)" for top in ("x", "x y", "x^3")]
    assert is_law([parse_term(text, XY) for text in ("x", *over)], states, ("x", "y"), rate)
    assert not is_law([parse_term(text, XY) for text in ("x", "y", *over)], states, ("x", "y"), rate)


def test_coefficients_and_inner_constants_are_counted():
    assert parameters([parse_term(text, XY) for text in ("x", "x y/(1 + 0.5 x^2)", "sin(x - y)")]) == 4


def test_every_problem_has_its_rows_and_its_size():
    assert len(list(cases(1))) == 14 * len(NOISES)
    for name, system in SYSTEMS.items():
        members = clean(name, 0)
        assert [len(rates) for _, rates in members] == [100] * 4
        assert all(np.isfinite(rates).all() for _, rates in members)
        assert len(system.sizes) == 2


def test_a_polynomial_problem_is_solved_and_reported():
    row = run("vdp", 1, 0.0, 0, 20.0)
    assert row["solved"]
    assert "| vdp2 | 1 of 1 |" in page([row], "here")

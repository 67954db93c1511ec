from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactsindy.errors import ProblemError
from exactsindy.library import Polynomials

# What PySINDy's PolynomialLibrary(degree=3).get_feature_names(["x", "y", "z"]) lists, in its order.
PYSINDY_CUBIC = (
    "1",
    "x",
    "y",
    "z",
    "x^2",
    "x y",
    "x z",
    "y^2",
    "y z",
    "z^2",
    "x^3",
    "x^2 y",
    "x^2 z",
    "x y^2",
    "x y z",
    "x z^2",
    "y^3",
    "y^2 z",
    "y z^2",
    "z^3",
)


def names(library, variables=("x", "y", "z")):
    return tuple(term.name for term in library.terms(variables))


def test_order_and_names_are_those_of_pysindy():
    assert names(Polynomials(3)) == PYSINDY_CUBIC
    assert names(Polynomials(3, bias=False)) == PYSINDY_CUBIC[1:]
    assert names(Polynomials(2, interactions=False), ("x", "y")) == ("1", "x", "y", "x^2", "y^2")


@pytest.mark.parametrize(("d", "degree", "count"), [(3, 5, 56), (2, 5, 21), (6, 3, 84), (6, 5, 462)])
def test_library_sizes_of_the_paper(d, degree, count):
    assert len(Polynomials(degree).terms([f"x{i}" for i in range(d)])) == count


def test_names_follow_the_order_of_the_states_not_the_alphabet():
    assert "theta omega" in names(Polynomials(2), ("theta", "omega"))


def test_some_variables_only():
    assert names(Polynomials(2, of=("x", "z"))) == ("1", "x", "z", "x^2", "x z", "z^2")
    assert Polynomials(2, of=["x"]) == Polynomials(2, of=("x",))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 4), st.integers(0, 5), st.booleans(), st.integers(0, 2**32 - 1))
def test_values_are_the_products(d, degree, interactions, seed):
    x = np.random.default_rng(seed).normal(size=(7, d))
    library = Polynomials(degree, interactions=interactions)
    exponents = library.bind([f"x{i}" for i in range(d)]).exponents
    expected = np.prod(x[:, None, :] ** exponents, axis=2)
    np.testing.assert_allclose(library.evaluate(x), expected, rtol=1e-13)


def test_blocks_give_the_same_values_as_the_whole():
    x = np.random.default_rng(1).normal(size=(5001, 3))
    library = Polynomials(4)
    parts = np.vstack([library.evaluate(x[i : i + 700]) for i in range(0, 5001, 700)])
    np.testing.assert_array_equal(library.evaluate(x), parts)


def test_columns_are_contiguous():
    assert Polynomials(2).evaluate(np.ones((100, 3))).flags.f_contiguous


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Polynomials(-1), "Polynomials(degree=-1): expected an integer >= 0, e.g. 3."),
        (lambda: Polynomials(2.5), "Polynomials(degree=2.5): expected an integer >= 0, e.g. 3."),
        (
            lambda: Polynomials(2, of="x"),
            "Polynomials(of='x'): expected a tuple of names, e.g. of=('x',).",
        ),
        (
            lambda: names(Polynomials(2, of=("x", "q"))),
            "Polynomials(of=...): unknown variable 'q'. Known are x, y, z, t.",
        ),
        (lambda: names(Polynomials(0, bias=False)), "has no terms for the variables ('x', 'y', 'z')."),
        (
            lambda: Polynomials(2).evaluate(np.ones(3)),
            "evaluate(x): x has shape (3,); expected samples x states (n, d).",
        ),
        (
            lambda: Polynomials(2).bind("xy"),
            "Variables(states='xy'): expected a tuple of names, e.g. ('xy',).",
        ),
        (
            lambda: Polynomials(2).bind(("x", "x")),
            "The name 'x' stands for two variables in ('x', 'x'): rename one of them.",
        ),
        (lambda: Polynomials(2).bind(()), "Variables(states=()): expected at least one state name."),
        (
            lambda: Polynomials(2).bind(("x", "y")).evaluate(np.ones((4, 3))),
            "evaluate got 3 columns; this library needs 2: x, y, in this order (`features.inputs`).",
        ),
        (
            lambda: Polynomials(2).bind(("x", "y")).evaluate(np.ones(4)),
            "evaluate got an array of shape (4,); expected samples x 2 inputs.",
        ),
        (
            lambda: Polynomials(1).bind(("x",)).jacobian(np.ones((4, 1)), coef=np.ones((1, 5))),
            "jacobian(coef=...) has 5 columns; expected 2, one per term.",
        ),
    ],
)
def test_errors(build, message):
    with pytest.raises(ProblemError, match=re.escape(message)):
        build()

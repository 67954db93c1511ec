"""Terms with inner constants: values, slopes, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exactsindy.errors import ProblemError
from exactsindy.library import OpenTerm, Polynomials, Terms, Variables

X = Variables(("x", "y"))
TEMPLATES = [
    "sin(w*x + p)",
    "x/(K + x)",
    "exp(-w x) y",
    "x^2/(K^2 + w x^2 + p y)",
    "1/(K y + p x^2)",
    "tanh(w (x - p))",
]
NAMES = ("w", "p", "K")


def column(expression, samples):
    """The values of a sum of terms at samples of x and y."""
    terms = [term for _, term in expression.parts]
    if not terms:
        return np.zeros(len(samples))
    features = Terms(terms).bind(X)
    order = [features.terms.index(term) for term in terms]
    return features.evaluate(samples)[:, order] @ np.array([coefficient for coefficient, _ in expression.parts])


@pytest.mark.parametrize("text", TEMPLATES)
@given(numbers=st.tuples(*[st.floats(0.2, 3.0)] * 3))
def test_slopes_are_those_of_differences(text, numbers):
    term = OpenTerm.parse(text, X, NAMES)
    values = dict(zip(NAMES, numbers, strict=True))
    samples = np.random.default_rng(0).uniform(0.3, 2.0, (7, 2))
    for name in term.constants:
        above, below = ({**values, name: values[name] + step} for step in (1e-5, -1e-5))
        ends = [Terms([term.at(at)]).bind(X).evaluate(samples)[:, 0] for at in (above, below)]
        expected = (ends[0] - ends[1]) / 2e-5
        assert column(term.slope(name, values), samples) == pytest.approx(expected, rel=2e-5, abs=1e-6)


def test_the_name_of_the_term_holds_the_numbers():
    term = OpenTerm.parse("x/(K + x)", X, NAMES)
    assert (term.name, term.constants, term.at({"K": 0.5}).name) == ("x/(K + x)", ("K",), "x/(0.5 + x)")


def test_a_sum_that_becomes_one_term_is_written_without_parentheses():
    term = OpenTerm.parse("x/(K y + y)", X, NAMES)
    with pytest.raises(ProblemError, match="a number comes out in front of it"):
        term.at({"K": 1.0})


def test_a_constant_that_is_a_factor_is_refused():
    with pytest.raises(ProblemError, match="the constant 'w' is a factor of the whole term, which the fit finds"):
        OpenTerm.parse("w x", X, NAMES)


def test_a_constant_with_the_name_of_a_variable_is_refused():
    with pytest.raises(ProblemError, match="'x' is a constant and a variable; give the constant another name"):
        OpenTerm.parse("sin(x y)", X, ["x"])


def test_a_factor_that_is_infinite_is_refused():
    with pytest.raises(ProblemError, match="is not a finite number"):
        OpenTerm.parse("x/(K)^2 + 1/(K y)", X, ["K"]).at({"K": 0.0})


def test_libraries_without_inner_constants_are_not_open():
    library = Polynomials(2)
    assert not (library + Terms(["sin(x)"]) * library).is_open

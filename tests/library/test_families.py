"""Libraries with inner constants: what they hold, and what they refuse."""

import pytest

import exactsindy as es
from exactsindy.errors import ProblemError
from exactsindy.library import ConstantRange, Variables

XY = Variables(("x", "y"))


def test_terms_with_and_without_constants_are_told_apart():
    library = es.Polynomials(1) + es.Terms(["sin(2w x)", "exp(-r*x)", "x^2"], w=(0.5, 6), r=...)
    assert library.is_open
    assert [term.name for term in library.candidates(XY)] == ["1", "x", "y", "x^2"]
    families = list(library.families(XY))
    assert [family.name for family in families] == ["sin(2 w x)", "exp(-r x)"]
    assert families[0].ranges == (ConstantRange(0.5, 6.0),)
    assert not families[1].ranges[0].is_known


def test_products_multiply_families_with_terms():
    library = es.Polynomials(1) * es.Terms(["sin(w*x)"], w=[1, 2])
    assert [family.name for family in library.families(XY)] == ["sin(w x)", "x sin(w x)", "y sin(w x)"]


def test_an_open_library_has_no_columns():
    with pytest.raises(ProblemError, match=r"inner constants without values; `discover` finds them"):
        es.Terms(["sin(w*x)"], w=...).bind(XY)


@pytest.mark.parametrize(
    ("range_", "message"),
    [
        ((2, 1), r"Terms\(w=\(2, 1\)\): expected a range such as w=\(0.5, 6\)"),
        ("1..2", r"expected a range such as"),
        ([], r"expected a range such as"),
        ((0, float("inf")), r"expected a range such as"),
    ],
)
def test_bad_ranges_name_the_cure(range_, message):
    with pytest.raises(ProblemError, match=message):
        es.Terms(["sin(w*x)"], w=range_)


def test_a_constant_that_stands_in_no_term_is_refused():
    with pytest.raises(ProblemError, match=r"no term has the constant 'q'; write it into one"):
        es.Terms(["sin(w*x)"], w=..., q=...)


def test_functions_of_every_variable():
    assert es.Functions(["sin", "abs", "1/x^2"], of=("x",)).bind(XY).names == ("sin(x)", "abs(x)", "1/x^2")
    library = es.Functions(["cos", "exp", "hill2"], of=("y",), w=(1, 2), r=...)
    assert [family.name for family in library.families(XY)] == [
        "cos(w y)",
        "exp(r y)",
        "exp(-r y)",
        "y^2/(K^2 + y^2)",
    ]
    assert library.is_open
    assert repr(library) == "Functions(['cos', 'exp', 'hill2'], of=('y',), w=(1, 2), r=...)"


def test_a_constant_gives_way_to_a_variable_of_its_name():
    families = es.Functions(["sin"], of=("x",), w=...).families(Variables(("x", "w")))
    assert [family.name for family in families] == ["sin(w_ x)"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: es.Functions("sin"), r"expected a list, e.g. Functions\(\['sin'\]\)"),
        (lambda: es.Functions(["sine"]), r"unknown function"),
        (lambda: es.Functions([]), r"expected at least one function"),
        (lambda: es.Functions(["sin"], q=...), r"unknown constant"),
        (lambda: es.Functions(["sin"], most=0), r"expected a whole number >= 1"),
    ],
)
def test_bad_functions_are_refused(call, message):
    with pytest.raises(ProblemError, match=message):
        call()

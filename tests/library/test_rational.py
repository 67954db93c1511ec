"""The library of quotients: open, by equation, and joined with others."""

from __future__ import annotations

import exactsindy as es
from exactsindy.library import rational_parts


def test_parts_of_a_joined_library():
    library = es.Polynomials(3) + es.Rational(es.Polynomials(1), es.Polynomials(1))
    rational, others = rational_parts(library)
    assert rational == (es.Rational(es.Polynomials(1), es.Polynomials(1)),)
    assert others == (es.Polynomials(3),)
    assert library.is_open
    assert not es.Polynomials(3).is_open


def test_each_equation_has_its_own_quotients():
    library = es.PerEquation({"x": es.Rational()}, default=es.Polynomials(1))
    assert library.for_equation("x'") == es.Rational(es.Polynomials(2), es.Polynomials(2))
    assert not library.for_equation("y'").is_open
    assert library.is_open

from __future__ import annotations

import re

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from exactsindy.errors import DataError, ProblemError
from exactsindy.library import Polynomials, Term, Terms, Variable, Variables
from exactsindy.library.program import compile_terms

XY = Variables(("x", "y"))
X = np.random.default_rng(5).uniform(0.5, 2.0, size=(40, 2))


def value(text):
    return Terms([text]).bind(XY).evaluate(X)[:, 0]


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("y x^2", "x^2 y", lambda x, y: x**2 * y),
        ("x*y**3", "x y^3", lambda x, y: x * y**3),
        ("sin(2 x)", "sin(2 x)", lambda x, y: np.sin(2 * x)),
        ("sin(x + 2*y - 1)", "sin(x + 2 y - 1)", lambda x, y: np.sin(x + 2 * y - 1)),
        ("x/(1 + y)", "x/(1 + y)", lambda x, y: x / (1 + y)),
        ("1/x", "1/x", lambda x, y: 1 / x),
        ("x y^-2", "x/y^2", lambda x, y: x / y**2),
        ("1/(x y)", "1/(x y)", lambda x, y: 1 / (x * y)),
        ("exp(-x) y", "y exp(-x)", lambda x, y: y * np.exp(-x)),
        ("(x + y)^2", "(x + y)^2", lambda x, y: (x + y) ** 2),
        ("x - y", "(x - y)", lambda x, y: x - y),
        ("sqrt(x) log(y)", "sqrt(x) log(y)", lambda x, y: np.sqrt(x) * np.log(y)),
        ("tanh(0.5 x^2)", "tanh(0.5 x^2)", lambda x, y: np.tanh(0.5 * x**2)),
        ("x^(-1)", "1/x", lambda x, y: 1 / x),
        ("1", "1", lambda x, y: np.ones_like(x)),
        ("sin(cos(x y))", "sin(cos(x y))", lambda x, y: np.sin(np.cos(x * y))),
        ("x (1 + y) (1 - y)", "x (1 + y) (1 - y)", lambda x, y: x * (1 - y**2)),
        ("abs(x - 1)", "abs(x - 1)", lambda x, y: np.abs(x - 1)),
    ],
)
def test_written_terms(text, name, expected):
    term = Terms([text]).terms(XY)[0]
    assert term.name == name
    np.testing.assert_allclose(value(text), expected(*X.T), rtol=1e-13)
    # A name reads back as the same term, and the Python form computes the same values.
    assert Terms([term.name]).terms(XY)[0] == term
    code = compile(term.python, "term", "eval")
    np.testing.assert_allclose(eval(code, {"np": np, "x": X[:, 0], "y": X[:, 1]}) + 0 * X[:, 0], value(text))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["x", "y", "sin(x)", "(1 + y)"]), st.integers(1, 3)), min_size=1))
def test_parsing_a_name_gives_the_term_back(factors):
    text = " ".join(f"{base}^{power}" for base, power in factors)
    term = Terms([text]).terms(XY)[0]
    assert Terms([term.name]).terms(XY)[0] == term
    assert Terms([term.name]).terms(XY)[0].name == term.name


def test_longer_names_win_and_derivative_axes_are_sorted():
    variables = Variables(("x1", "x10", "u"), axes=("p", "q"))
    assert Terms(["x10 x1"]).terms(variables)[0].name == "x1 x10"
    assert Terms(["u_qp"]).terms(variables)[0].name == "u_pq"


def test_names_with_spaces_and_marks_are_accepted():
    variables = Variables(("prey density", "p2/m"))
    assert Terms(["prey density^2 p2/m"]).terms(variables)[0].name == "prey density^2 p2/m"


@pytest.mark.parametrize(
    "text",
    [
        *("x^3 y^2", "sin(2 x) y", "cos(x y)", "exp(-x) y", "log(x)", "sqrt(x y)", "x/(1 + y)", "tan(x/4)"),
        *(
            "1/x^2",
            "sinh(x)",
            "cosh(y)",
            "tanh(x)^2",
            "arctan(x y)",
            "abs(x - 1)",
            "sign(x - 1)",
            "(x + y)^3",
        ),
    ],
)
def test_jacobian_is_the_derivative(text):
    features = Terms([text]).bind(XY)
    step = 1e-6
    for j in range(2):
        shift = step * np.eye(2)[j]
        slope = (features.evaluate(X + shift) - features.evaluate(X - shift)) / (2 * step)
        np.testing.assert_allclose(features.jacobian(X)[:, 0, j], slope[:, 0], rtol=2e-7, atol=1e-8)


def test_jacobian_of_right_hand_sides_and_of_derivatives():
    features = Polynomials(3).bind(XY)
    coef = np.random.default_rng(0).normal(size=(2, 10)) * (np.arange(10) % 3 > 0)
    whole = np.einsum("ed,ndv->nev", coef, features.jacobian(X))
    np.testing.assert_allclose(features.jacobian(X, coef), whole, rtol=1e-12)
    line = Terms(["u^2 u_x", "u_x^2"]).bind(Variables(("u",), axes=("x",)))
    u, u_x = np.array([[2.0], [3.0]]), np.array([[5.0], [7.0]])
    slopes = line.jacobian(np.hstack((u, u_x)), wrt=[Variable("u", ("x",))])
    np.testing.assert_allclose(slopes[:, :, 0], np.hstack((u**2, 2 * u_x)))


def test_constant_right_hand_side_has_no_slope():
    assert not Terms(["1"]).bind(XY).jacobian(X).any()


def drag(x, y):
    return np.abs(x) * y**1.5


def test_functions_take_the_variables_their_arguments_name():
    library = Terms([drag, ("root", lambda y: np.sqrt(y))]) + Polynomials(1)
    features = library.bind(XY)
    assert features.names == ("drag(x, y)", "root", "1", "x", "y")
    np.testing.assert_allclose(features.evaluate(X)[:, 0], drag(*X.T))
    np.testing.assert_allclose(features.jacobian(X)[:, 0, 1], 1.5 * X[:, 0] * np.sqrt(X[:, 1]), rtol=1e-8)
    assert not features.jacobian(X)[:, 1, 0].any()
    assert features.exponents is None
    assert Terms({"root": np.sqrt}).items == (("root", np.sqrt),)


def test_sympy_in_and_out():
    x, y = sympy.symbols("x y")
    given = [x**2 * y, sympy.sin(2 * x), sympy.Abs(y), x / (1 + y), sympy.atan(x), sympy.sqrt(x) ** 3, x + y]
    library = Terms(given)
    for term, original in zip(library.terms(XY), given, strict=True):
        assert sympy.simplify(term.to_sympy() - original) == 0
    assert library.bind(XY).names[0] == "x^2 y"
    assert Terms([drag]).terms(XY)[0].to_sympy() == sympy.Function("drag")(x, y)


def test_inner_numbers_are_sympy_numbers_as_they_are_written():
    (wave,) = Terms(["sin(2.400248*x)"]).terms(XY)
    assert str(wave.to_sympy()) == "sin(2.400248*x)"
    (saturated,) = Terms(["x/(0.50034 + x)"]).terms(XY)
    assert str(saturated.to_sympy()) == "x/(x + 0.50034)"


def test_a_fraction_line_needs_no_parentheses():
    (saturated,) = Terms(["x/(0.5 + x)"]).terms(XY)
    assert saturated.latex == r"\frac{x}{0.5 + x}"
    squared = Terms(["x/(0.5 + x)^2"]).terms(XY)[0]
    assert squared.latex == r"\frac{x}{(0.5 + x)^{2}}"
    assert squared.name == "x/(0.5 + x)^2"


def test_sympy_derivatives_and_fields():
    x, t = sympy.symbols("x t")
    u = sympy.Function("u")(x, t)
    variables = Variables(("u",), axes=("x",))
    term = Terms([u * sympy.Derivative(u, x, 2), sympy.Symbol("u_x") ** 2]).terms(variables)
    assert [t.name for t in term] == ["u u_xx", "u_x^2"]
    assert str(term[0].to_sympy()) == "u*u_xx"


def test_latex():
    variables = Variables(("x", "theta", "x1", "u"), axes=("p",))
    written = {
        "x^2 theta": r"x^{2} \, \theta",
        "sin(2 x)/x1": r"\frac{\sin\left(2 \, x\right)}{x_{1}}",
        "u u_pp": r"u \, u_{pp}",
        "sqrt(x)": r"\sqrt{x}",
        "abs(x)": r"\left|x\right|",
        "sign(x)": r"\operatorname{sign}\left(x\right)",
    }
    for text, latex in written.items():
        assert Terms([text]).terms(variables)[0].latex == latex
    long = Variables(("speed", "a_b"))
    assert Terms(["speed a_b"]).terms(long)[0].latex == r"\mathrm{speed} \, a_{b}"
    assert r"\mathrm{drag(x, y)}" in Terms([drag]).terms(XY)[0].latex


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("x^2 q", "Term 'x^2 q': unknown name 'q'. Known are x, y, t."),
        ("X", "Term 'X': unknown name 'X'. Known are x, y, t."),
        ("2 x", "Term '2 x': a term carries no number in front, the fit finds it; write 'x'."),
        ("foo(x)", "Term 'foo(x)': unknown function 'foo'. Known are sin, cos,"),
        ("x^0.5", "a power must be a whole number (use sqrt(...) for roots)"),
        ("x^y", "a power must be a whole number"),
        ("sin(x", "Term 'sin(x': a closing parenthesis is missing at position 5."),
        ("(x + y", "a closing parenthesis is missing at position 6"),
        ("x^(-1", "a closing parenthesis is missing at position 5"),
        ("x +", "a variable, number or function is missing at position 3"),
        ("", "Term '': a variable, number or function is missing at position 0"),
        ("x)", "Term 'x)': ')' was not expected at position 1"),
        ("x - x", "Term 'x - x': this is zero for all data."),
        ("__import__('os')", "Term \"__import__('os')\": unknown function '__import__'"),
        (3, "Terms([...]): got 3 of type int; expected a name, a function, a pair (name, function),"),
        (lambda x: x, "Terms([...]): a lambda has no name; pass a pair ('name', lambda x: ...)."),
        (
            ("f", lambda a: a),
            "the function 'f' has the argument 'a'; name its arguments after the variables it uses (x, y, t).",
        ),
        (("f", lambda: 1), "the function 'f' has no named arguments"),
        (Term.variable("q"), "the term 'q' uses 'q', which the data do not have; known are x, y, t."),
        (sympy.Symbol("q"), "Terms: unknown name 'q'. Known are x, y, t."),
        (
            2 * sympy.Symbol("x"),
            "Terms([2*x]): a term carries no number in front, the fit finds it; pass 'x'.",
        ),
        (
            sympy.Symbol("x") ** sympy.Rational(1, 3),
            "the power in x**(1/3) is neither a whole number nor a half",
        ),
        (
            sympy.Derivative(sympy.Function("w")(sympy.Symbol("x")), sympy.Symbol("x")),
            "unknown name 'Derivative(w(x), x)'",
        ),
    ],
)
def test_errors(item, message):
    with pytest.raises(ProblemError, match=re.escape(message)):
        Terms([item]).terms(XY)


def test_errors_of_the_list_and_near_misses():
    with pytest.raises(ProblemError, match=re.escape("Terms('x'): expected a list, e.g. Terms(['x']).")):
        Terms("x")
    with pytest.raises(ProblemError, match=re.escape("Terms([]): expected at least one term.")):
        Terms([])
    with pytest.raises(ProblemError, match=r"Did you mean 'theta'\?"):
        Terms(["tetha"]).terms(("theta",))
    field = Variables(("u",), axes=("x",))
    with pytest.raises(ProblemError, match=r"Known are u, x, t\. Derivatives are written like u_x\."):
        Terms(["u_z"]).terms(field)


def test_undefined_values_are_refused():
    with pytest.raises(DataError, match=r"The term 'log\(x0\)' is nan at sample 2: it is not defined there"):
        Terms(["log(x0)"]).evaluate([[1.0], [2.0], [-1.0]])
    with pytest.raises(DataError, match="The term '1/x0' is inf at sample 0"):
        Terms(["1/x0"]).evaluate([[0.0]])


def test_inputs_must_be_complete_and_equally_long():
    with pytest.raises(ProblemError, match=re.escape("evaluate got columns of [3, 4] samples; expected as many in")):
        Polynomials(1).bind(XY).rows([np.ones(3), np.ones(4)])
    with pytest.raises(ProblemError, match="The terms use 'u_x', which is not among the inputs"):
        compile_terms([Term.variable("u", ("x",))], [Variable("u")])


def test_terms_that_exist_already_and_trivial_powers():
    term = Term.variable("y") * Term.variable("x")
    assert Terms([term, "x^0"]).bind(XY).names == ("x y", "1")
    assert (term.degree, Term().degree) == (2, 0)


def test_functions_without_a_signature_are_refused():
    with pytest.raises(ProblemError, match="the function 'dict' has no named arguments"):
        Terms([("dict", dict)]).terms(XY)


def test_functions_must_return_one_value_per_sample():
    with pytest.raises(ProblemError, match=r"the term 'f' returned shape \(2, 5\) for 5 samples; it must work on"):
        Terms([("f", lambda x0: np.stack((x0, x0)))]).evaluate(np.ones((5, 1)))


def test_libraries_compare_and_show():
    assert Terms(["x"]) == Terms(["x"])
    assert hash(Terms(["x"])) == hash(Terms(["x"]))
    assert Terms(["x"]) != Terms(["y"])
    assert repr(Terms(["x"])) == "Terms(['x'])"
    assert repr(Term.variable("x")) == "Term('x')"

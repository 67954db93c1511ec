from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exactsindy import library
from exactsindy.data import Field, Trajectories
from exactsindy.errors import ProblemError
from exactsindy.library import (
    Derivatives,
    Fourier,
    PerEquation,
    Polynomials,
    Term,
    Terms,
    Variable,
    Variables,
    total_derivative,
)

LINE = Variables(("u",), axes=("x",))
PLANE = Variables(("u", "v"), axes=("x", "y"))


def test_kuramoto_sivashinsky_library_has_19_terms():
    library = Polynomials(3, bias=False) + Polynomials(3) * Derivatives(4)
    names = library.bind(LINE).names
    assert len(names) == 19
    assert names[:9] == ("u", "u^2", "u^3", "u_x", "u_xx", "u_xxx", "u_xxxx", "u u_x", "u u_xx")
    assert "u^3 u_xxxx" in names


def test_reaction_diffusion_library_has_109_terms():
    library = Polynomials(3, bias=False) + Polynomials(3) * Derivatives(2)
    names = library.bind(PLANE).names
    assert len(set(names)) == 109
    assert {"u v u_xy", "u^2 v", "v_yy", "v^3 u_xx"} <= set(names)


def test_derivative_names_in_two_and_three_dimensions():
    assert Derivatives(2).bind(PLANE).names == (
        *("u_x", "v_x", "u_y", "v_y", "u_xx", "v_xx", "u_xy", "v_xy", "u_yy", "v_yy"),
    )
    space = Variables(("u",), axes=("x", "y", "z"))
    assert Derivatives(2, mixed=False).bind(space).names == ("u_x", "u_y", "u_z", "u_xx", "u_yy", "u_zz")
    assert Derivatives(2).bind(Variables(("p",), axes=("lon",))).names == ("p_lon", "p_lon_lon")
    assert Derivatives(1, of=("v",)).bind(PLANE).names == ("v_x", "v_y")


def test_join_merges_equal_terms_and_product_adds_powers():
    joined = Polynomials(2) + Terms(["y x", "sin(x)"])
    assert joined.bind(("x", "y")).names == ("1", "x", "y", "x^2", "x y", "y^2", "sin(x)")
    square = Polynomials(1) * Polynomials(1)
    assert set(square.terms(("x", "y"))) == set(Polynomials(2).terms(("x", "y")))


@settings(max_examples=25, deadline=None)
@given(st.permutations(["a", "b", "c"]), st.permutations(["a", "b", "c"]))
def test_equal_terms_do_not_depend_on_the_order_of_factors(first, second):
    def product(order):
        term = Term()
        for name in order:
            term = term * Term.variable(name)
        return term

    assert product(first) == product(second)
    assert hash(product(first)) == hash(product(second))


def test_fourier_names_order_and_values():
    library = Fourier(2)
    assert library.bind(("x", "y")).names == (
        *("sin(x)", "cos(x)", "sin(y)", "cos(y)", "sin(2 x)", "cos(2 x)", "sin(2 y)", "cos(2 y)"),
    )
    x = np.random.default_rng(0).normal(size=(20, 1))
    np.testing.assert_allclose(Fourier(1, base=0.5, cosine=False).evaluate(x), np.sin(0.5 * x))


def test_controls_and_time():
    data = Trajectories.from_arrays(
        np.random.default_rng(0).normal(size=(10, 2)),
        time=0.1,
        states=("x", "y"),
        controls=np.linspace(0, 1, 10),
        control_names=("f",),
    )
    features = (Polynomials(1) + Terms(["f x", "cos(2 t)"])).bind(data)
    assert features.names == ("1", "x", "y", "f", "x f", "cos(2 t)")
    values = features.evaluate(features.inputs_of(data[0]))
    np.testing.assert_allclose(values[:, 4], data[0].states[:, 0] * data[0].controls[:, 0])
    np.testing.assert_allclose(values[:, 5], np.cos(2 * data[0].times))
    smooth = np.ones((10, 2))
    np.testing.assert_allclose(features.evaluate(features.inputs_of(data[0], smooth))[:, 1], 1.0)


def test_fields_bind_by_their_dimensions_and_say_which_derivatives_they_need():
    data = Field.from_arrays(np.random.default_rng(0).normal(size=(4, 5)), dims=("x", "t"), coords={"x": 1.0, "t": 1.0})
    features = (Polynomials(1) * Derivatives(2) + Terms(["x u_x"])).bind(data)
    assert features.inputs == (*(Variable("u"), Variable("u", ("x",)), Variable("u", ("x", "x")), Variable("x")),)
    u, u_x, u_xx, x = np.random.default_rng(1).normal(size=(4, 3, 3))
    rows = features.rows([u, u_x, u_xx, x])
    assert features.names == ("u_x", "u_xx", "u u_x", "u u_xx", "x u_x")
    np.testing.assert_allclose(rows[3], (u * u_xx).ravel())
    np.testing.assert_allclose(rows[4], (x * u_x).ravel())


def test_terms_split_into_coefficient_and_derivatives():
    term = Terms(["u^2 v u_x v_xy"]).terms(PLANE)[0]
    assert term.coefficient.name == "u^2 v"
    assert [d.axes for d in term.derivatives] == [("x",), ("x", "y")]


@pytest.mark.parametrize(
    ("text", "factor", "flux", "axes"),
    [
        ("u u_x", 0.5, "u^2", ("x",)),
        ("v^3 v_y", 0.25, "v^4", ("y",)),
        ("u_xy", 1.0, "u", ("x", "y")),
        ("u^2 v", 1.0, "u^2 v", ()),
    ],
)
def test_total_derivatives(text, factor, flux, axes):
    found = total_derivative(Terms([text]).terms(PLANE)[0])
    assert (found.factor, found.flux.name, found.axes) == (factor, flux, axes)


@pytest.mark.parametrize("text", ["u u_xx", "u v_x", "u_x^2", "u_x v_x", "sin(u) u_x"])
def test_not_total_derivatives(text):
    assert total_derivative(Terms([text]).terms(PLANE)[0]) is None


def test_per_equation():
    library = PerEquation({"x": Polynomials(1), "y''": Polynomials(2)}, default=Fourier())
    assert library.for_equation("x'") == Polynomials(1)
    assert library.for_equation("y") == Polynomials(2)
    assert library.for_equation("z'") == Fourier()
    assert PerEquation({"u": Polynomials(1)}).for_equation("u_t") == Polynomials(1)
    assert Polynomials(1).for_equation("anything") == Polynomials(1)
    assert len(library.terms(("x",))) == 5
    both = library + Terms(["exp(x)"])
    assert both.for_equation("x").bind(("x",)).names == ("1", "x", "exp(x)")
    assert (library * Polynomials(1)).for_equation("x").bind(("x",)).names == ("1", "x", "x^2")
    assert library == PerEquation({"x": Polynomials(1), "y''": Polynomials(2)}, default=Fourier())
    assert "PerEquation" in repr(library)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: PerEquation({}), "PerEquation({}): expected at least one equation."),
        (lambda: PerEquation({"x": 3}), "PerEquation: 'x' has 3; expected a library."),
        (
            lambda: PerEquation({"x": Polynomials(1)}).for_equation("y'"),
            'PerEquation has no library for the equation "y\'"; it has x. Add it, or give default=...',
        ),
        (lambda: Derivatives(0), "Derivatives(order=0): expected an integer >= 1."),
        (
            lambda: Derivatives(1).terms(("x",)),
            "Derivatives are spatial and need a field; these data are trajectories without space dimensions.",
        ),
        (lambda: Fourier(0), "Fourier(frequencies=0): expected an integer >= 1."),
        (
            lambda: Fourier(sine=False, cosine=False),
            "Fourier(sine=False, cosine=False) has no terms: keep at least one of them.",
        ),
        (lambda: Fourier(base=-1), "Fourier(base=-1): expected a positive frequency."),
        (
            lambda: Terms([("f", lambda x: x), ("f", lambda x: x**2)]).terms(("x",)),
            "Two different terms are both named 'f': give one of them another name.",
        ),
    ],
)
def test_errors(build, message):
    with pytest.raises(ProblemError, match=re.escape(message)):
        build()


def test_a_trajectory_has_no_derivatives():
    data = Trajectories.from_arrays(np.zeros((5, 1)) + np.arange(5)[:, None], time=1.0, states=("u",))
    features = Terms(["u u_x"]).bind(LINE)
    with pytest.raises(ProblemError, match="The terms use 'u_x', which a trajectory does not have; it needs a field"):
        features.inputs_of(data[0])


def test_libraries_combine_only_with_libraries():
    with pytest.raises(TypeError):
        Polynomials(1) + 1
    with pytest.raises(TypeError):
        Polynomials(1) * "x"


@pytest.mark.parametrize(
    "text",
    [
        "Polynomials(3)",
        "Polynomials(2, bias=False, of=('x',))",
        "Polynomials(3) + Fourier(1) * Polynomials(1)",
        "(Polynomials(1) + Fourier(2, base=0.5)) * Functions(['exp'])",
        "Polynomials(1) * (Fourier(1) * Functions(['exp']))",
        "Polynomials(2) + Rational(Polynomials(2), Polynomials(1)) + Terms(['x y', '1/x'])",
        "Polynomials(3, bias=False) + Polynomials(3) * Derivatives(4)",
        'PerEquation({"x\'": Polynomials(2)}, default=Polynomials(3))',
    ],
)
def test_a_library_is_shown_as_the_call_that_makes_it(text):
    made = eval(text, dict(vars(library)))
    assert repr(made) == text
    assert repr(eval(repr(made), dict(vars(library)))) == text


def test_a_library_of_ones_own_need_not_be_a_dataclass():
    class Own(library.Library):
        def candidates(self, variables):
            return [library.Term.variable("x")]

    assert "Own object" in repr(Own())
    assert repr(Polynomials(1) + Own()).startswith("Polynomials(1) + <")

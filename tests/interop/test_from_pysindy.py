"""PySINDy's libraries and differentiation methods in our forms."""

from __future__ import annotations

import numpy as np
import pysindy as ps
import pytest

import exactsindy as es
from exactsindy.errors import DataError, ProblemError


@pytest.fixture
def samples():
    return np.random.default_rng(0).uniform(0.5, 2.0, size=(30, 3))


LIBRARIES = {
    "polynomials": lambda: ps.PolynomialLibrary(degree=3),
    "no interaction": lambda: ps.PolynomialLibrary(degree=3, include_interaction=False, include_bias=False),
    "interaction only": lambda: ps.PolynomialLibrary(degree=2, interaction_only=True),
    "identity": ps.IdentityLibrary,
    "fourier": lambda: ps.FourierLibrary(n_frequencies=2),
    "custom": lambda: ps.CustomLibrary(
        library_functions=[lambda x: np.exp(x), lambda x, y: np.sin(x + y)],
        function_names=[lambda x: f"exp({x})", lambda x, y: f"sin({x} + {y})"],
        include_bias=True,
    ),
    "sum": lambda: ps.PolynomialLibrary(degree=2) + ps.FourierLibrary(),
    "product": lambda: ps.IdentityLibrary() * ps.FourierLibrary(),
    "product of some": lambda: ps.feature_library.TensoredLibrary(
        [ps.IdentityLibrary(), ps.FourierLibrary()], inputs_per_library=[[0], [1, 2]]
    ),
    "generalized": lambda: ps.GeneralizedLibrary(
        [ps.PolynomialLibrary(degree=1, include_bias=False), ps.FourierLibrary()],
        inputs_per_library=[[0, 1], [2]],
    ),
}


@pytest.mark.parametrize("name", LIBRARIES)
def test_columns_are_those_of_pysindy(name, samples):
    library = LIBRARIES[name]()
    theirs = np.asarray(LIBRARIES[name]().fit_transform(samples))
    features = es.from_pysindy(library).bind(("x", "y", "z"))
    ours = features.evaluate(samples)
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(ours, theirs, rtol=1e-13)
    assert len(set(features.names)) == theirs.shape[1]


def test_users_library_is_not_fitted():
    library = ps.PolynomialLibrary(degree=2)
    es.from_pysindy(library).bind(("x", "y"))
    assert not hasattr(library, "n_output_features_")


def test_polynomials_are_our_terms():
    assert es.from_pysindy(ps.PolynomialLibrary(degree=3)).terms(("x", "y")) == es.Polynomials(3).terms(("x", "y"))


def test_callables_have_slopes(samples):
    features = es.from_pysindy(ps.FourierLibrary()).bind(("x", "y", "z"))
    slopes = features.jacobian(samples)
    wanted = np.cos(samples[:, 0])
    np.testing.assert_allclose(slopes[:, features.names.index("sin(1 x)"), 0], wanted, atol=1e-8)


def test_libraries_mix_with_ours():
    library = es.from_pysindy(ps.FourierLibrary(include_cos=False)) + es.Polynomials(1)
    assert library.bind(("x",)).names == ("sin(1 x)", "1", "x")


@pytest.mark.parametrize("form", [es.StrongForm(), es.WeakForm(domains=100, seed=0)])
def test_equations_of_a_pendulum(form):
    t = np.arange(0, 20, 0.01)
    model = es.Model.from_coefficients({"x'": {"v": 1.0}, "v'": {"sin(x)": -1.0}})
    data = es.Trajectories.from_arrays(model.simulate([2.0, 0.0], t).x, time=t, states=("x", "v"))
    library = es.from_pysindy(ps.PolynomialLibrary(degree=3) + ps.FourierLibrary())
    solution = es.solve(form.problem(data, library), 1)
    assert solution.terms["v'"] == {"sin(1 x)": pytest.approx(-1.0, abs=1e-3)}
    assert solution.terms["x'"] == {"v": pytest.approx(1.0, abs=1e-3)}


@pytest.mark.parametrize(
    "library, message",
    [
        (lambda: ps.PDELibrary(derivative_order=1, spatial_grid=np.arange(9.0)), "PDELibrary is not made of terms of"),
        (
            lambda: ps.IdentityLibrary() + ps.PDELibrary(derivative_order=1, spatial_grid=np.arange(9.0)),
            "use es.Derivatives, e.g. Polynomials(3) * Derivatives(4), on a field",
        ),
        (lambda: ps.STLSQ(), "from_pysindy: got STLSQ; expected a PySINDy feature library"),
        (lambda: np.sin, "from_pysindy: got ufunc; expected a PySINDy feature library"),
    ],
)
def test_what_is_refused(library, message):
    part = library()
    with pytest.raises(ProblemError) as error:
        es.from_pysindy(part)
    assert message in str(error.value)


METHODS = {
    "finite": lambda: ps.FiniteDifference(order=4),
    "axis of SINDy": lambda: ps.FiniteDifference(axis=-2),
    "another axis": lambda: ps.FiniteDifference(axis=1),
    "smoothed": lambda: ps.SmoothedFiniteDifference(smoother_kws={"window_length": 7}),
    "spline": lambda: ps.SINDyDerivative(kind="spline", s=1e-8),
}


@pytest.mark.parametrize("name", METHODS)
def test_derivatives_along_any_axis(name):
    t = np.linspace(0, 3, 200)
    x = np.sin(t[:, None] + np.arange(6))
    method = es.from_pysindy(METHODS[name]())
    slopes = method(x, t)
    np.testing.assert_allclose(slopes[5:-5], np.cos(t[:, None] + np.arange(6))[5:-5], atol=2e-3)
    folded = x.reshape(200, 2, 3).transpose(1, 0, 2)
    np.testing.assert_allclose(method(folded, t, axis=1), slopes.reshape(200, 2, 3).transpose(1, 0, 2), atol=1e-12)
    np.testing.assert_allclose(method.states(folded, t[1] - t[0], axis=1), folded, atol=2e-3)


def test_strong_form_takes_them(lorenz):
    x, t = lorenz
    data = es.Trajectories.from_arrays(x, time=t, states=("x", "y", "z"))
    form = es.StrongForm(differentiation=es.from_pysindy(ps.SmoothedFiniteDifference()), smooth_states=True)
    solution = es.solve(form.problem(data, es.Polynomials(2)), {"x": 2, "y": 3, "z": 2})
    assert {target: set(terms) for target, terms in solution.terms.items()} == {
        "x'": {"x", "y"},
        "y'": {"x", "y", "x z"},
        "z'": {"z", "x y"},
    }


@pytest.mark.parametrize(
    "method",
    [ps.SmoothedFiniteDifference(), ps.SpectralDerivative(), ps.SINDyDerivative(kind="finite_difference", k=1)],
)
def test_unequal_steps_are_refused_where_pysindy_errs_in_silence(method):
    t = np.sort(np.random.default_rng(0).uniform(0, 3, 100))
    with pytest.raises(DataError, match="takes samples for equally spaced, which these are not"):
        es.from_pysindy(method)(np.sin(t), t)


def test_unequal_steps_where_they_are_understood():
    t = np.sort(np.random.default_rng(0).uniform(0, 3, 400))
    slopes = es.from_pysindy(ps.FiniteDifference())(np.sin(t), t)
    np.testing.assert_allclose(slopes, np.cos(t), atol=2e-3)


def test_other_refusals():
    with pytest.raises(DataError, match=r"the method takes derivative d=2; expected d=1\."):
        es.from_pysindy(ps.FiniteDifference(d=2))
    with pytest.raises(DataError, match=r"FiniteDifference returned no derivative \(NaN\) for 2 samples"):
        es.from_pysindy(ps.FiniteDifference(drop_endpoints=True))(np.arange(9.0), 0.1)

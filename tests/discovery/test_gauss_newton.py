"""Inner constants by Gauss-Newton steps, against exact data, against SciPy, and at the edges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import curve_fit

import exactsindy as es
from exactsindy import Problem
from exactsindy.discovery.gauss_newton import fit_constants
from exactsindy.library import OpenTerm, Variables
from exactsindy.model import InnerConstant

X = Variables(("x",))


def rows_of(x, y):
    def rows(library):
        features = library.bind(X)
        return Problem.from_arrays(features.evaluate(x[:, None]), y, names=features.terms, target_names=["x'"])

    return rows


def terms(*texts, constants=("K", "w")):
    return [OpenTerm.parse(text, X, constants) for text in texts]


def test_exact_data_give_the_constants_back():
    x = np.linspace(0.05, 3.0, 200)
    fit = fit_constants(terms("1", "x/(K + x)"), {"K": 2.0}, rows_of(x, 0.3 - 1.2 * x / (0.5 + x)))
    assert fit.converged
    assert fit.values["K"] == pytest.approx(0.5, rel=1e-9)
    assert fit.coefficients == pytest.approx([0.3, -1.2], rel=1e-9)


def test_values_and_errors_are_those_of_a_general_fit():
    x = np.linspace(0.0, 4.0, 300)
    y = 1.5 * x - 2.0 * np.sin(2.37 * x) + 0.1 * np.random.default_rng(1).normal(size=300)
    fit = fit_constants(terms("x", "sin(w x)"), {"w": 2.2}, rows_of(x, y))
    best, covariance = curve_fit(lambda x, a, b, w: a * x + b * np.sin(w * x), x, y, p0=(1.0, -1.0, 2.2))
    assert [*fit.coefficients, fit.values["w"]] == pytest.approx(best, rel=1e-6)
    assert fit.standard_errors["w"] == pytest.approx(np.sqrt(covariance[2, 2]), rel=1e-4)


def test_constants_stay_within_their_bounds():
    x = np.linspace(0.0, 4.0, 300)
    fit = fit_constants(terms("sin(w x)"), {"w": 2.0}, rows_of(x, np.sin(2.5 * x)), {"w": (1.0, 2.2)})
    assert fit.values["w"] == pytest.approx(2.2)


def test_a_start_where_a_term_is_infinite_has_no_fit():
    x = np.linspace(-1.0, 1.0, 101)
    assert fit_constants(terms("1/(K + x)"), {"K": 0.0}, rows_of(x, x)) is None


def test_terms_without_constants_are_fitted_as_they_are():
    x = np.linspace(-1.0, 1.0, 101)
    fit = fit_constants(terms("x", "x^2"), {}, rows_of(x, 2 * x - x**2))
    assert fit.converged
    assert fit.coefficients == pytest.approx([2.0, -1.0])
    assert fit.rss == pytest.approx(0.0, abs=1e-20)


def test_constants_are_shown_and_saved_with_a_run(tmp_path):
    t = np.arange(0.0, 10.0, 0.05)
    found = es.discover(np.exp(-t), t, states=("x",), degree=1)
    constant = InnerConstant("x'", "x/(K + x)", "K", 0.5, float("nan"))
    found = replace(found, constants=(constant,), tried=("sines: no gain",))
    again = es.Discovery.load(found.save(tmp_path / "run"))
    assert "Fitted inside the terms: K = 0.5 in x/(K + x)." in str(again)
    assert again.tried == ("sines: no gain",)
    assert again.to_dict()["constants"][0]["name"] == "K"

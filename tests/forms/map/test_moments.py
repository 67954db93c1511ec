"""Moments corrected for noise, and the size of the noise."""

from __future__ import annotations

import numpy as np
import pytest
from tests.map_cases import henon, logistic, noisy

import exactsindy as es
from exactsindy.errors import ProblemError
from exactsindy.forms import corrected_problem, lagged, one_step_noise


def steps(states, form):
    names = ("x", "y")[: states.shape[1]] if states.ndim == 2 else ("x",)
    return form.steps(es.Trajectories.from_arrays(states, time=1.0, states=names))


def test_without_noise_they_are_the_moments_of_the_rows():
    for form in (es.MapForm(), es.MapForm(increments=True), es.MapForm(lags=1)):
        data = steps(henon(200), form)
        corrected = corrected_problem(lagged(data, form.lags), es.Polynomials(2), np.zeros(2))
        plain = form.problem(data, es.Polynomials(2))
        for i in range(2):
            (own, _), (rows, j) = corrected.locate(i), plain.locate(i)
            width = len(rows.terms)
            gram = rows.factor.T @ rows.factor
            picked = np.ix_([*range(width), width + j], [*range(width), width + j])
            np.testing.assert_allclose(own.factor.T @ own.factor, gram[picked], atol=1e-6 * gram.max())


@pytest.mark.parametrize("increments", [False, True])
def test_noise_does_not_bias_them(increments):
    form, clean = es.MapForm(increments=increments), henon(20_000)
    share = 0.1
    data = steps(noisy(clean, share, 3), form)
    truth = {"1": 1.0, "y": 1.0, "x^2": -1.4}
    if increments:
        truth |= {"x": -1.0}
    support = [tuple(truth)]
    names = es.Polynomials(2).terms(("x", "y"))
    columns = [[term.name for term in names].index(name) for name in support[0]]
    corrected = es.refit(corrected_problem(data, es.Polynomials(2), share * clean.std(axis=0)), [columns, [1]])
    plain = es.refit(form.problem(data, es.Polynomials(2)), [columns, [1]])
    target = corrected.problem.target_names[0]
    wrong = [max(abs(found.terms[target][n] - v) for n, v in truth.items()) for found in (corrected, plain)]
    assert wrong[0] < 0.02 < 0.05 < wrong[1]


def test_only_monomials_have_known_moments():
    data = steps(logistic(50), es.MapForm())
    with pytest.raises(ProblemError, match="not a monomial"):
        corrected_problem(data, es.Terms(["sin(x)"]), np.zeros(1))


@pytest.mark.parametrize("share", [0.005, 0.05])
@pytest.mark.parametrize("lags", [0, 1])
def test_noise_is_estimated_from_one_step(share, lags):
    form, clean = es.MapForm(lags=lags), henon(2000)
    states = clean if not lags else clean[:, :1]
    data = steps(noisy(states, share, 1), form)
    noise = one_step_noise(lagged(data, lags), es.Polynomials(3), lags)
    np.testing.assert_allclose(noise, share * states.std(axis=0), rtol=0.15)

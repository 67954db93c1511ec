"""Shapes of laws, the regressions that propose them, and the fit of their constants."""

from __future__ import annotations

import numpy as np
import pytest

import exactsindy as es
from exactsindy.discovery.rational.concrete import law_text
from exactsindy.discovery.rational.linear_problems import corrected_levy, gauss_newton
from exactsindy.discovery.rational.output_fit import fit_law
from exactsindy.discovery.rational.poles import box_of, has_pole
from exactsindy.discovery.rational.profiling import profiled
from exactsindy.discovery.rational.rows import Rows, window_rows
from exactsindy.discovery.rational.screening import screened
from exactsindy.discovery.rational.shapes import Candidates, Shape
from exactsindy.forms import smooth
from exactsindy.library import Variables
from exactsindy.solver import Deadline

VARIABLES = Variables(("x", "y"))
TERMS = es.Polynomials(2).terms(VARIABLES)  # 1, x, y, x^2, x y, y^2
CANDIDATES = Candidates(TERMS, TERMS, TERMS)
ONE, X, Y, XX, XY, YY = range(6)


def test_common_monomials_cancel():
    shape = CANDIDATES.cancelled(Shape((ONE,), (XX, XY), (X, XX)))
    assert shape == Shape((ONE,), (X, Y), (ONE, X))


def test_two_writings_of_one_law_have_one_identity():
    first = CANDIDATES.identity(Shape((ONE,), (X,), (ONE, X)))
    assert first == CANDIDATES.identity(Shape((ONE,), (ONE,), (ONE, X)))
    assert first != CANDIDATES.identity(Shape((), (X,), (ONE, X)))


def sampled(noise=0.0, count=400, seed=0):
    """Rows of y = 2 x / (1 + 0.5 x^2) - 0.3 y with noise on the label."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.2, 3.0, (count, 2))
    rate = 2 * x[:, 0] / (1 + 0.5 * x[:, 0] ** 2) - 0.3 * x[:, 1]
    table = es.Polynomials(2).bind(VARIABLES).evaluate(x)
    return Rows(table, table, table, rate + noise * rng.normal(size=count)), rate


def test_constants_are_fitted_from_a_far_start():
    rows, _ = sampled()
    law = fit_law(rows, Shape((Y,), (X,), (ONE, XX)), np.array([3.0]))
    np.testing.assert_allclose([law.plain[0], law.over[0], law.under[0]], [-0.3, 2.0, 0.5], rtol=1e-6)
    assert law.rss < 1e-10


def test_a_denominator_that_changes_sign_is_refused():
    rows, _ = sampled()
    assert fit_law(rows, Shape((), (X,), (ONE, XX)), np.array([-0.5])) is None


def test_the_correction_removes_the_bias_of_noise():
    """Least squares of D y = M with noisy y draws the constants of D to zero; the corrected regression does not."""
    rng = np.random.default_rng(1)
    x = rng.uniform(0.2, 3.0, (4000, 1))
    rate = 2 * x[:, 0] / (1 + 0.5 * x[:, 0] ** 2) + 0.1 * rng.normal(size=4000)
    table = np.column_stack([np.ones(4000), x[:, 0], x[:, 0] ** 2])
    rows = Rows(table, table, table[:, [0, 2]], rate)
    problem = corrected_levy(rows, 0, np.ones(4000))
    found = es.refit(problem, [[1, 3]]).coef[0]
    plain = np.linalg.lstsq(np.column_stack([x[:, 0], -(x[:, 0] ** 2) * rate]), rate, rcond=None)[0]
    assert abs(-found[3] - 0.5) < 0.02 < abs(plain[1] - 0.5)


def test_gauss_newton_rows_hold_the_law_they_are_made_at():
    rows, rate = sampled()
    law = fit_law(rows, Shape((Y,), (X,), (ONE, XX)), np.array([0.4]))
    problem = gauss_newton(rows, law, with_plain=True)
    assert len(problem.terms) == 6 + 6 + 5
    best = es.refit(problem, [[Y, 6 + X, 12 + 2]])  # the third free term of D is x^2
    np.testing.assert_allclose(best.coef[0][[Y, 6 + X, 14]], [-0.3, 2.0, 0.5], rtol=1e-6)
    assert best.objective[0] < 1e-12 * (rate @ rate)


def test_windows_hold_the_law_without_a_derivative_of_samples():
    """x' = -x / (1 + x): the rows of x' and of x x' agree with those of the rate and of x times the rate."""
    t = np.linspace(0.0, 6.0, 240)
    start = np.linspace(2.0, 1e-3, 40000)  # t = ln(2 / x) + 2 - x
    x = np.interp(t, np.log(2 / start) + 2 - start, start)
    data = es.Trajectories.from_arrays(x[:, None], time=t, states=("x",))
    terms = es.Polynomials(2).terms(("x",))
    rows = window_rows(Candidates(terms, terms, terms), Variables(("x",)), smooth(data), "x")
    rate = -x / (1 + x)
    scale = np.abs(rows.target).max()
    assert np.abs(rows.target - rows.rates(rate)).max() < 1e-3 * scale
    assert np.abs(rows.labelled(x[:, None])[:, 0] - rows.rates(x * rate)).max() < 2e-3 * scale


@pytest.mark.parametrize(
    ("coef", "low", "high", "expected"),
    [
        ((1.0, 0.5), (0.0, 0.0), (5.0, 5.0), False),  # 1 + x/2
        ((1.0, -0.5), (0.0, 0.0), (5.0, 5.0), True),  # 1 - x/2 is zero at 2
        ((1.0, -0.5), (0.0, 0.0), (1.9, 5.0), False),
        ((1.0, 0.5), (-5.0, 0.0), (5.0, 1.0), True),
    ],
)
def test_poles_in_a_box(coef, low, high, expected):
    box = np.array([low, high])
    assert has_pole([TERMS[ONE], TERMS[X]], np.array(coef), ("x", "y"), box) is expected


def test_poles_that_intervals_find_only_in_parts():
    """1 - x y + x^2 on [0, 1]^2: intervals of the whole box reach zero, those of its parts do not."""
    box = box_of(np.array([[0.0, 0.0], [1.0, 0.99]]))
    terms = [TERMS[ONE], TERMS[XY], TERMS[XX]]
    assert has_pole(terms, np.array([1.0, -1.0, 1.0]), ("x", "y"), box) is False
    assert has_pole([es.Terms(["sin(x)"]).terms(VARIABLES)[0]], np.ones(1), ("x", "y"), box) is None


def test_large_libraries_are_screened():
    """y = 2 x3 - x1 x2 / (1 + 3 x2^4) among 210 terms of p, M and D each: the denominator is found from 150 samples."""
    names = ("x1", "x2", "x3", "x4")
    x = np.random.default_rng(4).uniform(0.1, 2.0, (150, 4))
    rate = 2 * x[:, 2] - x[:, 0] * x[:, 1] / (1 + 3 * x[:, 1] ** 4)
    library = es.Polynomials(6).bind(names)
    table = library.evaluate(x)
    every = Candidates(library.terms, library.terms, library.terms)
    clock = Deadline(es.Settings(threads=1))
    few = screened(Rows(table, table, table, rate), every, clock)
    assert every.free == few.among == 629
    assert few.candidates.free < 40
    law = few.searched(5, clock, lambda law: False).ranked()[0].law
    assert law_text(law, few.candidates) == "2 x3 - x1 x2/(1 + 3 x2^4)"


@pytest.mark.parametrize("noise", [0.001, 0.02])
def test_profiles_find_a_denominator_whose_quotient_is_no_candidate(noise):
    rng = np.random.default_rng(3)
    x = rng.uniform(0.2, 3.0, (400, 2))
    table = np.column_stack([np.ones(400), x[:, 0], x[:, 1], x[:, 0] ** 2, x[:, 0] * x[:, 1], x[:, 1] ** 2])
    rate = x[:, 0] - 0.3 * x[:, 0] ** 2 - 1.1 * x[:, 0] * x[:, 1] / (1 + 0.8 * x[:, 0] ** 2)
    rows = Rows(table, table, table, rate + noise * rate.std() * rng.normal(size=400))
    constants = dict(profiled(rows, Deadline(es.Settings())))
    assert constants[ONE, XX] == pytest.approx([0.8], rel=0.5)

"""The search of laws on the curve of a trajectory fit, and how sure the best of them is."""

from __future__ import annotations

import math

import numpy as np
import pytest

import exactsindy as es
from discovery.rational.laws import fraction_terms, noisy
from exactsindy.discovery.rational.curve_rows import curve_rows
from exactsindy.discovery.rational.joint_candidates import JointCandidates
from exactsindy.discovery.rational.labelled import FoundLaw, FoundLaws
from exactsindy.discovery.rational.output_fit import LawFit, fit_law
from exactsindy.discovery.rational.poles import PoleCheck, box_of
from exactsindy.discovery.rational.resolving import candidates_of, share_of
from exactsindy.discovery.rational.shapes import Candidates, Shape
from exactsindy.discovery.rational.trajectory_laws import TrajectoryLaws
from exactsindy.forms import smooth
from exactsindy.library import Variables
from exactsindy.solver import Deadline

# Columns of Polynomials(2): 1, x, y, x^2, x y, y^2.
ONE, X, Y, XX = 0, 1, 2, 3


def law(plain, p, over=(), m=(), under=(), d=()):
    return LawFit(Shape(plain, over, under), np.array(p), np.array(m), np.array(d), math.inf)


@pytest.fixture(scope="module")
def laws():
    """Joint fits of x' = 0.8 - 1.5 x/(0.4 + x), y' = x - 0.6 y with 1 % noise."""
    data = noisy("inflow", 0.01, seed=2, samples=60)
    library = es.Rational(es.Polynomials(2), es.Polynomials(1))
    rational = candidates_of(library, data, "x'")
    every = (rational, candidates_of(es.Polynomials(1), data, "y'"))
    smoothed = smooth(data)
    box = box_of(np.vstack(smoothed.values))
    poles = tuple(PoleCheck(own, ("x", "y"), box) for own in every)
    joint = JointCandidates(smoothed, Variables.of(data), data.targets, every, poles)
    return TrajectoryLaws(joint, 5, Deadline(es.Settings()))


SECOND = law((X, Y), [1.0, -0.6])
POLYNOMIAL = law((ONE, X, XX), [0.4, -0.9, 0.15])


def test_the_misfit_on_the_curve_is_that_of_the_trajectories(laws):
    """Rows made at one law say how well another one fits: no trajectory is fitted for that."""
    there = laws.fit([POLYNOMIAL, SECOND])
    rows = curve_rows(laws.joint, there.laws, there.fit, 0)
    same = fit_law(rows, Shape((ONE, X, XX)), np.zeros(0))
    assert same.rss == pytest.approx(there.misfit, rel=1e-4)
    other = fit_law(rows, Shape((ONE,), (X,), (ONE, X)), np.array([1.0]))
    fitted = laws.fit([law((ONE,), other.plain, (X,), other.over, (ONE, X), other.under), SECOND], there)
    assert abs(other.rss - fitted.misfit) < 0.1 * (there.misfit - fitted.misfit)


def test_every_denominator_is_tried_on_the_curve_of_a_wrong_law(laws):
    there = laws.fit([POLYNOMIAL, SECOND])
    own = laws.joint.candidates[0]
    assert ({"1", "x"}, {"1", "x"}) in [fraction_terms(own, other.shape) for other in laws.beside(there, 0)]
    found = laws.searched([[POLYNOMIAL], [SECOND]])
    assert fraction_terms(own, found.laws[0].shape) == ({"1", "x"}, {"1", "x"})


def found_law(criterion, plain, over=(), under=()):
    shape = Shape(plain, over, under)
    counts = (len(plain), len(over), max(len(under) - 1, 0))
    return FoundLaw(LawFit(shape, *(np.ones(n) for n in counts), 1.0), criterion, np.zeros(sum(counts)))


def share(best, *others):
    """The probability of a law among others of Polynomials(2) over Polynomials(2)."""
    terms = es.Polynomials(2).terms(Variables(("x", "y")))
    return share_of(FoundLaws("x'", Candidates(terms, terms, terms), (best, *others), 9, ""), best)


def test_confidence_counts_laws_with_other_denominators():
    best = found_law(0.0, (ONE,), (X,), (ONE, X))
    larger = found_law(10.0, (ONE, Y), (X,), (ONE, X))
    other = found_law(8.0, (ONE,), (X,), (ONE, Y))
    again = found_law(9.0, (ONE, X), (X,), (ONE, Y))
    more = found_law(8.0, (ONE, XX), (X,), (ONE, Y))  # has more constants: they have a price
    plain = found_law(8.0, (ONE, X, XX))
    assert share(best) == 1.0
    assert share(best, larger) == pytest.approx(1 / (1 + math.exp(-5)))
    assert share(best, other) == pytest.approx(1 / (1 + math.exp(-2)))
    assert share(best, other, again) == share(best, other)  # the same terms of D
    assert share(best, more) == pytest.approx(1 / (1 + math.exp(-3)))
    assert share(best, other, plain) == pytest.approx(1 / (1 + 2 * math.exp(-2)))


def test_confidence_in_a_sum_of_monomials_counts_quotients():
    plain = found_law(8.0, (ONE, X, XX))
    assert share(plain, found_law(0.0, (ONE,), (X,), (ONE, X))) == pytest.approx(1 / (1 + math.exp(2)))
    assert share(plain, found_law(9.0, (X,))) == 1.0  # counted by the choice among monomials
    assert share(plain, found_law(18.0, (), (ONE, X, XX), (ONE, X))) == pytest.approx(1 / (1 + math.exp(-5)))


def test_laws_of_measured_rates_are_compared_with_the_next_best_one():
    rng = np.random.default_rng(5)
    x = rng.uniform(0.1, 3.0, 400)
    rate = -1.2 * x / (0.5 + x)
    rate = rate + 0.01 * rate.std() * rng.normal(size=400)
    data = es.Trajectories.from_arrays(x[:, None], derivatives=rate[:, None], states=("x",))
    found = es.discover(data, library=es.Rational(), threads=1)
    (term,) = found.solution.terms["x'"]
    assert term.startswith("x/(0.5")
    assert found.confidence["x'"] > 0.9

"""The default library grows where polynomials do not hold the law, and only there."""

import numpy as np
import pytest

import exactsindy as es
from exactsindy.data import Trajectories, Trajectory
from exactsindy.discovery.families.catalogue import MOST_TERMS, Scale, proposals
from exactsindy.errors import ProblemError
from exactsindy.library import Term
from exactsindy.systems import integrate


def curves(rates, noise=0.0, seed=0):
    """Measured derivatives along four smooth curves of two states."""
    rng, members = np.random.default_rng(seed), []
    t = np.linspace(0, 10, 100)
    for _ in range(4):
        middle, width, speed, phase = (rng.uniform(*span, 2) for span in ((1.0, 2.4), (0.2, 0.6), (0.3, 1.2), (0, 6)))
        x = middle + width * np.sin(np.outer(t, speed) + phase)
        y = np.column_stack([np.broadcast_to(rate(*x.T), t.shape) for rate in rates])
        members.append((x, y))
    size = np.sqrt(np.mean(np.vstack([y for _, y in members]) ** 2, axis=0))
    return Trajectories(
        [Trajectory(t, x, ("x", "y"), derivatives=y + noise * size * rng.normal(size=y.shape)) for x, y in members]
    )


@pytest.fixture(scope="module")
def swing():
    times = np.arange(0, 16, 0.05)
    states = integrate(lambda s: np.array([s[1], -1.7 * np.sin(s[0]) - 0.15 * s[1]]), np.array([2.2, 0.0]), times)
    states += 0.01 * states.std(axis=0) * np.random.default_rng(0).normal(size=states.shape)
    return states, times


@pytest.fixture(scope="module")
def found(swing):
    return es.discover(*swing, states=("x", "v"), seconds=40)


def test_the_sine_of_a_pendulum_is_found(found):
    assert set(found.solution.terms["v'"]) == {"v", "sin(x)"}
    assert set(found.solution.terms["x'"]) == {"v"}
    assert found.confidence["v'"] > 0.5


def test_the_answer_says_what_was_tried_and_what_polynomials_would_have_given(found):
    (notice,) = [notice for notice in found.warnings if notice.kind == "library"]
    assert notice.equation == "v'"
    assert "polynomials do not hold this law" in notice.message
    assert "trigonometric explains it best" in notice.message
    assert "Polynomials alone would have given the terms" in notice.message
    families = [line.split(": ")[1] for line in found.tried]
    assert families[:3] == ["higher degree", "trigonometric", "quotients"]


def test_a_library_that_is_given_is_never_grown(swing):
    cubic = es.discover(*swing, states=("x", "v"), library=es.Polynomials(3), seconds=20)
    assert all(term.polynomial for row in cubic.model.rows for term in row.terms)
    assert cubic.tried == ()


def test_polynomials_that_hold_the_law_stay_and_nothing_is_tried():
    data = curves([lambda x, y: 2 * x - x * y, lambda x, y: x * y - y], 0.01)
    found = es.discover(data)
    assert found.tried == ()
    assert [set(found.solution.terms[name]) for name in ("x'", "y'")] == [{"x", "x y"}, {"y", "x y"}]


def test_exact_labels_of_two_equations_each_with_its_own_functions():
    data = curves([lambda x, y: y - np.cos(x) / y, lambda x, y: 2 * y - x * y / (1 + 0.5 * x**2)])
    found = es.discover(data, seconds=None)
    assert set(found.solution.terms["x'"]) == {"y", "cos(x)/y"}
    assert found.model.equations(3)[1] == "y' = 2 y - x y/(1 + 0.5 x^2)" or len(found.solution.terms["y'"]) == 2
    assert all(term.polynomial or "x" in term.name for row in found.model.rows for term in row.terms)


def test_another_text_for_the_library_is_refused():
    with pytest.raises(ProblemError, match="expected 'auto' or a library such as"):
        es.discover(np.ones((20, 1)), 0.1, library="automatic")


def test_families_come_in_their_order_and_are_not_too_large():
    data = curves([lambda x, y: x, lambda x, y: y])
    every = proposals(data, es.Polynomials(3).terms(("x", "y")))
    assert [proposal.name for proposal in every] == [
        "higher degree",
        "trigonometric",
        "quotients",
        "exponentials, roots and absolute values",
        "sines of any frequency",
    ]
    assert all(len(proposal.closed) <= MOST_TERMS for proposal in every)
    names = {term.name for term in every[2].closed}
    assert {"cos(y)/x", "sin(x - y)", "x sin(y)"} <= names
    assert "cos(x)^2" not in names


def test_what_comes_near_zero_is_not_divided_by():
    scale = Scale(("x", "y"), np.column_stack([np.linspace(-1, 1, 51), np.linspace(1, 2, 51)]))
    assert not scale.is_away_from_zero(Term.variable("x"))
    assert scale.is_away_from_zero(Term.variable("y"))


def test_a_family_that_leaves_correlated_residuals_is_not_taken_for_the_law():
    """A mug of water that cools, read to a tenth of a degree; the temperature of the mug itself is not measured.

    Every family bends far enough to come near such a curve, and none is its law.
    """

    def rates(s):
        vapour = np.exp(17.62 * s[0] / (243.12 + s[0]))
        water = -0.06 * (s[0] - s[1]) - 0.012 * (s[0] - 22) - 0.004 * vapour
        return np.array([water, 0.1 * (s[0] - s[1]) - 0.02 * (s[1] - 22)])

    times = np.arange(222.0)
    water = integrate(rates, np.array([98.0, 60.0]), times)[:, 0].round(1)
    found = es.discover(water, times, states=("T",), threads=1, seconds=None)
    assert len(found.tried) >= 4
    assert found.confidence["T'"] is None
    (notice,) = [notice for notice in found.warnings if notice.kind == "library"]
    assert "families of functions that were tried explains it" in notice.message

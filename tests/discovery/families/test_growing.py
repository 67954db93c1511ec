"""The default library grows where polynomials do not hold the law, and only there."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import exactsindy as es
from exactsindy.data import Trajectories, Trajectory
from exactsindy.discovery.families import growing
from exactsindy.discovery.families.catalogue import MOST_TERMS, Scale, proposals
from exactsindy.discovery.families.fits import FamilyFit
from exactsindy.discovery.families.growing import no_surer, preferred
from exactsindy.discovery.families.growth import lowered
from exactsindy.discovery.families.trials import Trial
from exactsindy.errors import ProblemError
from exactsindy.library import Term, Variables, parse_term
from exactsindy.selection import Choice
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


def trial(criterion, *texts):
    """A family whose best fit has these terms."""
    terms = tuple(parse_term(text, Variables(("x",))) for text in texts)
    return Trial("family", (FamilyFit(terms, 1.0, criterion, frozenset()),), criterion)


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
    with pytest.raises(ProblemError, match=r"library=\['x', 'x y'\]: expected a library .*Terms"):
        es.discover(np.ones((20, 1)), 0.1, library=["x", "x y"])


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


def test_a_long_sum_of_a_family_is_not_taken_for_the_law():
    """A mug of water that cools, read to a tenth of a degree; the temperature of the mug itself is not measured.

    Every family bends far enough to come near such a curve, and none is its law. Either the residuals of the best one
    are correlated and it is refused, or its many numbers leave little confidence.
    """

    def rates(s):
        vapour = np.exp(17.62 * s[0] / (243.12 + s[0]))
        water = -0.06 * (s[0] - s[1]) - 0.012 * (s[0] - 22) - 0.004 * vapour
        return np.array([water, 0.1 * (s[0] - s[1]) - 0.02 * (s[1] - 22)])

    times = np.arange(222.0)
    water = integrate(rates, np.array([98.0, 60.0]), times)[:, 0].round(1)
    found = es.discover(water, times, states=("T",), threads=1, seconds=None)
    assert len(found.tried) >= 4
    assert (found.confidence["T'"] or 0.0) < 0.5
    assert not found.identified
    (notice,) = [notice for notice in found.warnings if notice.kind == "library"]
    assert "families of functions that were tried" in notice.message


def test_the_confidence_in_a_grown_library_counts_numbers_and_other_families():
    choice = Choice("x'", 2, "increment", 0.0, 1.0, 0.98, 3)
    assert lowered(choice, 3, 1.0).confidence == pytest.approx(0.49 / 0.51)
    assert lowered(choice, 4, 0.5).confidence == pytest.approx(0.5 * 0.49 / 0.51)
    assert lowered(choice, 5, 1.0).confidence < 0.25
    same = [trial(-100.0, "x", "sin(x)"), trial(-99.0, "x", "sin(x)", "x^2")]
    assert preferred(same) == 1.0
    other = [trial(-100.0, "x", "sin(x)"), trial(-98.0, "x", "x^3")]
    assert preferred(other) == pytest.approx(1 / (1 + np.exp(-1)))
    assert preferred([replace(other[0], probability=0.6), other[1]]) == pytest.approx(0.6 / (1 + np.exp(-1)))


def test_an_equation_gains_no_confidence_from_the_larger_library_of_another():
    choice = Choice("y'", 7, "increment", 0.0, 1.0, 0.81, 6)
    assert no_surer(replace(choice, confidence=0.99), choice).confidence == 0.81
    assert no_surer(replace(choice, confidence=0.7), choice).confidence == 0.7
    assert no_surer(replace(choice, confidence=0.99), replace(choice, confidence=np.nan)).confidence == 0.99


@pytest.mark.parametrize(
    ("lag", "ratio", "coloured"), [(0.9, 1.5, True), (0.9, 1.05, False), (0.02, 1.5, False), (None, None, False)]
)
def test_residuals_are_coloured_if_they_are_correlated_and_larger_than_the_noise(lag, ratio, coloured):
    data = Trajectories([Trajectory(np.arange(2000.0), np.zeros((2000, 1)), ("T",))])
    whiteness = None if lag is None else SimpleNamespace(target_names=("T'",), lag=[lag], ratio=[ratio])
    answer = SimpleNamespace(refined=SimpleNamespace(whiteness=whiteness), prepared=SimpleNamespace(data=data))
    assert growing._is_coloured(answer, "T'") is coloured


def test_a_grown_library_that_is_not_accepted_gives_no_confidence(monkeypatch):
    """Another equation is accepted in the same attempt: this one keeps its terms, and says why it is not sure."""
    monkeypatch.setattr(growing, "_is_coloured", lambda answer, name: name == "y'")
    data = curves([lambda x, y: y - np.cos(x) / y, lambda x, y: 2 * y - x * y / (1 + 0.5 * x**2)])
    found = es.discover(data, seconds=None, threads=1)
    assert found.confidence["x'"] > 0.5
    assert found.confidence["y'"] is None
    withheld = {choice.equation: choice.withheld for choice in found.selection.choices}
    assert withheld["y'"].endswith("residuals of the best family are correlated")

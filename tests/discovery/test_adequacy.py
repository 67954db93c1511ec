"""Laws that the library lacks are not printed with confidence, and those that it holds are."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import exactsindy as es
from exactsindy.discovery import adequacy
from exactsindy.discovery.adequacy import judged
from exactsindy.discovery.outside_terms import outside_terms
from exactsindy.discovery.row_tests import stretches
from exactsindy.forms import Whiteness, smooth
from exactsindy.selection import Choice, LackOfFit, Selection
from exactsindy.solver import Deadline


def simulated(rate, start, end, samples, noise=0.0, seed=0):
    t = np.linspace(0, end, samples)
    x = solve_ivp(lambda _, x: rate(x), (0, end), start, t_eval=t, rtol=1e-10, atol=1e-12).y.T
    return x + noise * x.std(axis=0) * np.random.default_rng(seed).normal(size=x.shape), t


def pendulum(x):
    return [x[1], -np.sin(x[0]) - 0.1 * x[1]]


def lotka_volterra(x):
    return [x[0] - 0.5 * x[0] * x[1], -x[1] + 0.4 * x[0] * x[1]]


@pytest.fixture(scope="module")
def swing():
    x, t = simulated(pendulum, (2.4, 0.0), 30.0, 600, 0.01)
    return es.discover(x, t, states=("th", "w"), library=es.Polynomials(3), seconds=10, threads=1)


def test_a_pendulum_is_not_called_a_cubic(swing):
    assert swing.confidence["w'"] is None
    assert not swing.identified
    words = swing.verdict["w'"]
    assert words.startswith("not identified: the library does not seem to hold this law: ")
    assert "Not identified: the library does not seem to hold this law" in str(swing)
    assert swing.to_dict()["verdict"]["w'"] == words
    assert swing.to_dict()["confidence"]["w'"] is None


def test_its_other_equation_is_inside_and_stays_sure(swing):
    assert swing.model.equations(2)[0] == "th' = w"
    assert swing.confidence["th'"] > 0.9


def test_a_saved_run_keeps_what_was_withheld(swing, tmp_path):
    again = es.Discovery.load(swing.save(tmp_path / "run"))
    assert again.verdict == swing.verdict
    assert again.confidence == swing.confidence
    assert not again.identified
    from exactsindy.discovery.run_check import verify_run

    assert verify_run(tmp_path / "run").ok


def test_the_report_says_it_first(swing, tmp_path):
    pytest.importorskip("jinja2")
    pytest.importorskip("plotly")
    page = swing.report(tmp_path / "page.html").read_text(encoding="utf-8")
    doubt = page.index("The library does not seem to hold this law")
    assert doubt < page.index("What is proved</h2>")


def test_other_terms_have_no_verdict_of_those_selected(swing):
    assert swing.at(k={"w'": 1}).verdict["w'"] == "not the terms that were selected"


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.05])
def test_a_law_of_the_library_stays_sure(noise):
    x, t = simulated(lotka_volterra, (2.0, 1.0), 25.0, 600, noise)
    found = es.discover(x, t, states=("x", "y"), seconds=10, threads=1)
    assert found.identified
    assert min(found.confidence.values()) > 0.9


def test_michaelis_menten_without_noise_is_outside():
    x, t = simulated(lambda x: [-x[0] / (0.3 + x[0])], (3.0,), 4.0, 400)
    found = es.discover(x, t, states=("S",), library=es.Polynomials(3), seconds=10, threads=1)
    assert found.confidence["S'"] is None
    assert not found.identified


def test_the_library_that_holds_the_law_is_sure_of_it():
    x, t = simulated(pendulum, (2.4, 0.0), 30.0, 600, 0.01)
    library = es.Polynomials(2) + es.Terms(["sin(th)"])
    found = es.discover(x, t, states=("th", "w"), library=library, seconds=10, threads=1)
    assert found.identified
    assert set(found.solution.terms["w'"]) == {"w", "sin(th)"}
    assert found.confidence["w'"] > 0.9


def test_rules_without_a_probability_are_not_tested():
    x, t = simulated(pendulum, (2.4, 0.0), 30.0, 600, 0.01)
    found = es.discover(x, t, states=("th", "w"), rule="bic", seconds=10, threads=1)
    assert all("library" not in words for words in found.verdict.values())


def test_names_that_are_no_words_are_tested_too():
    x, t = simulated(pendulum, (2.4, 0.0), 30.0, 600, 0.01)
    found = es.discover(np.degrees(x), t, states=("angle [deg]", "rate [deg/s]"), degree=3, seconds=10, threads=1)
    assert found.confidence["rate [deg/s]'"] is None


def test_functions_are_outside_polynomials_and_finite():
    values = np.random.default_rng(0).uniform(1, 2, (50, 3)) * (1, -1, 0)
    terms = outside_terms(("x", "y", "z"), values)
    names = [term.name for term in terms]
    assert all(not term.polynomial for term in terms)
    assert len(set(names)) == len(terms)
    assert {"sin(x)", "sin(x - y)", "x/sqrt(x^2 + y^2)^3", "x abs(x)"} <= set(names)
    assert not any("z" in name and "x" not in name and "y" not in name for name in names)
    assert np.isfinite(es.Terms(terms).bind(("x", "y", "z")).evaluate(values)).all()


def test_a_distance_that_vanishes_is_not_divided_by():
    names = [term.name for term in outside_terms(("x", "y"), np.array([[0.0, 0.0], [1.0, 1.0]]))]
    assert not any("sqrt(x^2" in name for name in names)


def test_long_data_are_tested_in_stretches():
    x, t = simulated(lotka_volterra, (2.0, 1.0), 25.0, 600)
    smoothed = smooth(es.Trajectories.from_arrays([x, x[:50]], time=[t, t[:50]], states=("x", "y")))
    part = stretches(smoothed, 200)
    assert sum(map(len, part.pieces)) <= 200
    assert len(part.pieces) >= 5
    for piece, values in zip(part.pieces, part.values, strict=True):
        assert len(piece) == len(values) >= 8
    assert part.pieces[0].times[0] == t[0]
    assert stretches(smoothed, 650) is smoothed


def test_a_lower_probability_lowers_the_confidence():
    choice = Choice("x'", 1, "", 0.0, 1.0, 0.99, None)
    good = LackOfFit(rows=400, ratio=1.0, share=0.1, correlation=0.0)
    doubtful = LackOfFit(rows=400, ratio=6.5, share=0.1, correlation=0.0)
    bad = LackOfFit(rows=400, ratio=13.0, share=0.1, correlation=0.0)
    assert judged(choice, good) == judged(choice, None) == choice
    assert 0.5 < judged(choice, doubtful).confidence < 0.99
    assert np.isnan(judged(choice, bad).confidence)
    assert "13 times the noise" in judged(choice, bad).withheld


@pytest.mark.parametrize(
    "rows, fit, kept", [(1.0, None, 1.0), (2.5, None, 0.788), (2.5, 1.0, 1.0), (1.0, 4.0, 1.0), (4.0, 4.0, 0.593)]
)
def test_residuals_beyond_the_noise_lower_the_confidence(rows, fit, kept, monkeypatch):
    """Those of the rows of an equation and, if it was chosen by trajectories, of these as well."""
    x, t = simulated(lotka_volterra, (2.0, 1.0), 25.0, 300, noise=0.01)
    data = es.Trajectories.from_arrays(x, time=t, states=("x", "y"))
    found = es.discover(data, degree=2, threads=1)
    lacks = {"x'": LackOfFit(rows=300, ratio=rows, share=0.1, correlation=0.0)}
    monkeypatch.setattr(adequacy, "lack_of_fit", lambda *_: lacks)
    prepared = SimpleNamespace(data=data)
    ratio = None if fit is None else Whiteness(("x'", "y'"), np.array([fit, 1.0]), np.zeros(2))
    after = adequacy.tested(found.selection, prepared, Deadline(es.Settings()), ratio)
    shares = [new.confidence / old.confidence for new, old in zip(after.choices, found.selection.choices, strict=True)]
    np.testing.assert_allclose(shares, [kept, 1.0], atol=2e-3)


def test_a_simulation_with_a_coarse_tolerance_is_no_lack_of_the_library(monkeypatch):
    t = np.linspace(0, 20, 2000)
    x = solve_ivp(lambda _, x: lotka_volterra(x), (0, 20), (2.0, 1.0), t_eval=t).y.T
    data = es.Trajectories.from_arrays(x, time=t, states=("x", "y"))
    monkeypatch.setattr(
        adequacy, "lack_of_fit", lambda *_: {"x'": LackOfFit(rows=300, ratio=4.0, share=0.001, correlation=0.9)}
    )
    choice = Choice("x'", 1, "", 0.0, 1.0, 0.99, None)
    selection = Selection(None, None, (), {}, (choice,), None)
    after = adequacy.tested(selection, SimpleNamespace(data=data), Deadline(es.Settings()), None)
    assert after.choices[0].confidence == 0.99
    bad = LackOfFit(rows=300, ratio=400.0, share=0.2, correlation=0.9)
    monkeypatch.setattr(adequacy, "lack_of_fit", lambda *_: {"x'": bad})
    (choice,) = adequacy.tested(selection, SimpleNamespace(data=data), Deadline(es.Settings()), None).choices
    assert choice.withheld == "errors of the simulation hide the law: residuals are 4e+02 times the noise"
    # An equation that leaves no more than the noise has another reason, which stays.
    other = LackOfFit(rows=300, ratio=1.0, share=0.2, correlation=0.0, advantage=400.0, function="sin(y)", noisy=True)
    monkeypatch.setattr(adequacy, "lack_of_fit", lambda *_: {"x'": bad, "y'": other})
    both = replace(selection, choices=(*selection.choices, replace(selection.choices[0], equation="y'")))
    (_, second) = adequacy.tested(both, SimpleNamespace(data=data), Deadline(es.Settings()), None).choices
    assert second.withheld.endswith("sin(y) explains what it leaves, no term of the library does")

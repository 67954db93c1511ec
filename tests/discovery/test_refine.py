"""The likelihood of trajectory fits where regression evidence leaves the choice ambiguous."""

import numpy as np
import pytest

import exactsindy as es
from exactsindy.discovery import prepare, refine
from exactsindy.discovery.prepare import fit_samples
from exactsindy.discovery.variants import Variant, whitened_increments
from exactsindy.forms import ModalForm, smooth_field
from exactsindy.forms.base import groups
from exactsindy.forms.modal.modal_library import ModalLibrary
from exactsindy.selection import TRAJECTORY_FIT, Folds, PathEvidence
from exactsindy.systems import FIELD_SYSTEMS, FieldSystem, add_field_noise, random_waves
from exactsindy.trajectory_fit import MeasuredModes

ONE = es.Settings(seconds=60.0, threads=1)
TRUTH = {"x'": {"v"}, "v'": {"x", "v", "x^2 v"}}
T = np.arange(0.0, 20.0, 0.05)


@pytest.fixture(scope="module")
def data():
    """Van der Pol, three periods, noise of 20 %."""
    model = es.Model.from_coefficients({"x'": {"v": 1.0}, "v'": {"x": -1.0, "v": 1.0, "x^2 v": -1.0}})
    clean = model.simulate([1.0, 0.5], T).x
    noisy = clean + 0.3 * np.random.default_rng(9).normal(size=clean.shape)
    return es.Trajectories.from_arrays(noisy, time=T, states=("x", "v"))


@pytest.fixture(scope="module")
def found(data):
    return es.discover(data, settings=ONE)


def terms(solution):
    return {target: set(names) for target, names in solution.terms.items()}


def test_trajectory_fits_find_the_law_where_regression_evidence_alone_does_not(data, found):
    prepared = whitened_increments(data, es.Polynomials(3), ONE)
    rows = es.select({part.name: part.problem for part in prepared}, k_max=8, rule=PathEvidence(), settings=ONE)
    assert terms(rows.solution) != TRUTH
    assert terms(found.solution) == TRUTH
    assert {choice.variant for choice in found.selection.choices} == {TRAJECTORY_FIT}


def test_the_answer_is_proved_and_its_errors_are_honest(found):
    assert found.solution.optimal
    assert es.verify(found.problem, found.solution).ok
    true = {"x'": {"v": 1.0}, "v'": {"x": -1.0, "v": 1.0, "x^2 v": -1.0}}
    for row in found.model.rows:
        for value, error, term in zip(row.coefficients, row.standard_errors, row.terms, strict=True):
            assert 0 < error < 0.15
            assert abs(value - true[row.name][term.name]) < 4 * error


def heavy(draw, level=0.2):
    """Lorenz' system for 10 s with noise of a good part of its spread."""
    law = {"x'": {"x": -10.0, "y": 10.0}, "y'": {"x": 28.0, "y": -1.0, "x z": -1.0}, "z'": {"z": -8 / 3, "x y": 1.0}}
    clean = es.Model.from_coefficients(law).simulate([-8.0, 8.0, 27.0], np.linspace(0.0, 10.0, 1001)).x
    noisy = clean + np.random.default_rng(draw).normal(0, level * clean.std(), clean.shape)
    data = es.Trajectories.from_arrays(noisy, time=0.01, states=("x", "y", "z"))
    return es.discover(data, degree=2, settings=ONE), {name: set(terms) for name, terms in law.items()}


def test_regressions_that_are_sure_are_compared_by_trajectories_where_noise_is_large():
    """Rows alone lose the term y of y' with a confidence over 99 %."""
    found, law = heavy(8001)
    assert terms(found.solution) == law
    assert {choice.variant for choice in found.selection.choices} == {TRAJECTORY_FIT}
    assert found.confidence["y'"] < 0.9


def test_the_simpler_of_two_supports_that_data_cannot_tell_apart_is_shown(tmp_path):
    """With y z in place of y the fit is better by a hair; nothing is called proved that is not."""
    found, law = heavy(8003)
    assert terms(found.solution) == law
    assert [status.name for status in found.solution.status] == ["OPTIMAL", "REFITTED", "OPTIMAL"]
    text = " ".join(str(found).split())
    assert "Only 1 other 3-term combination fits y' better, by 0.0" in text
    assert "or less: x, x z, y z. The terms shown were preferred: they are simpler" in text
    assert "y': y z and y stand in for each other here" in text
    assert "Proved about this library only, not about the system: for x', z', no other combination" in text
    assert "For y', what fits better is listed. Not proved:" in text
    assert str(es.Discovery.load(found.save(tmp_path / "run"))) == str(found)
    found = es.discover(found.data, degree=2, settings=ONE, proof=tmp_path / "proof")
    assert [n.message for n in found.warnings if n.kind == "proof"] == [
        "There is no proof file: the terms of y' are the simplest of several, not the best of their size."
    ]


def test_an_equation_outside_the_library_does_not_spoil_the_others():
    """A pendulum: w' is no polynomial, th' = w is, and fitting both together must not change it."""
    model = es.Model.from_coefficients({"th'": {"w": 1.0}, "w'": {"sin(th)": -9.8, "w": -0.15}})
    clean = model.simulate([2.4, 0.0], np.arange(0.0, 20.0, 0.02)).x
    noisy = clean + 0.005 * clean.std(axis=0) * np.random.default_rng(0).normal(size=clean.shape)
    found = es.discover(noisy, 0.02, states=("th", "w"), settings=ONE)
    assert set(found.solution.terms["th'"]) == {"w"}
    assert found.confidence["th'"] > 0.9


def test_what_was_compared_is_told(found):
    choice = found.selection.choices[1]
    assert 0 < choice.confidence < 1
    assert choice.rival == len(choice.rival_terms)
    assert set(choice.rival_terms) != TRUTH["v'"]
    shares = found.selection.inclusion["v'"]
    assert all(0 < share <= 1 for share in shares.values())
    assert shares["v"] > 0.9
    rows = [row for row in found.selection.table if row.variant == TRAJECTORY_FIT and row.equation == "v'"]
    assert [row.k for row in rows] == list(range(9))
    assert [row.k for row in rows if row.chosen] == [3]
    assert max(row.value for row in rows) == pytest.approx(0.0, abs=5.0)
    assert sum(row.chosen for row in found.selection.table) == 2
    assert "Among the models whose trajectories were fitted: " in str(found)


def test_a_run_keeps_it(found, tmp_path):
    again = es.Discovery.load(found.save(tmp_path / "run"))
    assert again.selection.choices == found.selection.choices
    assert str(again) == str(found)


@pytest.mark.parametrize(
    "asked",
    [
        {"rule": es.selection.GrowthRatio()},
        {"rule": PathEvidence()},
        {"form": "weak"},
        {"k_max": es.Total(8)},
    ],
    ids=["rule", "rows", "form", "total"],
)
def test_who_asks_for_something_else_gets_that(data, asked):
    other = es.discover(data, settings=ONE, **asked)
    assert TRAJECTORY_FIT not in {choice.variant for choice in other.selection.choices}


def test_clean_data_are_not_fitted_with_terms_of_the_errors_of_quadrature():
    """Local cubics err by more than the noise there; integrated equations do not, and misfits have a floor."""
    t = np.arange(0.0, 10.0, 0.05)
    u = np.sin(3 * t)
    x = np.exp(-t) + (3 * np.exp(-t) - 3 * np.cos(3 * t) + u) / 10
    found = es.discover(x, time=t, states=("x",), controls={"u": u}, settings=ONE)
    assert found.model.equations(3) == ["x' = -x + u"]


def test_eight_samples_a_period_are_enough():
    """Rows cannot tell the law there, because integrals between samples err; integrated equations can."""
    t = np.arange(0.0, 120.0, 0.8)
    model = es.Model.from_coefficients({"x'": {"v": 1.0}, "v'": {"x": -1.0, "v": 1.0, "x^2 v": -1.0}})
    clean = model.simulate([1.0, 0.5], t).x
    noisy = clean + 0.01 * np.random.default_rng(3).normal(size=clean.shape)
    found = es.discover(noisy, time=t, states=("x", "v"), settings=ONE)
    assert terms(found.solution) == TRUTH
    assert {choice.variant for choice in found.selection.choices} == {TRAJECTORY_FIT}
    rows = es.discover(noisy, time=t, states=("x", "v"), settings=ONE, rule=PathEvidence())
    assert terms(rows.solution) != TRUTH
    for row in found.model.rows:
        for value, error, term in zip(row.coefficients, row.standard_errors, row.terms, strict=True):
            assert abs(value - {"v": 1.0, "x": -1.0, "x^2 v": -1.0}[term.name]) < 4 * error


def test_trajectory_fits_of_a_field_resolve_its_ambiguous_equation():
    """The regression evidence prefers a wrong law for this field; its trajectory fit does not."""
    rng = np.random.RandomState(0)
    rate = rng.uniform(0.5, 1.5)
    law = {"u u_x": -rng.uniform(0.7, 2), "u_xx": rng.uniform(0.1, 0.3), "u": rate, "u^2": -rate}
    times = np.linspace(0, 4.0, 201)
    start, library = random_waves(1, 6, 0.3, 0.4), FIELD_SYSTEMS["burgers"].library
    system = FieldSystem("burgers_fisher", {"u_t": law}, {"x": 20.0}, 256, times, start, library)
    data = add_field_noise(system.simulate(np.random.RandomState(0)), 0.5, np.random.RandomState(0))
    found = es.discover(data, library=system.library)
    assert found.selection.choices[0].variant == TRAJECTORY_FIT
    assert {q: set(terms) for q, terms in found.solution.terms.items()} == {q: set(w) for q, w in system.truth.items()}
    rows = es.discover(data, library=system.library, rule=PathEvidence.for_modes())
    assert set(rows.solution.terms["u_t"]) != set(system.truth["u_t"])
    assert found.solution.optimal


def test_fields_with_many_modes_are_left_to_the_regression_evidence(monkeypatch):
    data = FIELD_SYSTEMS["kuramoto_sivashinsky"].simulate(np.random.RandomState(1000))
    library = FIELD_SYSTEMS["kuramoto_sivashinsky"].library
    smoothed = smooth_field(data)
    wide = MeasuredModes(data, smoothed, groups(data, library))
    variant = Variant("modes", ModalForm(smoothed=smoothed), Folds(()), smoothed)
    for name, of in (("_MOST_WORK", wide.work), ("_MOST_NUMBERS", wide.numbers)):
        for most, fitted in ((of, True), (0.99 * of, False)):
            with monkeypatch.context() as limits:
                limits.setattr(prepare, "_MOST_WORK", np.inf)
                limits.setattr(prepare, "_MOST_NUMBERS", np.inf)
                limits.setattr(prepare, name, most)
                assert (fit_samples(variant, data, library) is not None) == fitted
    assert wide.work == len(data.times) * float(wide.per_field) ** 3
    points = ModalLibrary(data, smoothed, wide.equations[0]).points
    assert wide.numbers == len(data.times) * points[0] * len(wide.equations[0].features.terms)


def test_very_many_samples_are_compared_on_stretches(monkeypatch):
    """On a circle rows cannot tell x' = -y from sums that are the same there; trajectories can."""
    t = 0.1 * np.arange(6000)
    x = np.column_stack([np.cos(t), np.sin(t)]) + 0.05 * np.random.default_rng(1).normal(size=(6000, 2))
    monkeypatch.setattr(refine, "_MANY_SAMPLES", 1500)
    monkeypatch.setattr(refine, "_MOST_SAMPLES", 3000)
    monkeypatch.setattr(refine, "unsure_equations", lambda selection: [0, 1])
    found = es.discover(x, t, states=("x", "y"), library=es.Polynomials(3), settings=ONE)
    (notice,) = (w for w in found.warnings if w.kind == "stretches")
    assert "1,500 of 6,000 samples" in notice.message
    assert terms(found.solution) == {"x'": {"y"}, "y'": {"x"}}
    assert all(choice.variant == TRAJECTORY_FIT for choice in found.selection.choices)

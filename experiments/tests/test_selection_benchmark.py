"""The selection benchmark: cases, rows, resuming, the page and its figures."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from exactsindy.data import Field
from exactsindy.library import Polynomials
from exactsindy.systems import SYSTEMS
from exactsindy_experiments import field_tuning
from exactsindy_experiments.first_contact_rows import ContactCase
from exactsindy_experiments.random_fields import LINES
from exactsindy_experiments.selection_benchmark import run_selection, selection_table
from exactsindy_experiments.selection_cases import (
    FIELD_GRIDS,
    NOISES,
    field_cases,
    half_cases,
    load,
    named_cases,
)
from exactsindy_experiments.selection_report import plot_reliability, reliability, selection_report
from exactsindy_experiments.selection_rows import CEILING, OURS, SSR, STLSQ, SelectionCase, SelectionRow
from exactsindy_experiments.selection_tuning import Example, compared_fits, examples, fit_weights, shares_right

CASE = SelectionCase("tuning", "lotka_volterra", 400, 0.005, 0)


def row(**changes):
    case = SelectionCase("reporting", "random-1", 400, 0.05, 1)
    of_case = {name: changes.pop(name) for name in ("part", "system", "seed") if name in changes}
    base = SelectionRow(replace(case, **of_case), OURS, "x'", True, 1.0, 2, 2, 0.9, 100.0, 1.0)
    return replace(base, **changes)


def test_halves_share_no_data_and_cover_all_cells():
    tuning, reporting = (half_cases(half, (400, 1200), NOISES, 3) for half in ("tuning", "reporting"))
    assert len(tuning) == len(reporting) == 2 * 6 * (3 + len(SYSTEMS))
    assert not set(tuning) & set(reporting)
    drawn = {int(c.system.removeprefix("random-")) % 2 for c in reporting if c.system.startswith("random-")}
    assert drawn == {1}
    first, second = load(CASE), load(replace(CASE, part="reporting", seed=1))
    assert not np.array_equal(first.data[0].states, second.data[0].states)
    assert np.array_equal(first.data[0].states, load(CASE).data[0].states)


def test_named_cases_are_those_of_the_article():
    cases = named_cases((1000,))
    assert {c.system: (c.samples, c.noise) for c in cases}["lorenz"] == (5000, 0.002)
    duffing = load(next(c for c in cases if c.system == "duffing"))
    assert set(duffing.truth) == {"X'", "Y'"}
    assert duffing.truth["X'"] == {"x", "x^3", "x y^2"}
    assert {c.noise for c in field_cases((1000,)) if c.system == "burgers"} == {0.05, 0.2}
    burgers = load(SelectionCase("fields", "burgers", 201, 0.05, 1000))
    assert isinstance(burgers.data, Field)


def test_a_case_is_measured_once(tmp_path):
    said = []
    run_selection([CASE], tmp_path, baselines=False, say=said.append)
    rows = list(selection_table(tmp_path))
    assert {r.method for r in rows} == {OURS, CEILING}
    assert all(r.exact and r.overlap == 1.0 for r in rows)
    assert all(0 < r.confidence <= 1 for r in rows if r.method == OURS)
    run_selection([CASE], tmp_path, baselines=False, say=said.append)
    assert said[-1] == "1 data sets present, 0 to measure."
    assert len(list(selection_table(tmp_path))) == len(rows)


def test_baselines_find_easy_laws():
    pytest.importorskip("pysindy")
    from exactsindy_experiments.selection_baselines import tuned_supports

    loaded = load(replace(CASE, noise=0.001, samples=1200))
    found = tuned_supports(loaded.data, loaded.library)
    assert set(found) == {STLSQ, SSR}
    for supports in found.values():
        assert len(supports) == 2
        assert all(terms for terms in supports)


def test_the_page_tells_rates_calibration_and_where_a_baseline_wins(tmp_path):
    rows = [row(equation=f"e{i}", exact=i % 10 != 0, confidence=0.9) for i in range(100)]
    rows += [row(equation=f"e{i}", method=STLSQ, confidence=math.nan) for i in range(100)]
    rows += [row(part="named", system="lorenz", seed=s, equation="x'", exact=s != 3) for s in range(4)]
    text = selection_report(rows, "a machine")
    assert "| discover | 0.900 | 0.900 |" in text
    assert "| goal | 0.87 | - |" in text
    assert "STLSQ, tuned at 5 %, n 400 (1.00 against 0.90)" in text
    assert "| 0.90 | 100 | 0.90 ± 0.03 |" in text
    assert "| lorenz | 5 % | 400 | 3 of 4 |" in text
    plot_reliability(rows, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 1000


def test_reliability_has_one_bin_per_level():
    sure = [row(equation=f"a{i}", confidence=0.99) for i in range(10)]
    unsure = [row(equation=f"b{i}", confidence=0.1, exact=i == 0) for i in range(10)]
    low, high = reliability([*sure, *unsure, row(confidence=math.nan, equation="c")])
    assert (low.count, low.right) == (10, 0.1)
    assert (high.count, high.right) == (10, 1.0)


def test_examples_of_the_tuning_half():
    (first, second) = examples([CASE], say=lambda text: None)
    assert first.features.shape == second.features.shape == (21, 6)
    assert first.right.any()
    weights, none = fit_weights([first, second])
    assert np.isfinite([*weights, none]).all()


def test_reaction_diffusion_is_measured_on_a_large_grid():
    assert {c.samples for c in field_cases((1000,)) if c.system == "reaction_diffusion"} == {250}
    assert FIELD_GRIDS["reaction_diffusion"][0] >= 128


def test_weights_for_fields_come_from_drawn_equations(monkeypatch):
    monkeypatch.setattr(field_tuning, "LINES", {"heat": LINES["heat"]})
    monkeypatch.setattr(field_tuning, "PLANES", {})
    monkeypatch.setattr(field_tuning, "LINE_DRAWS", 1)
    monkeypatch.setattr(field_tuning, "LINE_NOISES", (0.05,))
    said = []
    (path,) = field_tuning.tuning_paths(1, say=said.append)
    assert said == ["heat-1, noise 5 %"]
    assert [path.right(0, k) for k in range(3)] == [False, True, False]
    (example,) = field_tuning.field_examples([path])
    assert example.features.shape == (7, 8)
    assert example.right.tolist() == [True] + 6 * [False]


def test_weights_are_fitted_to_paths_of_different_length():
    rng = np.random.default_rng(0)
    made = [rng.normal(size=(4 + 2 * (i % 2), 2)) for i in range(200)]
    data = [Example(x, np.arange(len(x)) == np.argmax(x[:, 0])) for x in made]
    weights, _ = fit_weights(data)
    assert weights[0] > 2 > abs(weights[1])


def test_the_page_says_whether_the_confidence_holds_for_fields():
    rows = [row(part="fields", system="burgers", seed=i, exact=i > 0, confidence=0.7) for i in range(4)]
    rows += [replace(r, method=CEILING, confidence=math.nan) for r in rows]
    page = selection_report(rows, "a machine")
    assert "right for fields?" in page
    assert "| 0.70 | 4 | 0.75 ± 0.22 |" in page


def test_fits_of_tuning_systems_tell_how_often_a_rule_is_right():
    noisy = SelectionCase("tuning", "lotka_volterra", 400, 0.1, 0)
    (one,) = compared_fits([noisy], say=lambda text: None)
    assert len(list(one.examples())) == len(one.comparison.rivals) > 0
    shares = shares_right([one], lambda rule, value: replace(rule, gamma=value), (0.5, 1e6))
    own = [one.right(one.comparison.evidence, i) for i in one.comparison.rivals]
    assert shares[0.5] == sum(own) / len(own), "15 terms: gamma is 1/2"
    assert shares[1e6] == 0.0, "no term is worth such a price"


def test_the_confidence_is_fitted_to_heavy_noise_as_well():
    (one,) = compared_fits([ContactCase("heavy", "lorenz", 8001, 1001, 0, 0.2)], say=lambda text: None)
    found = list(one.examples())
    assert len(found) == 3
    assert all(example.features[3] > 3 for example in found), "ln of the noise over 1 %"


def test_large_libraries_take_the_place_of_those_of_the_cases():
    noisy = SelectionCase("tuning", "lotka_volterra", 400, 0.1, 0)
    (one,) = compared_fits([noisy], library=lambda states: Polynomials(7 if states == 2 else 1), say=lambda text: None)
    assert one.comparison.evidence.terms == (36, 36)


def test_fits_of_drawn_fields_are_compared(monkeypatch):
    monkeypatch.setattr(field_tuning, "LINES", {"burgers_fisher": LINES["burgers_fisher"]})
    monkeypatch.setattr(field_tuning, "LINE_DRAWS", 1)
    monkeypatch.setattr(field_tuning, "LINE_NOISES", (0.02, 0.5))
    found = list(field_tuning.compared_fields(0, say=lambda text: None))
    assert len(found) == 1, "at 2 % rows decide alone"
    assert [example.right for example in found[0].examples()] == [True]

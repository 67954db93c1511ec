"""The first-contact benchmark: its cases, its data, what it stores when something fails, and its page."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from exactsindy.cli import app
from exactsindy.errors import DataError
from exactsindy_experiments import first_contact_run
from exactsindy_experiments.first_contact_cases import (
    DEFAULT_TOLERANCE,
    PARTS,
    PERIODS,
    RATES,
    SOLVERS,
    contact_seeds,
    part_cases,
)
from exactsindy_experiments.first_contact_data import load
from exactsindy_experiments.first_contact_report import contact_report, figures
from exactsindy_experiments.first_contact_rows import EQUAL, PIECES, UNEQUAL, ContactCase, ContactRow, contact_table
from exactsindy_experiments.first_contact_run import measure_contact, run_contact
from exactsindy_experiments.first_contact_shares import gap_closed, reliability
from exactsindy_experiments.grouped_shares import share, share_ratio
from exactsindy_experiments.random_systems import is_decaying

HEAVY = ContactCase("heavy", "lorenz", 8001, 1001, 0, 0.1)
CLEAN = ContactCase("clean", "van_der_pol", 0, 300, 25, 0.0, "RK45", 1e-6)
OUTSIDE = ContactCase("outside", "goodwin", 8, 0, 0, 0.02)
NEAR_AND_FAR = (("arrhenius", 2314, 0.02), ("pendulum", 10, 0.1))


def row(case=CLEAN, equation="x'", right=True, confidence=0.95, **more):
    values = {
        "inside": True,
        "size": 2,
        "spurious": 0,
        "missing": 0,
        "about": "",
        "warnings": "",
        "departure": None,
        "best_subset": None,
        "lead": None,
        "seconds": 0.5,
        "version": "1",
        "failure": "",
    }
    return ContactRow(case=case, equation=equation, right=right, confidence=confidence, **(values | more))


def test_seeds_belong_to_their_half():
    assert contact_seeds("tuning", 3) == (0, 2, 4)
    assert contact_seeds("reporting", 2, [10, 11, 12, 13, 15]) == (11, 13)
    assert contact_seeds("reporting", 2, [10, 12]) == ()


def test_settings_are_met_equally_often():
    parts = part_cases(contact_seeds("tuning", 200))
    clean = [case for case in parts["clean"] if case.tolerance != DEFAULT_TOLERANCE]
    cells = Counter((case.tolerance, case.per_period) for case in clean)
    assert set(cells) == {(tolerance, rate) for tolerance in SOLVERS for rate in PERIODS}
    assert max(cells.values()) - min(cells.values()) <= 1
    assert {case.sampling for case in clean} == {EQUAL, UNEQUAL, PIECES}
    assert not any(is_decaying(case.seed) for case in parts["coarse"] if case.system.startswith("random-"))
    for noise in {case.noise for case in parts["coarse"]}:
        assert {c.per_period for c in parts["coarse"] if c.noise == noise} == set(RATES)
    laws = {(case.system, case.noise) for case in parts["outside"]}
    assert len(laws) == 21 * 4, "every family meets every noise"
    assert len({(case.samples, case.noise) for case in parts["random"]}) == 18
    assert len(parts["heavy"]) == 150
    for cases in parts.values():
        assert len(set(cases)) == len(cases)


def test_reporting_and_tuning_systems_differ():
    both = [
        {(c.system, c.seed) for cs in part_cases(contact_seeds(h, 30)).values() for c in cs}
        for h in ("tuning", "reporting")
    ]
    assert not both[0] & both[1]


@pytest.mark.parametrize("sampling", [EQUAL, UNEQUAL, PIECES])
def test_clean_data_are_those_of_the_solver(sampling):
    data = load(replace(CLEAN, sampling=sampling)).data
    assert sum(len(member) for member in data) == CLEAN.samples
    assert len(data) == (5 if sampling == PIECES else 1)
    steps = np.diff(data[0].times)
    assert (steps > 0).all()
    assert np.allclose(steps, steps[0]) == (sampling != UNEQUAL)
    if sampling == EQUAL:
        tight, same = load(replace(CLEAN, tolerance=1e-12, solver="LSODA")).data, load(CLEAN).data
        assert same.fingerprint == data.fingerprint
        error = np.abs(tight[0].states - data[0].states).max() / data[0].states.max()
        assert 1e-9 < error < 1e-3


def test_coarse_data_last_as_long_at_every_rate():
    cases = [ContactCase("coarse", "lotka_volterra", 0, 15 * rate, rate, 0.01) for rate in RATES]
    spans = [load(case).data[0].times[-1] + np.diff(load(case).data[0].times)[0] for case in cases]
    np.testing.assert_allclose(spans, spans[0])


def test_heavy_noise_is_the_stated_draw():
    data = load(HEAVY).data[0]
    clean = load(replace(HEAVY, noise=0.0)).data[0].states
    assert data.states.shape == (1001, 3)
    np.testing.assert_allclose(clean[0], (-8, 8, 27))
    np.testing.assert_allclose(
        data.states - clean, np.random.default_rng(8001).normal(0, 0.1 * clean.std(), clean.shape), atol=1e-12
    )


def test_ceiling_and_best_subset_stand_beside_heavy_noise():
    rows = measure_contact(HEAVY)
    assert [r.equation for r in rows] == ["x'", "y'", "z'"]
    assert all(r.lead is not None and math.isfinite(r.lead) for r in rows), "the likelihood of the truth is known"
    assert rows[0].right
    assert rows[0].lead > 0
    assert rows[0].best_subset is True


def test_a_wrong_choice_is_preferred_less_than_the_truth():
    from exactsindy_experiments.likelihood_ceiling import truth_leads

    loaded = load(replace(HEAVY, noise=0.02))
    truth = [frozenset(terms) for terms in loaded.truth.values()]
    leads = truth_leads(loaded.data, loaded.library, truth, [frozenset({"x"}), *truth[1:]])
    assert min(leads) > 0
    swapped = truth_leads(loaded.data, loaded.library, [frozenset({"x"}), *truth[1:]], truth)
    assert swapped[0] < -100


def test_equations_outside_are_never_right_and_inside_ones_may_be():
    rows = {r.equation: r for r in measure_contact(OUTSIDE)}
    assert not rows["x'"].inside
    assert not rows["x'"].right
    assert rows["x'"].departure > 0.003
    assert rows["x'"].spurious is None
    assert rows["y'"].inside
    assert rows["y'"].right


def test_what_raises_is_a_row_for_every_equation(monkeypatch):
    def broken(*arguments, **options):
        raise ValueError("two\nlines")

    monkeypatch.setattr(first_contact_run, "discover", broken)
    rows = measure_contact(CLEAN)
    assert [r.equation for r in rows] == ["x'", "y'"]
    assert {(r.right, r.confidence, r.failure) for r in rows} == {(False, None, "ValueError: two\nlines")}

    def unsolved(case):
        raise DataError("gone")

    monkeypatch.setattr(first_contact_run, "load", unsolved)
    assert measure_contact(CLEAN)[0].failure == "no data: DataError: gone"


def test_runs_go_on_where_they_were(tmp_path):
    said = []
    bad = replace(CLEAN, solver="none")
    run_contact([CLEAN, bad], tmp_path, "now", say=said.append)
    rows = list(contact_table(tmp_path, "now"))
    assert {(r.case, r.equation) for r in rows} == {(CLEAN, "x'"), (CLEAN, "y'"), (bad, "")}
    assert said[0] == "0 data sets present, 2 to measure."
    assert said[-1].startswith("[2/2]")
    run_contact([CLEAN, bad], tmp_path, "now", say=said.append)
    assert said[-1] == "2 data sets present, 0 to measure."
    assert len(contact_table(tmp_path, "now")) == 3


def test_withheld_confidence_is_stored_as_empty_and_is_not_sure(tmp_path):
    contact_table(tmp_path, "now").append(row(confidence=None))
    (stored,) = contact_table(tmp_path, "now")
    assert stored == row(confidence=None)
    assert not stored.sure
    assert reliability([stored]) == []


def test_intervals_draw_whole_systems():
    # 20 systems of 5 equations, either all right or all wrong: as wide as for 20 equations, not for 100.
    rows = [(i, i % 2 == 0) for i in range(20) for _ in range(5)]
    found = share(rows, lambda r: r[1], lambda r: r[0])
    assert (found.value, found.rows, found.systems) == (0.5, 100, 20)
    assert 0.35 < found.high - found.low < 0.55
    ratio = share_ratio(
        [(i, kind, kind == "fine" or i % 2 == 0) for i in range(20) for kind in ("fine", "coarse")],
        lambda r: r[2],
        lambda r: r[0],
        lambda r: r[1] == "coarse",
        lambda r: r[1] == "fine",
    )
    assert ratio.value == 0.5
    assert str(share([], bool, hash)) == "-"


def test_closed_gap_is_of_the_data_that_both_versions_measured():
    cases = [ContactCase("random", f"random-{seed}", seed, 400, 100, 0.05) for seed in range(10)]
    before = [row(case, right=i < 4, lead=1.0 if i < 8 else -1.0) for i, case in enumerate(cases)]
    now = [row(case, right=i < 6, lead=1.0) for i, case in enumerate(cases)]
    assert gap_closed(before, now) == pytest.approx(0.5)
    assert gap_closed(before[:8], now) == pytest.approx(0.5)
    assert math.isnan(gap_closed(before, before))
    assert math.isnan(gap_closed(before[:4], now)), "no gap"


def test_page_shows_figures_goals_and_every_part():
    rows = []
    for seed in range(4):
        rows += [row(replace(CLEAN, seed=seed)), row(replace(CLEAN, seed=seed), "y'", right=seed > 0, confidence=None)]
        rows += [
            row(ContactCase("coarse", "hopf", seed, 15 * r, r, 0.0), right=r > 10 or seed > 1, confidence=0.5)
            for r in RATES
        ]
        rows += [row(replace(HEAVY, seed=seed), right=seed > 0, lead=1.0 if seed else -1.0)]
        rows += [row(replace(OUTSIDE, seed=seed), right=False, inside=False, confidence=0.95, departure=0.1)]
        rows += [row(ContactCase("random", "random-2", seed, 400, 100, 0.05), best_subset=True, lead=2.0)]
    page = contact_report({"before": rows, "now": rows}, "a machine")
    for title in ("Clean data", "Coarse data", "Heavy noise", "Laws outside", "Random systems", "printed confidence"):
        assert title in page
    lines = figures({"before": rows}).splitlines()
    assert lines[0] == "| case | before | goal |"
    assert lines[2].startswith("| clean, tolerance 1e-12 to 1e-6: right | 0.875")
    assert lines[3].startswith("| ... right with 90 % or more | 0.500")
    assert lines[4].startswith("| coarse, 10 samples per period: share right over that at 100 | 0.500")
    assert any(line.startswith("| Lorenz, noise 10 %: all equations right (ceiling) | 0.750") for line in lines)
    assert any(line.startswith("| equations outside the library with 90 % or more | 1.000") for line in lines)
    assert "Failures: 0." in page
    assert "Data sets in common: 32 of 32." in page


def test_command_refuses_unknown_names_and_writes_the_page(tmp_path):
    def call(*words, code=0):
        done = CliRunner().invoke(app, ["bench", "first-contact", *map(str, words)])
        assert done.exit_code == code, done.output
        return done

    assert f"--part 'dirty': expected one of {', '.join(PARTS)}, all." in call("--part", "dirty", code=1).stderr
    assert "--half 'both': expected one of tuning, reporting." in call("--half", "both", code=1).stderr
    assert "--seeds 'x': expected numbers and ranges" in call("--seeds", "x", code=1).stderr
    assert "none of them is of the reporting half" in call("--seeds", "4", "--half", "reporting", code=1).stderr
    done = call("--part", "heavy", "--systems", 1, "--out", tmp_path)
    assert "| Lorenz, noise 20 %: all equations right (ceiling) |" in done.stdout
    page = (tmp_path / "first_contact.md").read_text()
    assert "3 data sets of the tuning half" in page
    call("--report-only", "--out", tmp_path)
    assert (tmp_path / "first_contact.md").read_text() == page


def test_a_right_equation_of_second_order_is_not_an_outside_law_taken_for_certain(monkeypatch):
    position = ContactCase("outside", "position_only", 40, 0, 0, 0.002)
    (found,) = measure_contact(position)
    assert found.equation == "x'"
    assert not found.failure
    assert "order" in found.warnings.split(";")
    assert found.confidence is None
    monkeypatch.setattr(first_contact_run, "_SECOND_ORDER", {})
    (counted,) = measure_contact(position)
    assert counted.confidence > 0.5
    assert counted.lead is None, "no model of x' whose trajectory could be fitted"


def test_the_data_may_prefer_a_wrong_model_to_the_law_itself():
    from exactsindy_experiments.likelihood_ceiling import law_lead

    near, far = (load(replace(OUTSIDE, system=s, seed=n, noise=e)) for s, n, e in NEAR_AND_FAR)
    assert law_lead(near.data, near.library, near.clean, [{"c", "c T"}, {"c", "T", "c T"}]) < 0
    assert law_lead(far.data, far.library, far.clean, [{"v"}, {"x"}]) > 100

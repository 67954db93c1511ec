"""Other people's benchmarks: published tables, regenerated data, weak rows, statistics, small cells, the page."""

import dataclasses
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from exactsindy.cli import app
from exactsindy.library import Variables
from exactsindy_experiments.outside import (
    ceiling,
    command,
    field_methods,
    lorenz_methods,
    lorenz_page,
    lorenz_run,
    pysindy_methods,
)
from exactsindy_experiments.outside.field_data import SYSTEMS, FieldCase, clean, noisy
from exactsindy_experiments.outside.field_run import field_table, run_fields
from exactsindy_experiments.outside.lorenz_data import DURATIONS, NOISES, TRUTH, LorenzCase, cases, cells, samples
from exactsindy_experiments.outside.lorenz_data import clean as clean_lorenz
from exactsindy_experiments.outside.published import COLUMNS, best_lorenz, lorenz_counts
from exactsindy_experiments.outside.regression import regression
from exactsindy_experiments.outside.shares import fisher_below, mcnemar, wilson
from exactsindy_experiments.outside.weak_rows import Windows, losses, thresholded, weak_rows

ROOT = Path(__file__).parents[2]
RIGHT = {target: dict(law) for target, law in TRUTH.items()}


def test_the_published_table_has_every_cell_and_grows_with_the_data():
    counts = lorenz_counts()
    assert len(counts) == 6
    for own in counts.values():
        assert set(own) == {(noise, duration) for noise in NOISES for duration in DURATIONS}
        assert all(0 <= count <= 1000 for count in own.values())
    assert [counts["SINDy"][5.0, t] for t in (2, 3, 5, 10)] == [3, 178, 175, 400]  # .00 .18 .17 .40 as printed
    assert best_lorenz((5.0, 10)) == ("bagging", 0.805)


def test_the_noise_is_that_of_the_published_experiment():
    assert np.sqrt(np.mean(clean_lorenz() ** 2)) == pytest.approx(15.98, abs=0.01)
    times, states = samples(LorenzCase(5.0, 3, 0))
    assert times[0] == pytest.approx(0.01)
    assert states.shape == (300, 3)
    error = states - clean_lorenz()[:300]
    assert np.sqrt(np.mean(error**2)) == pytest.approx(0.05 * 15.98, rel=0.1)
    assert not np.array_equal(states, samples(LorenzCase(5.0, 3, 1))[1])


def test_the_cells_at_stake_come_first_and_every_draw_has_all_of_them():
    assert cells(1)[: len(cells(0))] == cells(0)
    assert len(cells(1)) == 30
    assert len(cells(2)) == 110
    drawn = list(cases(2, 0))
    assert [case.cell for case in drawn[: len(cells(0))]] == [case.cell for case in drawn[len(cells(0)) :]]


def test_an_answer_is_judged_by_its_terms_and_by_its_coefficients():
    assert lorenz_methods.judged(RIGHT)["right"]
    assert lorenz_methods.judged(RIGHT)["error"] == 0.0
    told = lorenz_methods.judged({**RIGHT, "y'": {"x": 28.0, "x z": -1.0, "y z": 0.1}})
    assert (told["right"], told["wrong_terms"]) == (False, 2)
    row = dataclasses.replace(_row(LorenzCase(1.0, 5, 0)), found=told["found"])
    assert ceiling.chosen_terms(row) == [["x", "y"], ["x", "x z", "y z"], ["z", "x y"]]


@pytest.mark.campaign
def test_discover_finds_lorenz_at_little_noise():
    told = lorenz_methods.answer({"noise": 0.5, "duration": 3, "draw": 0, "method": lorenz_methods.OURS})
    assert told["right"], told
    assert told["cpu"] > 0


@pytest.mark.parametrize("method", ["STLSQ, published settings", "bragging, published settings", "SR3, tuned"])
def test_a_peer_answers(method, monkeypatch):
    pytest.importorskip("pysindy")
    monkeypatch.setattr(pysindy_methods, "MEMBERS", 10)
    told = lorenz_methods.answer({"noise": 0.0, "duration": 3, "draw": 0, "method": method})
    assert told["failure"] == ""
    assert method not in ("STLSQ, published settings", "bragging, published settings") or told["right"]


def test_the_regressions_have_the_published_library():
    subject, names = regression(LorenzCase(1.0, 2, 0), "z'")
    assert len(names) == len(subject.z) == 55
    assert subject.size == 2
    assert "1" not in names


@pytest.mark.parametrize("system", COLUMNS)
def test_published_libraries_have_the_published_number_of_columns_and_hold_the_law(system):
    published = SYSTEMS[system]
    fields, axes = len(published.law), 2 if system == "rd" else 1
    assert len(published.windows.columns(fields, axes)) == COLUMNS[system]
    variables = Variables(tuple(t.removesuffix("_t") for t in published.law), axes=("x", "y")[:axes])
    names = {term.name for term in published.library.terms(variables)}
    assert all(set(law) <= names for law in published.law.values())


@pytest.mark.parametrize(
    ("system", "rows", "largest"), [("burgers", 784, 1000.0), ("ks", 1806, 3.34), ("kdv", 1443, 1875.0)]
)
def test_fields_are_those_of_the_published_grids(system, rows, largest):
    assert np.asarray(clean(system)["u"]).max() == pytest.approx(largest, rel=1e-3)
    theta, targets, names = weak_rows(clean(system), SYSTEMS[system].windows)
    assert theta.shape == (rows, 43)  # as in the published table of the matrices
    law = SYSTEMS[system].published_law["u_t"]
    exact = theta @ [law.get(name, 0.0) for name in names]
    assert np.linalg.norm(targets[:, 0] - exact) < 1e-3 * np.linalg.norm(targets)


def test_thresholding_and_the_proved_path_find_a_noisy_field():
    for method in (field_methods.EXACT, field_methods.THRESHOLDED):
        told = field_methods.answer({"system": "ks", "noise": 20.0, "draw": 0, "method": method})
        assert told["tpr"] == 1.0
        assert told["error"] < 0.1


def test_the_loss_is_least_for_the_true_terms():
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(200, 6)) * 10.0 ** np.arange(6)
    target = theta @ [2.0, 0, 0, 1e-3, 0, 0] + 0.01 * rng.normal(size=200)
    truth, wide = np.array([2.0, 0, 0, 1e-3, 0, 0]), np.linalg.lstsq(theta, target, rcond=None)[0]
    assert np.argmin(losses(theta, target, [0 * truth, truth, wide])) == 1
    assert set(np.flatnonzero(thresholded(theta, target))) == {0, 3}


def test_plane_rows_integrate_two_fields():
    windows = Windows((2, 2), (1, 1), (4, 4), 2, 1)
    assert len(windows.columns(2, 2)) == 1 + 5 * 3


def test_noise_of_a_field_is_a_share_of_its_root_mean_square():
    exact, measured = (np.asarray(f["u"]) for f in (clean("burgers"), noisy(FieldCase("burgers", 50.0, 3))))
    assert np.std(measured - exact) == pytest.approx(0.5 * np.sqrt(np.mean(exact**2)), rel=0.02)


def test_statistics():
    assert wilson(0, 0) == (0.0, 1.0)
    lows = [wilson(k, 10)[0] for k in range(11)]
    assert all(a < b for a, b in pairwise(lows))
    assert mcnemar([]) == (0, 0, 1.0)
    assert mcnemar([(True, False), (False, True)])[2] == 1.0
    assert fisher_below(0, 5, 1.0, 1000) < 1e-6
    assert fisher_below(5, 5, 1.0, 1000) == 1.0


def _row(case, method=lorenz_methods.OURS, right=True):
    return lorenz_run.LorenzRow(case, method, right, 0, 0.0, 0.95, "x' = -10 x", "", 1.0, 100.0, "0", "2026-11-18")


def test_a_cell_that_is_missed_and_a_better_peer_are_named(tmp_path):
    cell = [LorenzCase(5.0, 3, draw) for draw in range(60)]
    peer = next(iter(pysindy_methods.METHODS))
    rows = [_row(case, right=False) for case in cell] + [_row(case, peer) for case in cell]
    text = lorenz_page.section(rows, [], [ceiling.CeilingRow(cell[0], -1.0), ceiling.CeilingRow(cell[1], 2.0)])
    assert "not in 5 % and 3 s" in text
    assert "bragging 0.35" in text  # significantly below the best published method
    assert f"{peer} at 5 % and 3 s (0 against 60)" in text
    assert "in 1 of the 2 where it was compared" in text
    assert "40 more are in" in text


def test_fields_are_measured_once_and_the_page_is_written(tmp_path):
    case = FieldCase("burgers", 20.0, 0)
    for _ in range(2):
        run_fields([case], [field_methods.THRESHOLDED], tmp_path, 1, lambda text: None)
    assert len(field_table(tmp_path)) == 1
    lorenz_run.lorenz_table(tmp_path).append(_row(LorenzCase(5.0, 3, 0)))
    result = CliRunner().invoke(app, ["bench", "outside", "--report-only", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    text = (tmp_path / "outside.md").read_text()
    assert "| inviscid Burgers | 20 % |" in text
    assert "**1 of 1**, 0.21 to 1.00 (0.35)" in text
    assert (tmp_path / "outside_lorenz.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [("part", "lorentz", "lorenz, ceiling"), ("cells", "some", "telling, grid, all"), ("systems", "heat", "burgers")],
)
def test_a_mistyped_option_is_named_with_what_was_expected(option, value, told):
    wanted = command.Wanted(parts=("fields",), cells="grid", draws=1)
    changed = dataclasses.replace(
        wanted, **{"parts": (value,)} if option == "part" else {option: value if option == "cells" else (value,)}
    )
    (text,) = command.faults(changed)
    assert text.startswith(f"--{option} {value!r}: expected one of ")
    assert told in text


def test_figures_of_the_readme_are_those_of_the_page():
    readme, page = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/benchmarks/outside.md"))
    part = readme.partition("Other people's benchmarks")[2].partition("The paper's runtime problems")[0]
    shares = re.findall(r"\d+ of \d+", part)
    assert len(shares) > 8
    assert not [share for share in shares if share not in page]

"""Other people's benchmarks: published tables, regenerated data, weak rows, statistics, small cells, the page."""

import dataclasses
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from exactsindy.cli import app
from exactsindy.data import Field
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
from exactsindy_experiments.outside.lorenz_data import (
    CELLS,
    DURATIONS,
    NOISES,
    TRUTH,
    LorenzCase,
    cases,
    cells,
    samples,
)
from exactsindy_experiments.outside.lorenz_data import clean as clean_lorenz
from exactsindy_experiments.outside.page import rational_lines
from exactsindy_experiments.outside.published import COLUMNS, best_lorenz, lorenz_counts
from exactsindy_experiments.outside.regression import regression
from exactsindy_experiments.outside.shares import fisher_below, mcnemar, wilson
from exactsindy_experiments.outside.weak_rows import Windows, losses, thresholded, weak_rows
from exactsindy_experiments.outside.whitened_rows import row_covariance, sample_noise, whitened

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
    assert cells("grid")[:8] == cells("telling")
    assert [len(cells(name)) for name in CELLS] == [8, 19, 30, 110]
    assert set(cells("goals")) <= set(cells("grid"))
    drawn = list(cases(2, "telling"))
    assert [case.cell for case in drawn[:8]] == [case.cell for case in drawn[8:]]


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
    for method in (field_methods.EXACT, field_methods.WHITENED, field_methods.THRESHOLDED):
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


def test_the_covariance_of_rows_is_that_of_many_draws():
    """Rows of u_t = -(u^2)_x / 2 with small noise; their errors under the law, drawn 3000 times."""
    x, t = np.linspace(0.0, 1.0, 16), np.linspace(0.0, 1.0, 18)
    exact = 2 + np.sin(3 * x)[:, None] * np.cos(2 * t)
    windows, size, rng = Windows((4, 4), (3, 5), (3, 3), 2, 1), 1e-4, np.random.default_rng(0)

    def error(values):
        field = Field.from_arrays({"u": values}, dims=("x", "t"), coords={"x": x, "t": t})
        theta, targets, _ = weak_rows(field, windows)
        return (targets - theta @ law[:, None])[:, 0]

    columns = windows.columns(1, 1)
    law = np.array([-0.5 if column == ((2,), (1,)) else 0.0 for column in columns])
    clean_field = Field.from_arrays({"u": exact}, dims=("x", "t"), coords={"x": x, "t": t})
    expected = row_covariance(clean_field, windows, columns, law)
    drawn = np.array([error(exact + size * rng.standard_normal(exact.shape)) for _ in range(3000)]) / size
    np.testing.assert_allclose(np.cov(drawn.T), expected, atol=0.1 * expected.max())
    theta, target = whitened(np.eye(len(expected)), np.zeros(len(expected)), expected)
    np.testing.assert_allclose(theta @ expected @ theta.T, np.eye(len(target)), atol=1e-8)


def test_powers_are_freed_from_the_bias_of_noise():
    """The mean of u^3 over noise is u^3 + 3 noise^2 u; that of the rows with the noise given is u^3."""
    x, t = np.linspace(0.0, 1.0, 300), np.linspace(0.0, 1.0, 280)
    exact = 2 + np.sin(3 * x)[:, None] * np.cos(2 * t)
    values = exact + np.random.default_rng(0).standard_normal(exact.shape)
    fields = [Field.from_arrays({"u": u}, dims=("x", "t"), coords={"x": x, "t": t}) for u in (exact, values)]
    windows = Windows((140, 130), (3, 5), (3, 3), 3, 1)
    (sigma,) = sample_noise(fields[1])
    assert sigma == pytest.approx(1.0, rel=0.03)
    assert sample_noise(fields[0])[0] < 1e-6
    true, told, raw = (weak_rows(fields[i], windows, noise)[0] for i, noise in ((0, ()), (1, (sigma,)), (1, ())))
    cube = windows.columns(1, 1).index(((3,), (0,)))
    np.testing.assert_allclose(told[:, cube], true[:, cube], rtol=0.05)
    assert (raw[:, cube] > 1.3 * true[:, cube]).all()


@pytest.mark.parametrize("system", ["burgers", "burgers in other units"])
def test_overlapping_windows_count_for_what_they_tell(system):
    """A draw of the shock that plain rows miss; the answer does not depend on units."""
    case = {"system": system, "noise": 100.0, "draw": 1000}
    assert not field_methods.answer({**case, "method": field_methods.EXACT})["right"]
    told = field_methods.answer({**case, "method": field_methods.WHITENED})
    assert told["right"], told["found"]
    assert not field_methods.suits("nls", field_methods.WHITENED)
    assert field_methods.suits("nls", field_methods.EXACT)


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
    [
        ("part", "lorentz", "lorenz, ceiling"),
        ("cells", "some", "telling, goals, grid, all"),
        ("systems", "heat", "burgers"),
    ],
)
def test_a_mistyped_option_is_named_with_what_was_expected(option, value, told):
    wanted = command.Wanted(parts=("fields",), cells="grid", draws=1)
    changed = dataclasses.replace(
        wanted, **{"parts": (value,)} if option == "part" else {option: value if option == "cells" else (value,)}
    )
    (text,) = command.faults(changed)
    assert text.startswith(f"--{option} {value!r}: expected one of ")
    assert told in text


def test_rational_laws_are_counted_from_trajectories_at_the_noise_that_is_named(tmp_path):
    rows = ["part,law,noise,seed,right", "trajectories,toggle,0.01,601,True", "trajectories,toggle,0.02,602,False"]
    rows += ["curves,Michaelis-Menten,0.2,True", "glycolysis,yeast,0.005,True", "labels,toggle,0.05,True"]
    (tmp_path / "rational.csv").write_text("\n".join(rows))
    ((_, _, told, *_),) = rational_lines(tmp_path)
    assert told.startswith("1 of 2 data sets of 1 laws right")


def test_figures_of_the_readme_are_those_of_the_page():
    readme, page = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/benchmarks/outside.md"))
    part = readme.partition("Other people's benchmarks")[2].partition("SRBench's Strogatz problems")[0]
    shares = re.findall(r"\d+ of \d+", part)
    assert len(shares) > 8
    assert not [share for share in shares if share not in page]

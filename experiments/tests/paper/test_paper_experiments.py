"""Every experiment from configuration to report at tiny size."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from exactsindy_experiments.paper import Case, Outcome, Result, field_simulation, field_trials, report, run
from exactsindy_experiments.paper.evaluate import evaluate
from exactsindy_experiments.paper.field_simulation import kuramoto_sivashinsky
from exactsindy_experiments.paper.findings import speeds, verdict
from exactsindy_experiments.paper.goals import GOALS
from exactsindy_experiments.paper.summary import cells, find_published
from exactsindy_experiments.results import Table, read_rows

SIZES = {
    "differential": ("hopf", [5.84], ["exact", "ssr"]),
    "differential-small": ("lorenz", [1.93], ["exact"]),
    "weak": ("lotka_volterra", [0.01], ["exact", "ssr"]),
    "pde": ("kuramoto_sivashinsky", [0.5], ["exact", "ssr"]),
    "runtime": ("hopf", [0.5], ["exact", "exact-warm", "exact-short", "stlsq", "ssr", "e-stlsq"]),
}


@pytest.mark.parametrize("experiment", SIZES)
def test_experiment(experiment, tmp_path):
    system, values, algorithms = SIZES[experiment]
    options = {"systems": [system], "values": values, "trials": 1, "algorithms": algorithms, "workers": 0}
    added = run(experiment, **options, store=tmp_path / "r.csv")
    rows = list(Table(tmp_path / "r.csv", Result))
    assert len(rows) == added
    ours = [outcome for case, outcome in rows if case.algorithm == "exact"]
    assert all(not outcome.error for _, outcome in rows)
    assert all(outcome.seconds > 0 for _, outcome in rows)
    assert all(outcome.proved and 0 <= outcome.gap <= 1e-9 for outcome in ours)
    if experiment != "runtime":
        assert {case.protocol for case, _ in rows} == {"published", "ours"}
        assert all(outcome.exact and outcome.exact_at_true_k for outcome in ours)
    path = report(tmp_path / "r.csv", tmp_path / "report")
    text = path.read_text()
    assert system in text
    assert system.replace("_", " ") in (tmp_path / "report" / "tables.md").read_text()
    assert (tmp_path / "report" / f"{experiment}.png").stat().st_size > 10_000
    assert len(read_rows(tmp_path / "report" / "results.csv.xz", Result)) == added


def test_reaction_diffusion(monkeypatch):
    monkeypatch.setitem(field_simulation.POINTS, "reaction_diffusion", 32)
    monkeypatch.setattr(field_simulation, "RD_TIMES", np.linspace(0, 2, 60))
    monkeypatch.setitem(field_trials._WEAK, "reaction_diffusion", (150, 10))
    monkeypatch.setitem(field_trials._SECONDS, "reaction_diffusion", 0.5)
    field_trials._clean.cache_clear()
    found = evaluate(Case("pde", "reaction_diffusion", "published", "exact", 0, 0.0, 0.025, 1))
    field_trials._clean.cache_clear()
    assert found.terms == 109
    assert found.tp + found.fn == 14
    assert found.tp + found.fp <= 14
    assert found.gap >= 0
    assert set(json.loads(found.model)) == {"u_t", "v_t"}


def test_reaction_diffusion_conserves_its_spiral(monkeypatch):
    monkeypatch.setitem(field_simulation.POINTS, "reaction_diffusion", 32)
    monkeypatch.setattr(field_simulation, "RD_TIMES", np.linspace(0, 2, 9))
    uv = field_simulation.reaction_diffusion(np.random.RandomState(1))
    assert uv.shape == (32, 32, 9, 2)
    # Away from the core it is a wave of length 2 pi, whose radius r has r^2 = 1 - d, turning at the speed r^2.
    u, v = uv[4, 16, :, 0], uv[4, 16, :, 1]
    assert np.hypot(u, v)[-1] == pytest.approx(math.sqrt(0.9), abs=0.01)
    turn = np.unwrap(np.arctan2(v, u))
    assert turn[-1] - turn[-5] == pytest.approx(-0.9, abs=0.05)


def test_kuramoto_sivashinsky_conserves_its_mean():
    u = kuramoto_sivashinsky(np.random.RandomState(1))
    assert u.shape == (1024, 251)
    np.testing.assert_allclose(u.mean(axis=0), u[:, 0].mean(), atol=1e-10)


@pytest.mark.parametrize("protocol", ["published", "ours"])
def test_duffing(protocol):
    found = evaluate(Case("constraint", "duffing", protocol, "exact", 3, 20.0, 0.01, 2))
    assert found.exact
    assert found.violation > 1e-8
    assert found.rhs_rmse < 0.1
    bound = evaluate(Case("constraint", "duffing", protocol, "exact-constrained", 3, 20.0, 0.01, 2))
    assert bound.exact
    assert bound.proved
    assert bound.violation < 1e-12


def made_up(exact, trials, protocol="ours", tpr=0.5):
    rows = []
    for trial in range(1, trials + 1):
        case = Case("weak", "roessler", protocol, "exact", 3, 50.0, 10 ** np.linspace(-2, -0.3, 12)[4], trial)
        good = trial <= exact * trials
        rows.append(Result(case, Outcome(tpr=1.0 if good else tpr, exact=good, coef_l2=0.01, exact_at_true_k=True)))
    return rows


def test_cells_are_means_over_what_did_not_fail():
    rows = made_up(0.5, 10)
    rows.append(Result(Case(*rows[0].case.curve, 99), Outcome(error="ValueError: no")))
    (cell,) = cells(rows)
    assert (cell.trials, cell.failed) == (10, 1)
    assert cell.exact == 0.5
    assert cell.tpr == pytest.approx(0.75)
    assert cell.tpr_se == pytest.approx(np.std([1] * 5 + [0.5] * 5, ddof=1) / math.sqrt(10))
    assert cell.log10_coef == pytest.approx(-2)
    assert math.isnan(cell.log10_rmse)


def test_verdicts_and_goals():
    (good,), (bad,) = cells(made_up(1.0, 50)), cells(made_up(0.5, 50))
    old = find_published(good.case)
    assert old.exact == 0.04
    assert verdict(good, old) == "better"
    assert verdict(cells(made_up(0.0, 50))[0], old) == "equal"
    easy = find_published(replace(good.case, noise=0.01))
    assert verdict(bad, easy) == "**worse**"
    assert verdict(bad, None) == "-"
    (goal,) = [t for t in GOALS if t.system == "roessler" and t.value == 0.042]
    assert goal.cell([good]) is good
    assert goal.reached(good) == (1.0, True)
    assert goal.reached(bad) == (0.5, False)
    assert goal.cell(cells(made_up(1.0, 5, "published"))) is None


def test_goals_agree_with_the_published_numbers():
    for goal in GOALS:
        degree = {"lorenz": 5, "hopf": 5}.get(goal.system, 0 if goal.experiment == "pde" else 3)
        old = find_published(Case(goal.experiment, goal.system, "published", goal.algorithm, degree, *goal.place, 1))
        measure = "exact" if goal.measure == "ceiling" else goal.measure
        assert getattr(old, measure) == pytest.approx(goal.published, abs=0.006), goal


def test_report_lists_where_the_published_solver_is_ahead(tmp_path):
    easy = [Result(replace(case, noise=0.01), outcome) for case, outcome in made_up(0.5, 4, "published")]
    Table(tmp_path / "r.csv", Result).append(*easy)
    short = report(tmp_path / "r.csv", tmp_path).read_text()
    text = (tmp_path / "tables.md").read_text()
    assert "1 of 1 cells, compared by their means" in short
    assert "standard errors)" not in short
    assert "1 of 1 cells, compared by their means" in text
    assert "4 trials: TPR 0.750 against 1.000 (1.7 standard errors)" in text


def test_speeds_are_geometric_means_over_shared_cells():
    def row(algorithm, duration, seconds):
        case = Case("runtime", "hopf", "published", algorithm, 3, duration, 0.002, 1)
        return Result(case, Outcome(seconds=seconds))

    rows = [row("exact", 0.5, 0.01), row("exact", 1.0, 0.01), row("ssr", 0.5, 0.02), row("ssr", 1.0, 0.08)]
    rows.append(row("ssr", 2.0, 9.0))
    text = speeds(cells(rows))
    assert "- SSR: 4 times as long (geometric mean of 2 cells, 2 to 8)" in text
    assert "STLSQ" not in text


def test_report_names_failures(tmp_path):
    rows = made_up(0.5, 4)
    failed = Result(Case(*rows[0].case.curve, 99), Outcome(error="ValueError: no such luck"))
    Table(tmp_path / "r.csv", Result).append(*rows, failed)
    short = report(tmp_path / "r.csv", tmp_path).read_text()
    assert "5 rows, 1 of cases that failed." in short
    assert "| roessler | exact (this package) | ours | 1 | 0.75 [0.83] | 0.50 [0.04] | 0 | 1 | 0 |" in short
    text = (tmp_path / "tables.md").read_text()
    assert "ValueError: no such luck" in text
    assert "4 (+1 failed)" in text
    assert "| weak | roessler | ours | exact (this package) | 1 | 4 |" in text
    page = (tmp_path / "report.html").read_text()
    assert "<li>weak, roessler, ours, exact" in page
    assert "<strong>missed</strong>" in page
    assert "data:image/png;base64," in page
    assert "|" not in page
    assert "**missed**" in text
    assert "**missed**" in short
    assert "2 of 4 trials are not exact. In 2 of them the best subset of the true sizes is the truth" in text

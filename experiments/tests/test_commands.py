"""`exactsindy bench` and `exactsindy reproduce` do what they say."""

from __future__ import annotations

import inspect

import pytest
import typer
from typer.testing import CliRunner

from exactsindy.cli import app
from exactsindy_experiments import paper, solver_presets
from exactsindy_experiments.paper import Result
from exactsindy_experiments.results import Table, write_rows


def call(*words, code=0):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done


def test_bench_measures_a_preset(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    quick = solver_presets.PRESETS["quick"]()
    cases = tuple(case for case in quick.cases[:7] if case.solver in ("exactsindy", "enumeration"))
    small = solver_presets.Preset("small", cases, quick.paths[:1], quick.limits)
    monkeypatch.setattr(solver_presets, "PRESETS", {"small": lambda: small})
    done = call("bench", "solver", "--preset", "small", "--out", tmp_path / "bench")
    assert done.stdout.strip() == str(tmp_path / "bench" / "solver.md")
    assert {"solver.csv", "path.csv", "solver.md", "solver.png"} <= {
        file.name for file in (tmp_path / "bench").iterdir()
    }


def test_bench_lists_its_benchmarks_and_refuses_unknown_names():
    listed = call("bench", "--help").stdout
    for name in (
        "solver",
        "constraints",
        "selection",
        "first-contact",
        "miosr",
        "pipeline",
        "reaction-diffusion",
        "profile",
    ):
        assert name in listed
    assert (
        "--preset 'slow': expected one of full, quick, standard."
        in call("bench", "solver", "--preset", "slow", code=1).stderr
    )
    assert "there is no case 'steam'" in call("bench", "pipeline", "steam", code=1).stderr
    assert (
        "--part 'half': expected one of random, named, fields, conditions, all."
        in call("bench", "selection", "--part", "half", code=1).stderr
    )
    assert "--tune 'luck': expected rows, trajectories" in call("bench", "selection", "--tune", "luck", code=1).stderr


def test_bench_pipeline_measures_both_sides(tmp_path):
    pytest.importorskip("pysindy")
    done = call("bench", "pipeline", "strong", "--size", 200, "--out", tmp_path)
    page = (tmp_path / "pipeline.md").read_text()
    assert done.stdout.strip() == str(tmp_path / "pipeline.md")
    assert page.count("| strong form") == 2
    assert "x | >= 5x |" in page, "ours is compared with theirs"
    assert "failed" not in page


def test_bench_selection_writes_its_page_from_stored_rows(tmp_path):
    call("bench", "selection", "--part", "named", "--only", "hopf", "--seeds", 1, "--out", tmp_path)
    page = (tmp_path / "selection.md").read_text()
    assert "| hopf | 0.2 % | 8000 | 1 of 1 |" in page
    call("bench", "selection", "--report-only", "--out", tmp_path)
    assert (tmp_path / "selection.md").read_text() == page


def test_reproduce_lists_and_runs_the_experiments(monkeypatch, tmp_path):
    listed = call("reproduce", "list").stdout
    assert "differential: " in listed
    calls, known = [], inspect.signature(paper.run).parameters
    monkeypatch.setattr(paper, "run", lambda name, **options: calls.append((name, options)) or len(calls))
    said = call("reproduce", "weak", "--systems", "lorenz,hopf", "--trials", 2, "--store", tmp_path / "r.csv").stdout
    assert said.startswith(f"1 rows added to {tmp_path / 'r.csv'}. Tables and figures: exactsindy reproduce report")
    ((name, options),) = calls
    assert name == "weak"
    assert options["systems"] == ["lorenz", "hopf"]
    assert options["trials"] == 2
    assert set(options) <= set(known)
    assert "there is no experiment 'luck'" in call("reproduce", "luck", code=1).stderr
    call("reproduce", "pde", "--trials", "11-13", "--store", tmp_path / "r.csv")
    assert calls[-1][1]["trials"] == [11, 12, 13]
    for wrong in ("0", "13-11", "some", "-3"):
        said = call("reproduce", "pde", f"--trials={wrong}", code=1).stderr
        assert f"--trials {wrong!r}: expected a number such as 50 or a range such as 11-20." in said


def test_reproduce_takes_rows_and_says_what_failed(monkeypatch, tmp_path):
    case, store = paper.Case("weak", "roessler", "published", "exact", 3, 50.0, 0.01, 1), tmp_path / "r.csv"
    write_rows(tmp_path / "results.csv", [Result(case, paper.Outcome(tpr=1.0, exact=True))], Result)
    outcomes = [paper.Outcome(error="ValueError: no"), paper.Outcome(tpr=0.5, exact=False)]

    def run(name, *, progress, **options):
        for i, found in enumerate(outcomes):
            progress(paper.Progress(i + 1, 2, 0.0, case, found))
        return len(outcomes)

    monkeypatch.setattr(paper, "run", run)
    told = call("reproduce", "weak", "--rows", tmp_path / "results.csv", "--store", store)
    assert "1 rows of" in told.stderr
    assert "[2/2, 0 min 0 s left] weak: roessler 50 s, noise 0.01, trial 1, published exact: not exact" in told.stderr
    assert "2 rows added to" in told.stdout
    assert ", 1 of them failed (--retry runs them again)." in told.stdout
    outcomes.clear()
    assert "has all these rows already" in call("reproduce", "weak", "--store", store).stdout
    assert Table(store, Result).find(case).outcome.exact

    def interrupted(name, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(paper, "run", interrupted)
    assert "the same command goes on" in call("reproduce", "weak", "--store", store, code=130).stderr
    said = call("reproduce", "report", "--rows", "none.csv", "--store", store, code=1).stderr
    assert "rows: there is no file 'none.csv'." in said


def test_helps_have_no_stray_marks():
    for name in typer.main.get_command(app).commands["bench"].commands:
        assert "\\b" not in call("bench", name, "--help").output, name

"""`exactsindy bench` and `exactsindy reproduce` do what they say."""

from __future__ import annotations

import inspect

import pytest
from typer.testing import CliRunner

from exactsindy.cli import app
from exactsindy_experiments import paper


def call(*words, code=0):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done


def test_bench_measures_a_preset(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    from exactsindy_experiments import presets

    quick = presets.PRESETS["quick"]()
    cases = tuple(case for case in quick.cases[:7] if case.solver in ("exactsindy", "enumeration"))
    small = presets.Preset("small", cases, quick.paths[:1], quick.limits)
    monkeypatch.setattr(presets, "PRESETS", {"small": lambda: small})
    done = call("bench", "--preset", "small", "--out", tmp_path / "bench")
    assert done.stdout.strip() == str(tmp_path / "bench" / "solver.md")
    assert {"solver.csv", "path.csv", "solver.md", "solver.png"} <= {
        file.name for file in (tmp_path / "bench").iterdir()
    }


def test_reproduce_lists_and_runs_the_experiments(monkeypatch, tmp_path):
    listed = call("reproduce", "list").stdout
    assert "differential: " in listed
    calls, known = [], inspect.signature(paper.run).parameters
    monkeypatch.setattr(paper, "run", lambda name, **options: calls.append((name, options)) or len(calls))
    said = call("reproduce", "weak", "--systems", "lorenz,hopf", "--trials", 2, "--store", tmp_path / "r.sqlite").stdout
    assert said.startswith(f"1 rows added to {tmp_path / 'r.sqlite'}. Tables and figures: exactsindy reproduce report")
    ((name, options),) = calls
    assert name == "weak"
    assert options["systems"] == ["lorenz", "hopf"]
    assert options["trials"] == 2
    assert set(options) <= set(known)
    assert "there is no experiment 'luck'" in call("reproduce", "luck", code=1).stderr
    call("reproduce", "pde", "--trials", "11-13", "--store", tmp_path / "r.sqlite")
    assert calls[-1][1]["trials"] == [11, 12, 13]
    for wrong in ("0", "13-11", "some", "-3"):
        said = call("reproduce", "pde", f"--trials={wrong}", code=1).stderr
        assert f"--trials {wrong!r}: expected a number such as 50 or a range such as 11-20." in said


def test_reproduce_takes_rows_and_says_what_failed(monkeypatch, tmp_path):
    case, store = paper.Case("weak", "roessler", "published", "exact", 3, 50.0, 0.01, 1), tmp_path / "r.sqlite"
    with paper.Store(tmp_path / "earlier.sqlite") as earlier:
        earlier.add(case, paper.Outcome(tpr=1.0, exact=True))
        earlier.to_csv(tmp_path / "results.csv")
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
    with paper.Store(store) as kept:
        assert kept.find(case).exact

    def interrupted(name, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(paper, "run", interrupted)
    assert "the same command goes on" in call("reproduce", "weak", "--store", store, code=130).stderr
    said = call("reproduce", "report", "--rows", "none.csv", "--store", store, code=1).stderr
    assert "rows: there is no file 'none.csv'." in said

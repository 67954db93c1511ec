"""The scaling study: data by chunks, the cost model, the simulated cluster, the page."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from exactsindy_experiments import scale_run
from exactsindy_experiments.scale_cases import CHUNK, Chunks, Measured, assembly, known, lazy_field, orbit
from exactsindy_experiments.scale_model import Cluster, CostModel, predicted, simulated
from exactsindy_experiments.scale_report import report

PERFECT = {"slow": 0.0, "spread": 0.0, "failures": 0.0}


def test_chunks_have_the_rows_asked_for():
    base = orbit(1000)
    assert [len(chunk[0]) for chunk in Chunks(900, base)] == [900]
    assert CHUNK > 1000


def test_a_measurement_counts_assembly_alone(monkeypatch):
    from exactsindy_experiments import scale_cases

    monkeypatch.setattr(scale_cases, "CHUNK", 2000)
    monkeypatch.setattr(scale_cases, "orbit", lambda: orbit(2000))
    measured = assembly(5000, 2)
    assert (measured.terms, measured.rows) == (10, 5000)
    assert measured.cpu > 0
    assert measured.made > 0


def test_lazy_fields_are_the_same_however_they_are_cut():
    pytest.importorskip("dask.array")
    field = lazy_field(40, 32)
    assert field.lazy
    assert (field.load(10, 30)["u"] == field.load()["u"][..., 10:30]).all()


def test_the_cost_model_finds_the_costs_it_was_made_of():
    rows = [
        Measured("rows", 1e6, d, 3, 1, 1e6 * (1e-7 + 2e-9 * d + 3e-10 * (d + 3) ** 2), 0.0, 0.0, 0.0)
        for d in (4, 10, 20, 56, 165)
    ]
    model = CostModel.fitted(rows)
    assert model.error < 1e-6
    assert model.seconds(2e6, 35) == pytest.approx(2e6 * (1e-7 + 7e-8 + 3e-10 * 38**2))


def test_a_perfect_cluster_takes_the_time_of_the_model():
    cluster = Cluster(workers=8, **PERFECT)
    result = simulated(cluster, 64, 2.0, seed=0)
    assert result.total == pytest.approx(predicted(cluster, 64, 2.0))
    assert (result.pieces, result.lost, result.again) == (16.0, 0, 0)


def test_failures_cost_time_and_all_pieces_are_done():
    steady, failing = Cluster(workers=8, **PERFECT), Cluster(workers=8, slow=0.0, spread=0.0, failures=20.0)
    worse = simulated(failing, 640, 2.0, seed=0)
    assert worse.lost > 0
    assert worse.again >= worse.lost
    assert worse.total > simulated(steady, 640, 2.0, seed=0).total


def test_measurements_are_kept_and_not_made_again(tmp_path, monkeypatch):
    calls = []

    def measure(name, arguments):
        calls.append(name)
        return Measured(name, 1e6, 56, 3, 1, 1.0, 1.0, 0.0, 1e8, load=3.0)

    monkeypatch.setattr(scale_run, "measure", measure)
    monkeypatch.setattr(scale_run, "PLAN", (("short", (5,)), ("rows", (1e6, 5)), ("rows", (1e9, 5)), ("workers", (1,))))
    store = tmp_path / "scale.jsonl"
    scale_run.run_all(store, lambda text: None, 1e8)
    scale_run.run_all(store, lambda text: None, 1e8)
    assert calls == ["short", "rows", "workers"]
    text = " ".join(report(known(store), "A machine.").split())
    assert "load average 3 to 3 where it was noted" in text
    assert "NOTHING in the table below was measured" in text
    assert "![Time and memory](scale.png)" in text
    assert json.loads(store.read_text().splitlines()[0])["measured"] == asdict(measure("short", ()))

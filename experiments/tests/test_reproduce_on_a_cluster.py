"""`exactsindy reproduce --scheduler`: the workers of a Dask cluster give the rows that this process gives."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from exactsindy_experiments import paper
from exactsindy_experiments.paper import Result
from exactsindy_experiments.results import Table

pytest.importorskip("distributed", reason="Dask is not installed: pip install exactsindy[dask]")

SCRIPT = Path(__file__).with_name("cluster_reproduce.py")


def rows(store):
    return {case: replace(outcome, seconds=0.0) for case, outcome in Table(store, Result)}


def test_the_rows_of_a_cluster_are_those_of_this_process(tmp_path):
    store = tmp_path / "cluster.csv"
    done = subprocess.run([sys.executable, str(SCRIPT), str(store)], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["code"] == 0, said["said"]
    assert said["tasks"] == 2
    options = {"systems": ["van_der_pol"], "trials": 2, "values": [0.01], "algorithms": ["exact"]}
    paper.run("weak", protocols=["published"], workers=0, store=tmp_path / "here.csv", **options)
    assert rows(store) == rows(tmp_path / "here.csv")
    assert len(rows(store)) == 2

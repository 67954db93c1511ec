"""Assembly on the workers of a Dask cluster: the same bits as alone, also if a worker is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pieced_data import trajectories, write_parquet

pytest.importorskip("distributed", reason="Dask is not installed: pip install exactsindy[dask]")
pytest.importorskip("pyarrow")

SCRIPT = Path(__file__).with_name("cluster_run.py")


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    write_parquet(trajectories(), folder)
    done = subprocess.run([sys.executable, str(SCRIPT), str(folder)], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_workers_give_the_same_bits(outcome):
    assert outcome["cluster"] == outcome["alone"]


def test_a_worker_that_is_killed_changes_no_bit(outcome):
    for name, run in outcome["killed"].items():
        assert run["lost"]
        assert run["told"] == list(range(1, 14))  # it was killed after the third of thirteen pieces
        assert run["fingerprint"] == outcome["alone"][name]


def test_folds_have_the_same_bits(outcome):
    assert outcome["folds on the cluster"] == outcome["folds"]


def test_no_numbers_are_sent(outcome):
    assert outcome["largest pickle"] < 3000

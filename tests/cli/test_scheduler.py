"""`--scheduler`: the command line on a Dask cluster gives what it gives alone, also where a worker is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import exactsindy as es
from pieced_data import write_parquet

pytest.importorskip("distributed", reason="Dask is not installed: pip install exactsindy[dask]")
pytest.importorskip("pyarrow")

SCRIPT = Path(__file__).with_name("cluster_commands.py")
RUNS, ROWS, PIECE = 6, 40000, 20000


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    rng, t = np.random.default_rng(0), 0.002 * np.arange(ROWS)
    runs = []
    for _ in range(RUNS):
        start, phase = rng.uniform(0.5, 2.0), rng.uniform(0.0, 6.0)
        x = start * np.column_stack([np.cos(t + phase), -np.sin(t + phase)]) + 0.01 * rng.normal(size=(ROWS, 2))
        runs.append(es.Trajectories.from_arrays(x, time=t, states=("x", "y"))[0])
    write_parquet(es.Trajectories(runs), folder, rows=PIECE // 2)
    done = subprocess.run([sys.executable, str(SCRIPT), str(folder)], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_command_line_gives_the_same_answer_on_a_cluster(outcome):
    assert outcome["cluster"] == outcome["alone"]


def test_pieces_and_resamples_are_tasks(outcome):
    assert outcome["tasks"]["_alone"] >= RUNS * ROWS // PIECE
    assert outcome["tasks"]["_search"] >= 2 * 30  # two equations of thirty resamples


def test_no_large_array_is_sent(outcome):
    assert outcome["largest message"] < 8 * 3 * PIECE / 2  # not even half of a piece


def test_a_worker_that_is_killed_during_solves_changes_no_bit(outcome):
    assert outcome["lost"]
    assert outcome["solved"]


def test_progress_is_told_problem_by_problem(outcome):
    assert outcome["told"] == list(range(1, 25))


def test_a_time_limit_leaves_true_bounds(outcome):
    assert outcome["bounds hold"]


def test_a_task_solves_by_itself(outcome):
    assert outcome["within a task"]

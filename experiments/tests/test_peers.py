"""Peers run in processes of their own, which may die, hang or be missing."""

import sys
from pathlib import Path

import pytest

from exactsindy_experiments import peers
from exactsindy_experiments.instances import Instance, equation, prepare
from exactsindy_experiments.peers import PeerPool


@pytest.fixture(scope="module")
def subject():
    return equation(prepare(Instance("hopf", 3, 0.5)).problem, "x'", 2, 0.01)


@pytest.fixture(scope="module")
def pool():
    with PeerPool() as running:
        yield running


def scripted(monkeypatch, program):
    monkeypatch.setattr(PeerPool, "_command", lambda self, peer: [sys.executable, "-c", program])


def test_enumeration_answers(pool, subject, stand_in):
    answer = pool.ask("enumeration", subject, 10.0)
    expected = stand_in(subject, 10.0)
    assert tuple(answer["support"]) == expected.support
    assert answer["status"] == "optimal"
    assert answer["lower_bound"] == pytest.approx(expected.lower_bound, rel=1e-12)
    assert answer["seconds"] > 0


@pytest.mark.parametrize("name", ["gurobi published", "gurobi sos1", "scip"])
def test_installed_solvers_answer(pool, subject, name):
    pytest.importorskip("gurobipy" if name.startswith("gurobi") else "pyscipopt")
    answer = pool.ask(name, subject, 2.0)
    assert answer["status"] in ("optimal", "time limit")
    assert len(answer["support"]) <= 2


def test_gurobi_refuses_large_libraries(pool):
    pytest.importorskip("gurobipy")
    large = equation(prepare(Instance("mhd", 5, 0.5)).problem, 0, 2, 0.01)
    answer = pool.ask("gurobi sos1", large, 1.0)
    if answer["status"] == "licence":  # a full licence does not refuse
        assert "licence" in answer["note"]
        assert answer["support"] == []


def test_enumeration_refuses_what_it_cannot_finish(pool):
    large = equation(prepare(Instance("mhd", 5, 0.5)).problem, 0, 4, 0.01)
    answer = pool.ask("enumeration", large, 1.0)
    assert answer["status"] == "skipped"
    assert "refuses" in answer["note"]


def test_a_missing_environment_is_reported(subject):
    with PeerPool(Path("nowhere") / "python") as lonely:
        answer = lonely.ask("okridge", subject, 1.0)
    assert answer["status"] == "not installed"
    assert "install-peers" in answer["note"]


def test_the_foreign_worker_needs_only_numpy(subject):
    # This Python has no okridge: the worker starts by its path, finds that out and says so.
    with PeerPool(Path(sys.executable)) as foreign:
        answer = foreign.ask("okridge", subject, 1.0)
    assert answer["status"] == "not installed"
    assert "okridge" in answer["note"]


def test_a_worker_that_hangs_is_stopped(monkeypatch, subject):
    scripted(monkeypatch, "import time; time.sleep(60)")
    monkeypatch.setattr(peers, "GRACE", 0.1)
    monkeypatch.setattr(peers, "START", 0.1)
    with PeerPool() as hanging:
        answer = hanging.ask("scip", subject, 0.2)
        assert (answer["status"], answer["seconds"]) == ("time limit", 0.2)
        assert "did not obey" in answer["note"]
        assert hanging.ask("scip", subject, 0.2)["status"] == "time limit"


def test_a_worker_that_dies_is_replaced(monkeypatch, subject):
    scripted(monkeypatch, "import sys; sys.stdin.readline(); sys.exit(3)")
    with PeerPool() as dying:
        for _ in range(2):
            answer = dying.ask("scip", subject, 1.0)
            assert (answer["status"], answer["note"]) == ("failed", "the process ended with code 3")


def test_a_failing_solver_is_reported(pool, subject):
    from dataclasses import replace

    import numpy as np

    answer = pool.ask("enumeration", replace(subject, z=np.array([1.0])), 1.0)
    assert answer["status"] == "failed"
    assert "Error" in answer["note"]

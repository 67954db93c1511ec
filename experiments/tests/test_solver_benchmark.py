"""One case in, one judged row out."""

import math
from dataclasses import replace

import pytest

from exactsindy.errors import SolverError
from exactsindy_experiments.solver_benchmark import measure
from exactsindy_experiments.solver_rows import Answer, Case, Limits, Task

OURS = Case(Task("hopf", 3, 0.5, 1, "x'", 2, 0.01), "exactsindy")
PEER = replace(OURS, solver="gurobi sos1")


class FixedPeers:
    """Stands for the worker processes: gives one answer to everything and counts."""

    def __init__(self, support, status="optimal", seconds=0.5, note=""):
        self.reply = {"support": support, "status": status, "seconds": seconds, "note": note}
        self.reply |= {"lower_bound": 0.0, "nodes": 7}
        self.asked = []

    def ask(self, name, equation, seconds, *, penalty, largest):
        self.asked.append((name, equation.size, seconds, penalty, largest))
        return self.reply


@pytest.fixture
def proved(stand_in):
    return measure(OURS, reference=stand_in)


def indices(row):
    names = ["1", "x", "y", "x^2", "x y", "y^2", "x^3", "x^2 y", "x y^2", "y^3"]
    return [names.index(name) for name in row.support.split("; ")]


def test_our_row(proved):
    assert proved.case == OURS
    assert (proved.status, proved.truly_optimal, proved.excess, proved.ratio) == ("optimal", True, 0.0, 1.0)
    assert (proved.n_terms, proved.n_samples, proved.repeats, len(indices(proved))) == (10, 250, 3, 2)
    assert proved.gap == pytest.approx(0, abs=1e-12)
    assert proved.wall_seconds >= proved.seconds > 0


def test_a_peer_with_our_support_is_right(proved):
    peers = FixedPeers(indices(proved)[::-1], seconds=0.5)
    row = measure(PEER, proved=proved, peers=peers, limits=Limits(seconds=4, repeats=5))
    assert row.truly_optimal
    assert row.objective == proved.objective
    assert row.ratio == pytest.approx(0.5 / proved.seconds)
    assert row.call_ratio == pytest.approx(0.5 / proved.wall_seconds)
    assert row.gap == 1.0
    assert peers.asked == [("gurobi sos1", 2, 4, 0.0, 0.0)] * 5


def test_a_wrong_optimal_answer_is_seen(proved):
    row = measure(PEER, proved=proved, peers=FixedPeers([0, 3]))
    assert row.status == "optimal"
    assert row.truly_optimal is False
    assert row.excess == pytest.approx(row.objective / proved.objective - 1)
    assert row.excess > 1e-6


def test_more_terms_than_allowed_is_no_answer(proved):
    row = measure(PEER, proved=proved, peers=FixedPeers([0, 1, 2, 6, 8]))
    assert row.truly_optimal is False
    assert math.isnan(row.excess)


def test_nothing_is_judged_by_an_unproved_answer(proved):
    open_row = replace(proved, status="time limit")
    row = measure(PEER, proved=open_row, peers=FixedPeers([0, 5]))
    assert row.truly_optimal is None
    assert row.excess > 0
    assert measure(PEER, proved=None, peers=FixedPeers([0, 5])).truly_optimal is None


def test_slow_peers_run_once_and_count_at_their_limit(proved):
    peers = FixedPeers([0, 5], status="time limit", seconds=3.2)
    row = measure(PEER, proved=proved, peers=peers, limits=Limits(seconds=30, seconds_of={"gurobi sos1": 3.0}))
    assert (row.seconds, row.time_limit, row.repeats) == (3.0, 3.0, 1)
    assert len(peers.asked) == 1


@pytest.mark.parametrize("status", ["licence", "skipped", "failed", "not installed"])
def test_refusals_are_rows_without_numbers(proved, status):
    row = measure(PEER, proved=proved, peers=FixedPeers([], status=status, seconds=math.nan, note="why"))
    assert (row.status, row.note, row.truly_optimal, row.repeats) == (status, "why", None, 1)
    assert math.isnan(row.objective)
    assert math.isnan(row.ratio)


def test_l0bnb_gets_a_penalty_between_the_neighbouring_sizes(proved, stand_in):
    peers = FixedPeers(indices(proved))
    measure(replace(OURS, solver="l0bnb"), proved=proved, peers=peers, reference=stand_in)
    values = [
        measure(replace(OURS, task=replace(OURS.task, size=size)), reference=stand_in).objective for size in range(4)
    ]
    penalty, largest = peers.asked[0][3:]
    if penalty:
        assert values[2] - values[3] < penalty < min(values[1] - values[2], (values[0] - values[2]) / 2)
    else:
        assert values[2] - values[3] >= min(values[1] - values[2], (values[0] - values[2]) / 2)
    assert largest > 0


def test_an_interrupted_measurement_makes_no_row():
    stopped = Answer((), "interrupted", 0.1, 0.1, -math.inf, 0)
    with pytest.raises(KeyboardInterrupt):
        measure(OURS, reference=lambda equation, seconds: stopped)


def test_peers_need_a_pool(stand_in):
    with pytest.raises(SolverError, match=r"measure\(peers=None\): the solver 'gurobi sos1' runs in a PeerPool"):
        measure(PEER, reference=stand_in)

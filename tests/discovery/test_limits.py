"""Limits of `discover`: the time limit and Ctrl-C hold in every phase, and what was left out is said."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

import exactsindy as es
from exactsindy._limits import OutOfTime, go_on, is_over, passed, until
from exactsindy.discovery import attempt, variants
from exactsindy.discovery import clock as clocks
from exactsindy.discovery.clock import Clock
from exactsindy.discovery.read import Sampling
from exactsindy.discovery.thinning import stretches
from exactsindy.errors import SolverError
from exactsindy.forms import smooth
from exactsindy.solver import Deadline, Settings

# Seconds beyond a limit that a loaded machine may need; the benchmark of speed measures it without load.
LATE = 3.0


def oscillator(samples=2000, noise=0.02, seed=0):
    t = 0.02 * np.arange(samples)
    x = np.column_stack([np.cos(t), -np.sin(t)])
    return x + noise * np.random.default_rng(seed).normal(size=x.shape)


def network(samples, states, seed=0):
    """A linear network: neighbours on a ring pull at each other."""
    turn = np.exp(0.05j * (1 + np.arange(states // 2) / states))
    waves = np.array([turn**n for n in range(samples)])
    x = np.hstack([waves.real, waves.imag]) @ np.random.default_rng(seed).normal(size=(states, states))
    return x + 0.01 * np.random.default_rng(seed + 2).normal(size=x.shape)


def test_loops_ask_whether_to_go_on():
    go_on()
    assert not is_over()
    with until(lambda: True):
        assert is_over()
        with until(lambda: False):
            go_on()
        with pytest.raises(OutOfTime):
            go_on()
    assert not is_over()


def test_a_clock_notes_what_was_cut_and_where():
    clock = Clock(Settings(seconds=1e-9))
    clock.begin("smoothing the states")
    with clock.optional("trajectory fits"):
        go_on()
        pytest.fail("the limit has passed")
    with clock.optional("nothing"):
        pass
    (notice,) = clock.notices()
    assert notice.kind == "limit"
    assert "trajectory fits" in notice.message
    assert "nothing" not in notice.message
    assert "while smoothing the states" in str(clock.no_answer())
    assert Clock(Settings()).notices() == ()


@pytest.mark.parametrize("seconds", [1e-6, 0.02, 0.1, 0.4])
def test_a_short_limit_gives_an_answer_or_one_sentence(seconds):
    data = network(400, 20)
    begin, sentence, found = time.monotonic(), "", None
    try:
        found = es.discover(data, 0.05, seconds=seconds, threads=1)
    except SolverError as error:
        sentence = str(error)
    assert time.monotonic() - begin < seconds + LATE
    if found is None:
        assert f"seconds={seconds:g}" in sentence
        assert "before there was an answer" in sentence
        return
    (notice,) = (w for w in found.warnings if w.kind == "limit")
    assert "Allow more `seconds`" in notice.message
    # What an unproved answer claims is true: its bound holds.
    assert (found.solution.lower_bound <= found.solution.objective).all()


def test_many_states_keep_the_limit():
    begin = time.monotonic()
    found = es.discover(network(600, 128), 0.05, seconds=1.0, threads=1)
    assert time.monotonic() - begin < 1.0 + LATE
    assert any(w.kind == "limit" for w in found.warnings)
    assert len(found.equations) == 128


def test_without_need_nothing_is_cut():
    found = es.discover(oscillator(), 0.02, threads=1)
    assert not [w for w in found.warnings if w.kind in ("limit", "interrupted")]
    assert found.identified


PHASES = [
    "smoothing the states",
    "solving the start regression",
    "making the regression on measured states",
    "making the regression on smoothed states (5-term flow)",
    "searching the best supports of every size",
    "fitting trajectories",
    "ranking the rivals",
    "examining the residuals",
]


@pytest.mark.skipif(os.name == "nt", reason="signals of Windows end the process")
@pytest.mark.parametrize("phase", PHASES)
def test_ctrl_c_in_any_phase_ends_with_the_best_so_far(phase, monkeypatch):
    begin = Clock.begin

    def press(self, name):
        begin(self, name)
        if name == phase and not self.cut:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(clocks.Clock, "begin", press)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if phase in ("smoothing the states", "solving the start regression"):
            with pytest.raises(KeyboardInterrupt, match=f"while {phase}, before there was an answer"):
                es.discover(oscillator(), 0.02, threads=1)
            return
        found = es.discover(oscillator(), 0.02, threads=1)
    finally:
        signal.signal(signal.SIGINT, before)
    (notice,) = (w for w in found.warnings if w.kind == "interrupted")
    assert notice.message.startswith(f"Interrupted while {phase.partition(' (')[0]}")
    assert {tuple(terms) for terms in found.solution.terms.values()} == {("x0",), ("x1",)}
    assert found.pool is None or phase == "examining the residuals"


def test_ctrl_c_is_not_awaited_outside_the_main_thread():
    answers = []
    worker = threading.Thread(target=lambda: answers.append(es.discover(oscillator(600), 0.02, threads=1)))
    worker.start()
    worker.join()
    assert answers[0].equations


def test_stretches_are_spread_over_long_records_only():
    data = es.Trajectories.from_arrays(oscillator(200_000), time=0.2)
    smoothed = smooth(data)
    few = stretches(smoothed, Sampling(200_000, 6000.0))
    assert len(few.pieces) == 24
    assert all(len(piece) == 1024 for piece in few.pieces)
    assert few.pieces[0].times[0] == 0
    assert few.pieces[-1].times[0] > 0.9 * data[0].times[-1]
    assert stretches(smoothed, Sampling(200_000, 100.0)) is smoothed  # ten periods are too long a stretch
    assert stretches(smoothed, Sampling(200_000, 0.0)) is smoothed  # nothing oscillates


def test_trial_models_of_stretches_lose_less_than_the_noise(monkeypatch):
    """What stretches leave out moves coefficients by far less than their standard errors."""
    t = 0.1 * np.arange(130_000)
    x = np.column_stack([np.cos(t), -np.sin(t)]) + 0.05 * np.random.default_rng(2).normal(size=(len(t), 2))
    fast = es.discover(x, 0.1, degree=2, threads=1, seconds=600.0)
    monkeypatch.setattr("exactsindy.discovery.prepare.stretches", lambda smoothed, sampled: smoothed)
    slow = es.discover(x, 0.1, degree=2, threads=1, seconds=600.0)
    one, other = fast.coefficients, slow.coefficients
    assert one.term_names == other.term_names
    moved = np.abs(one.values - other.values)[other.values != 0] / other.standard_errors[other.values != 0]
    assert moved.max() < 0.2


def test_what_a_share_of_the_time_cuts_short_is_noted():
    clock = Clock(Settings(seconds=60.0))
    with clock.optional("trajectory fits"):
        assert Deadline(Settings(seconds=1e-9)).expired
    with clock.optional("tests"):
        assert passed(time.monotonic() - 1.0)
        assert not passed(time.monotonic() + 60.0)
    with clock.optional("nothing"):
        assert not Deadline(Settings(seconds=60.0)).expired
    assert clock.cut == ["trajectory fits", "tests"]
    assert Deadline(Settings(seconds=1e-9)).expired  # nobody asked to be told
    assert len(clock.cut) == 2


def test_a_share_of_the_time_that_ends_trajectory_fits_is_said(monkeypatch):
    """The call itself has time enough: a machine with other work changes answers only with a warning."""
    data = oscillator(noise=0.2)
    assert not [w for w in es.discover(data, 0.02, threads=1, seconds=600.0).warnings if w.kind == "limit"]
    monkeypatch.setattr(attempt, "_FIT_SHARE", 1e-9)
    found = es.discover(data, 0.02, threads=1, seconds=600.0)
    (notice,) = (w for w in found.warnings if w.kind == "limit")
    assert "trajectory fits" in notice.message


def test_very_long_records_keep_stretches_of_their_own(monkeypatch):
    """Views of the whole would keep it in memory."""
    monkeypatch.setattr(variants, "_KEPT", 500)
    data = es.Trajectories.from_arrays(oscillator(3000), time=0.02)
    made = variants.whitened_increments(data, es.Polynomials(2), Settings(threads=1))
    assert len(made) == 3
    for variant in made:
        assert sum(map(len, variant.smoothed.pieces)) <= 500
        assert all(values.base is None for values in variant.smoothed.values)
        assert variant.problem.n_samples == 2999

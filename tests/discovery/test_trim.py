"""Steady tails of trajectories are left out where they dominate."""

from __future__ import annotations

import numpy as np

import exactsindy as es
from exactsindy.discovery.read import Measurement
from exactsindy.discovery.trim import trim_steady_tail


def trimmed(data):
    measured = trim_steady_tail(Measurement(data, data))
    assert measured.data is data
    return measured.used, measured.notices


def decaying(n, noise=0.01, seed=0):
    t = np.linspace(0.0, n / 50, n)
    clean = np.exp(-0.5 * t)[:, None] * np.column_stack([np.cos(3 * t), -3 * np.sin(3 * t) - 0.5 * np.cos(3 * t)])
    return t, clean + noise * np.random.default_rng(seed).normal(size=clean.shape)


def test_a_long_steady_tail_is_left_out_and_told():
    t, x = decaying(5000)
    data = es.Trajectories.from_arrays(x, time=t, states=("x", "v"))
    left, notes = trimmed(data)
    assert 1000 < len(left[0]) < 2500
    assert notes[0].message == (
        f"The last {5000 - len(left[0])} of 5000 samples are left out: the system is steady there, within its noise."
    )
    found = es.discover(data, library=es.Polynomials(3))
    assert notes[0] in found.warnings
    assert {k: set(v) for k, v in found.solution.terms.items()} == {"x'": {"v"}, "v'": {"x", "v"}}
    assert len(found.data[0]) == 5000, "the record keeps all data"


def test_a_tail_about_as_long_as_the_motion_stays():
    t, x = decaying(1000)
    data = es.Trajectories.from_arrays(x, time=t)
    assert trimmed(data) == (data, ())


def test_nothing_is_cut_that_moves_or_never_moved_or_is_driven():
    t, x = decaying(5000)
    drive = es.Trajectories.from_arrays(x, time=t, controls={"u": np.sin(t)})
    assert trimmed(drive)[1] == ()
    moving = es.Trajectories.from_arrays(np.column_stack([np.sin(t), np.cos(t)]) + x, time=t)
    assert trimmed(moving)[1] == ()
    still = es.Trajectories.from_arrays(1.0 + 0.01 * np.random.default_rng(1).normal(size=(5000, 2)), time=t)
    assert trimmed(still)[1] == ()


def test_each_trajectory_has_its_own_tail():
    t, x = decaying(5000)
    data = es.Trajectories.from_arrays([x, x[:800]], time=[t, t[:800]])
    left, notes = trimmed(data)
    assert len(left[0]) < 2500
    assert len(left[1]) == 800
    assert [note.message.split(" of ")[2].split(" are")[0] for note in notes] == ["trajectory 1"]

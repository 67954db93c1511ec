"""Data as they come: coloured noise, coarse or broken records, constants, a handful of samples."""

from __future__ import annotations

import math

import numpy as np
import pytest

import exactsindy as es
from exactsindy.discovery.read import Sampling, sampling
from exactsindy.discovery.select import calibrated
from exactsindy.errors import DataError
from exactsindy.forms import smooth
from exactsindy.selection import TRAJECTORY_FIT, Choice, GrowthRatio, PathEvidence, Selection
from exactsindy.systems import add_noise, find_system

ONE = es.Settings(seconds=60.0, threads=1)
T = np.arange(0, 20, 0.02)
CIRCLE = np.column_stack([np.cos(T), -np.sin(T)])
STATES = ("x", "v")


def noisy(size=0.01, seed=0):
    return CIRCLE + size * np.random.default_rng(seed).normal(size=CIRCLE.shape)


def coloured(shape, correlation, size, seed):
    noise = size * np.random.default_rng(seed).normal(size=shape)
    for i in range(1, len(noise)):
        noise[i] = correlation * noise[i - 1] + math.sqrt(1 - correlation**2) * noise[i]
    return noise


def terms_of(found):
    return {target: set(terms) for target, terms in found.solution.terms.items()}


def test_missing_values_are_refused_or_split_at():
    holes = noisy()
    holes[[100, 101, 450], 0] = np.nan
    with pytest.raises(DataError, match=r"3 values are missing .* gaps='split'"):
        es.discover(holes, time=T, states=STATES)
    found = es.discover(holes, time=T, states=STATES, gaps="split", settings=ONE)
    assert len(found.data) == 3
    assert terms_of(found) == {"x'": {"v"}, "v'": {"x"}}
    assert "split" in {note.kind for note in found.warnings}


def test_stretches_too_short_to_smooth_are_told():
    holes = noisy()
    holes[[100, 105, 110], 0] = np.nan
    found = es.discover(holes, time=T, states=STATES, gaps="split", settings=ONE)
    told = [note.message for note in found.warnings if note.kind == "short piece"]
    assert told == ["8 samples lie in stretches of fewer than 8, too short to smooth: not used."]


def test_a_column_tells_trajectories_apart():
    x = noisy()
    table = {"run": np.repeat([1, 2], 500), "t": np.tile(T[:500], 2), "x": x[:, 0], "v": x[:, 1]}
    found = es.discover(table, time="t", trajectory="run", settings=ONE)
    assert len(found.data) == 2
    assert terms_of(found) == {"x'": {"v"}, "v'": {"x"}}


def test_a_state_that_never_changes_is_no_candidate():
    found = es.discover(np.column_stack([noisy(), np.full(len(T), 2.0)]), time=T, states=(*STATES, "p"), settings=ONE)
    assert terms_of(found) == {"x'": {"v"}, "v'": {"x"}, "p'": set()}
    assert not any("p" in name.split() for name in found.problem.names)
    assert min(found.selection.confidence[q] for q in ("x'", "v'")) > 0.9


def test_nothing_but_zeros_has_the_law_zero():
    with np.errstate(all="raise"):
        found = es.discover(np.zeros((200, 2)), time=0.1, settings=ONE)
    assert terms_of(found) == {"x0'": set(), "x1'": set()}


def test_a_constant_under_coloured_noise_is_found_empty_by_its_trajectory_fit():
    states = np.column_stack([CIRCLE, np.full(len(T), 0.7)])
    noise = coloured(states.shape, 0.5, 0.05, 3)
    library = es.Polynomials(3, of=STATES)
    found = es.discover(states + noise, time=T, states=(*STATES, "p"), library=library, settings=ONE)
    assert terms_of(found)["p'"] == set()
    assert found.selection.choices[2].variant == TRAJECTORY_FIT
    assert found.selection.choices[2].confidence < 0.9
    by_regression = es.discover(
        states + noise, time=T, states=(*STATES, "p"), library=library, rule=PathEvidence(), settings=ONE
    )
    assert terms_of(by_regression)["p'"], "regression evidence alone is fooled here: otherwise this shows nothing"


def test_coloured_noise_leaves_a_right_law_believed():
    system = find_system("lorenz")
    clean = system.simulate([1.0, 2.0, 20.0], np.arange(0, 8, 0.01))
    data = clean + coloured(clean.shape, 0.5, 0.3, 0)
    found = es.discover(data, time=0.01, states=system.states, library=es.Polynomials(2), settings=ONE)
    assert terms_of(found) == {target: set(terms) for target, terms in system.truth.items()}
    assert all(choice.variant == TRAJECTORY_FIT for choice in found.selection.choices)
    assert min(found.selection.confidence.values()) > 0.5
    assert "coloured" in {note.kind for note in found.warnings}


def test_coarse_samples_lower_the_odds_of_regression_evidence():
    choices = [
        Choice("x'", 1, "measured states", 0.0, 1.0, 0.9, None),
        Choice("y'", 1, TRAJECTORY_FIT, 0.0, 1.0, 0.9, None),
    ]
    choices.append(Choice("z'", 0, "measured states", 0.0, 1.0, math.nan, None))

    def after(rule, per_period):
        before = Selection(None, None, (), {}, tuple(choices), rule)
        return [c.confidence for c in calibrated(before, Sampling(1000, 1000 / per_period)).choices]

    lower, fitted, empty = after(PathEvidence(), 7.0)
    assert lower / (1 - lower) == pytest.approx(9.0 / 5)
    assert fitted == 0.9
    assert math.isnan(empty)
    assert after(PathEvidence(), 50.0)[0] == after(GrowthRatio(), 7.0)[0] == 0.9


def counted(data):
    smoothed = smooth(data)
    return sampling(smoothed.values, smoothed.noise)


def test_noise_of_a_steady_state_is_no_period():
    still = 2 + 0.05 * np.random.default_rng(1).normal(size=(len(T), 1))
    found = counted(es.Trajectories.from_arrays(np.hstack([noisy(), still]), time=T))
    assert found.periods == pytest.approx(3.2, abs=0.5)
    assert counted(es.Trajectories.from_arrays(np.ones((50, 1)), time=0.1)).per_period == math.inf


def test_oscillations_too_coarse_to_be_smoothed_have_periods():
    # 0.7 time units are a tenth of the fastest period of this trajectory.
    clean = find_system("lotka_volterra").simulate([0.57, 0.56], 0.7 * np.arange(200))
    noisy_states = add_noise(clean, 0.02, np.random.default_rng(0))
    smoothed = smooth(es.Trajectories.from_arrays(noisy_states, time=0.7))
    assert (smoothed.values[0].std(axis=0) < 2 * smoothed.noise).all(), "most of it is taken for noise"
    assert 5 < sampling(smoothed.values, smoothed.noise).per_period < 20


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.zeros((0, 2)), r"states has shape \(0, 2\): there are no samples"),
        ([], r"states has shape \(0,\): there are no samples"),
        ([CIRCLE[:100], CIRCLE[:2]], r"trajectory 1: 2 samples are too short a trajectory; expected at least 3"),
        ([CIRCLE[i : i + 4] for i in range(0, 400, 4)], r"no trajectory has 8 samples .*StrongForm\(FiniteDiff"),
        (CIRCLE[:5], r"no trajectory has 8 samples"),
    ],
)
def test_too_little_is_said_clearly(data, message):
    with pytest.raises(DataError, match=message):
        es.discover(data, time=0.02, settings=ONE)


def test_trajectories_of_four_samples_can_be_differenced():
    pieces = [CIRCLE[i : i + 4] for i in range(0, 1000, 4)]
    form = es.StrongForm(es.differentiation.FiniteDifference())
    found = es.discover(pieces, time=0.02, states=STATES, form=form, settings=ONE)
    assert terms_of(found) == {"x'": {"v"}, "v'": {"x"}}


@pytest.mark.parametrize("n", [20, 50])
def test_a_handful_of_samples(n):
    every = noisy(0.005)[::20][:n]
    found = es.discover(every, time=0.4, states=STATES, settings=ONE)
    assert terms_of(found) == {"x'": {"v"}, "v'": {"x"}}
    assert {note.kind for note in found.warnings} & {"short", "coarse"}
    assert max(found.selection.confidence.values()) < 0.99


def test_a_pendulum_needs_its_sine():
    t = np.arange(0, 30, 0.02)
    x = np.zeros((len(t), 2))
    x[0] = 2.5, 0.0

    def rate(s):
        return np.array([s[1], -np.sin(s[0]) - 0.1 * s[1]])

    for i in range(len(t) - 1):
        k1 = rate(x[i])
        k2 = rate(x[i] + 0.01 * k1)
        k3 = rate(x[i] + 0.01 * k2)
        x[i + 1] = x[i] + 0.02 / 6 * (k1 + 2 * k2 + 2 * k3 + rate(x[i] + 0.02 * k3))
    data = x + 0.03 * np.random.default_rng(0).normal(size=x.shape)
    library = es.Polynomials(3) + es.Fourier(1)
    found = es.discover(data, time=t, states=STATES, library=library, settings=ONE)
    assert terms_of(found) == {"x'": {"v"}, "v'": {"v", "sin(x)"}}

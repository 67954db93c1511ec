"""Numbers that stand for missing values are left out and named; other values far outside are named."""

from __future__ import annotations

import numpy as np
import pytest

import exactsindy as es
from exactsindy.discovery.read import Measurement
from exactsindy.discovery.recognise import leave_out_sentinels
from exactsindy.systems import find_system


def measured(edit, count=400, **options):
    times = 0.05 * np.arange(count)
    states = find_system("lotka_volterra").simulate((0.3, 0.2), times)
    states = states + 0.002 * np.random.default_rng(0).normal(size=states.shape)
    edit(states)
    data = es.Trajectories.from_arrays(states, time=times, states=("x", "y"), **options)
    return leave_out_sentinels(Measurement(data, data))


def test_sentinels_are_left_out_and_their_rows_named():
    def edit(states):
        states[[17, 230], 0] = 999.0
        states[50, 1] = -999.0

    result = measured(edit)
    assert [notice.message for notice in result.notices] == [
        "Rows 17 and 230 hold 999 in 'x', far outside its other values: left out, as missing values are with "
        "gaps='split'.",
        "Row 50 holds -999 in 'y', far outside its other values: left out, as missing values are with gaps='split'.",
    ]
    assert [len(member) for member in result.used] == [17, 32, 179, 169]
    assert result.data is result.used
    assert max(member.states.max() for member in result.used) < 10


def test_discover_finds_the_law_despite_sentinels():
    times = 0.05 * np.arange(400)
    states = find_system("lotka_volterra").simulate((0.3, 0.2), times)
    states = states + 0.001 * np.random.default_rng(0).normal(size=states.shape)
    states[[100, 205], [0, 1]] = 999.0
    found = es.discover(states, times, states=("x", "y"), degree=2)
    assert {name: set(terms) for name, terms in found.solution.terms.items()} == {
        "x'": {"x", "x y"},
        "y'": {"y", "x y"},
    }
    assert [notice.kind for notice in found.warnings if notice.kind == "sentinel"] == ["sentinel"] * 2


def test_a_value_that_comes_twice_exactly_is_a_sentinel():
    def edit(states):
        states[[40, 41, 300], 0] = 12.5

    assert [notice.kind for notice in measured(edit).notices] == ["sentinel"]


def test_a_single_fault_is_named_and_kept():
    def edit(states):
        states[120, 1] = 33.3

    result = measured(edit)
    (notice,) = result.notices
    assert notice.kind == "outlier"
    assert notice.message == (
        "Row 120 of 'y' lies far outside its other values. If it is a fault, set it to nan and pass gaps='split'."
    )
    assert result.used.n_samples == 400


def test_many_rows_are_not_all_listed():
    def edit(states):
        states[10:200:15, 0] = -9999.0

    (notice,) = measured(edit).notices
    assert notice.message.startswith("Rows 10, 25, 40, 55, 70, 85, ... hold -9999 in 'x'")


@pytest.mark.parametrize("value", [999.0, 0.0])
def test_nothing_is_left_out_within_the_range(value):
    times = 0.05 * np.arange(400)
    states = 1000.0 * find_system("lotka_volterra").simulate((0.3, 0.2), times)
    states[100, 0] = value
    data = es.Trajectories.from_arrays(states, time=times)
    assert leave_out_sentinels(Measurement(data, data)).notices == ()


def test_growth_is_no_fault():
    times = np.linspace(0.0, 20.0, 60)
    data = es.Trajectories.from_arrays(np.exp(times)[:, None], time=times)
    assert leave_out_sentinels(Measurement(data, data)).notices == ()


def test_pulses_of_an_input_are_no_fault():
    times = 0.05 * np.arange(400)
    pulse = np.where((times > 5) & (times < 5.6), 10.0, 0.1 * np.cos(times))
    data = es.Trajectories.from_arrays(np.sin(times)[:, None], time=times, controls={"u": pulse})
    assert leave_out_sentinels(Measurement(data, data)).notices == ()


def test_a_code_in_an_input_is_left_out():
    times = 0.05 * np.arange(400)
    control = np.cos(times)
    control[30] = -9999.0
    data = es.Trajectories.from_arrays(np.sin(times)[:, None], time=times, controls={"u": control})
    result = leave_out_sentinels(Measurement(data, data))
    assert result.notices[0].message.startswith("Row 30 holds -9999 in 'u'")
    assert [len(member) for member in result.used] == [30, 369]


def test_short_outbreaks_are_kept():
    counts = np.random.default_rng(0).integers(0, 4, 400).astype(float)
    counts[200:208] = [6, 10, 25, 50, 50, 30, 12, 5]
    data = es.Trajectories.from_arrays(counts[:, None], time=np.arange(400.0))
    assert leave_out_sentinels(Measurement(data, data)).notices == ()

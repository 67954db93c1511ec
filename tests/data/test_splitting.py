"""Gaps, training and validation, folds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from exactsindy.data import Field, Target, Trajectories, gap_starts
from exactsindy.data.splitting import fold_ranges, whole_ranges

X = np.random.default_rng(0).normal(size=(20, 2))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(18, 60), min_size=1, max_size=5), st.integers(2, 6))
def test_folds_are_contiguous_and_hold_every_sample_once(lengths, count):
    starts = np.cumsum([0, *lengths])
    parts = [np.arange(a, b, dtype=float)[:, None] for a, b in pairwise(starts)]
    data = Trajectories.from_arrays(parts, time=1.0)
    if count > min(lengths) // 6 and len(lengths) > 1:
        return  # many folds of short trajectories may be refused, see below
    folds = data.folds(count)
    assert len(folds) == count
    together = np.concatenate([member.states[:, 0] for fold in folds for member in fold])
    np.testing.assert_array_equal(together, np.arange(sum(lengths)))
    assert min(len(member) for fold in folds for member in fold) >= 3


def test_split_cuts_every_trajectory():
    train, rest = Trajectories.from_arrays([X, X[:9]], time=1.0, targets=("x1",)).split(2 / 3)
    assert [len(m) for m in train] == [13, 6]
    assert [len(m) for m in rest] == [7, 3]
    assert rest[0].times[0] == 13.0
    assert rest.targets == (Target("x1"),)


def test_a_gap_is_a_step_of_more_than_ten_medians():
    times = np.cumsum([0.0, 1.0, 1.0, 10.0, 1.0, 10.5, 1.0, 1.0])
    np.testing.assert_array_equal(gap_starts(times), [4])
    assert len(gap_starts(times[:4])) == 0
    shown = [str(note) for note in Trajectories.from_arrays(times, time=times).warnings]
    assert shown == [
        "time: no samples between 13 and 23.5, 10 times the usual step. Pass gaps='split' to treat the parts as "
        "separate trajectories."
    ]


def test_rows_are_cut_at_missing_values_and_gaps():
    times = np.array([0.0, 1.0, 2.0, 3.0, 30.0, 31.0, 32.0])
    whole = np.array([True, False, True, True, True, True, False])
    assert whole_ranges(whole, times) == [(0, 1), (2, 4), (4, 6)]
    assert whole_ranges(np.zeros(7, dtype=bool), times) == []


def test_folds_move_to_the_end_of_a_trajectory_rather_than_leave_a_scrap():
    assert fold_ranges([11, 10], 2) == [[(0, 0, 11)], [(1, 0, 10)]]
    assert fold_ranges([20, 4], 2) == [[(0, 0, 12)], [(0, 12, 20), (1, 0, 4)]]


def test_a_field_is_cut_along_time_as_one_trajectory():
    field = Field.from_arrays(np.arange(40.0).reshape(4, 10), dims=("x", "t"), coords={"x": 1.0, "t": 1.0})
    assert [len(fold.times) for fold in field.folds(3)] == [3, 4, 3]
    np.testing.assert_array_equal(np.concatenate([fold["u"] for fold in field.folds(3)], axis=1), field["u"])

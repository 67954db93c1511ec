"""Frames and mappings are read by the names of their columns, arrays by position."""

from __future__ import annotations

import re
import sys

import numpy as np
import pandas
import polars
import pyarrow
import pytest
import xarray

from exactsindy.errors import DataError
from exactsindy.model import Model

LORENZ = Model.from_coefficients(
    {"x'": {"x": -10.0, "y": 10.0}, "y'": {"x": 28.0, "x z": -1.0, "y": -1.0}, "z'": {"x y": 1.0, "z": -8 / 3}}
)
DRIVEN = Model.from_coefficients({"x'": {"y": 1.0}, "y'": {"x": -1.0, "u": 2.0, "v cos(t)": 1.0}}, controls=("u", "v"))
T = np.linspace(0.0, 1.0, 101)
STATES = LORENZ.simulate([1.0, 2.0, 20.0], T).x
SHUFFLED = {"z": STATES[:, 2], "t": T, "x": STATES[:, 0], "note": ["a"] * len(T), "y": STATES[:, 1]}
FRAMES = [pandas.DataFrame, polars.DataFrame, pyarrow.table, dict]


@pytest.mark.parametrize("frame", FRAMES)
def test_states_are_found_by_name(frame):
    table = frame(SHUFFLED)
    np.testing.assert_array_equal(LORENZ.predict(table), LORENZ.predict(STATES))
    np.testing.assert_array_equal(LORENZ.jacobian(table), LORENZ.jacobian(STATES))
    assert LORENZ.scores(table) == LORENZ.scores(STATES, T)
    assert LORENZ.scores(table, T) == LORENZ.scores(table, "t") == LORENZ.scores(STATES, T)


def test_one_sample_by_name():
    frame = pandas.DataFrame(SHUFFLED)
    expected = LORENZ.predict(STATES[5])
    samples = [frame.iloc[5], dict(frame.iloc[5]), {"z": STATES[5, 2], "y": STATES[5, 1], "x": STATES[5, 0]}]
    samples.append(polars.DataFrame(SHUFFLED).row(5, named=True))
    for sample in samples:
        np.testing.assert_array_equal(LORENZ.predict(sample), expected)
    np.testing.assert_array_equal(LORENZ.predict(frame.iloc[[5]]), expected[None])


def test_a_start_by_name():
    frame = pandas.DataFrame(SHUFFLED)
    expected = LORENZ.simulate(STATES[0], T).x
    for start in (frame.head(1), frame.iloc[0], dict(frame.iloc[0]), polars.DataFrame(SHUFFLED).head(1)):
        np.testing.assert_array_equal(LORENZ.simulate(start, frame["t"]).x, expected)
    with pytest.raises(
        DataError, match=re.escape("x0 has shape (101, 3); expected 3 numbers, one for each of x, y, z")
    ):
        LORENZ.simulate(frame, T)
    swing = Model.from_coefficients({"x''": {"x": -1.0}})
    np.testing.assert_array_equal(swing.simulate({"x'": 2.0, "x": 1.0}, T).x, swing.simulate([1.0, 2.0], T).x)


@pytest.mark.parametrize("frame", FRAMES)
def test_controls_and_time_by_name(frame):
    x, y, u, v = np.random.default_rng(0).normal(size=(4, len(T)))
    expected = DRIVEN.predict(np.column_stack((x, y)), np.column_stack((u, v)), t=T)
    table = frame({"v": v, "y": y, "t": T, "u": u, "x": x})
    np.testing.assert_array_equal(DRIVEN.predict(table), expected)
    np.testing.assert_array_equal(DRIVEN.predict(np.column_stack((x, y)), table, t=T), expected)
    doubled = DRIVEN.predict(np.column_stack((x, y)), np.column_stack((2 * u, v)), t=T)
    np.testing.assert_array_equal(DRIVEN.predict(table, {"v": v, "u": 2 * u}), doubled)
    scores = DRIVEN.scores(np.column_stack((x, y)), T, u=np.column_stack((u, v)))
    assert DRIVEN.scores(table) == DRIVEN.scores(table, u=frame({"v": v, "u": u})) == scores
    assert DRIVEN.scores(np.column_stack((x, y)), T, u=table) == scores
    run = DRIVEN.simulate([1.0, 0.0], T, u=np.column_stack((u, v))).x
    np.testing.assert_array_equal(DRIVEN.simulate({"y": 0.0, "x": 1.0}, T, u=table).x, run)
    np.testing.assert_array_equal(DRIVEN.simulate([1.0, 0.0], T, u=(T, table)).x, run)
    with pytest.raises(DataError, match="u has no column 'v': it has u; expected u, v"):
        DRIVEN.simulate([1.0, 0.0], T, u=frame({"u": u}))


@pytest.mark.parametrize("frame", FRAMES)
def test_a_missing_column_is_named(frame):
    table = frame({"t": T, "x": T, "y": T})
    for call in (LORENZ.predict, LORENZ.jacobian):
        with pytest.raises(DataError, match="x has no column 'z': it has t, x, y; expected x, y, z in any order"):
            call(table)
    with pytest.raises(DataError, match="x0 has no column 'z': it has t, x, y; expected x, y, z"):
        LORENZ.simulate(table, T)
    with pytest.raises(DataError, match=r"states: there is no column 'z'\. Known are t, x, y\."):
        LORENZ.score(table)
    with pytest.raises(DataError, match="x has no column 'u': it has t, x, y; expected x, y, u, v, t"):
        DRIVEN.predict(table)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pandas.DataFrame(STATES), "x has no column 'x': it has 0, 1, 2; expected x, y, z"),
        ({}, "x has no column 'x': it has none; expected x, y, z"),
        ({"x": [1.0, 2.0], "y": [1.0], "z": 3.0}, "x has columns of shape x (2,), y (1,), z (); expected one number"),
        ({"x": "a", "y": 1.0, "z": 1.0}, "x: column 'x' holds 'a'"),
        ({"x": np.array(["2020-01-01"], "M8[ns]"), "y": 1.0, "z": 1.0}, "x: column 'x' holds dates; expected numbers."),
    ],
)
def test_what_cannot_be_read_is_said(values, message):
    with pytest.raises(DataError, match=re.escape(message)):
        LORENZ.predict(values)


def test_a_dataset_and_a_frame_without_narwhals(monkeypatch):
    dataset = xarray.Dataset({name: ("t", STATES[:, i]) for i, name in zip((2, 0, 1), "zxy", strict=True)}, {"t": T})
    np.testing.assert_array_equal(LORENZ.predict(dataset), LORENZ.predict(STATES))
    assert LORENZ.scores(dataset) == LORENZ.scores(STATES, T)
    monkeypatch.setitem(sys.modules, "narwhals", None)
    np.testing.assert_array_equal(LORENZ.predict(pandas.DataFrame(SHUFFLED)), LORENZ.predict(STATES))


def test_masked_samples_are_missing():
    masked = np.ma.masked_array(STATES, mask=np.arange(STATES.size).reshape(STATES.shape) == 4)
    lost = np.isnan(LORENZ.predict(masked)).any(axis=1)
    assert np.flatnonzero(lost).tolist() == [1]
    with pytest.raises(DataError, match="expected finite numbers"):
        LORENZ.simulate(masked[1], T)

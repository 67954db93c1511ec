"""Masked entries of numpy.ma arrays are missing values wherever data come in."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

from exactsindy.data import Columns, Field, Trajectories, Trajectory, as_data
from exactsindy.errors import DataError, ProblemError
from exactsindy.model import Model
from exactsindy.problem import Problem

SENTINEL = 999.0
T = 0.1 * np.arange(20)
CLEAN = np.column_stack((np.sin(T), np.cos(T)))
BROKEN = CLEAN.copy()
BROKEN[7, 1] = SENTINEL
MASKED = np.ma.masked_equal(BROKEN, SENTINEL)
MISSING = "1 value is missing or infinite, the first in 'x1' at row 7. Pass gaps='split'"


def check_pieces(data):
    assert [len(member) for member in data] == [7, 12]
    assert max(np.abs(member.states).max() for member in data) <= 1.0
    assert "Cut into 2 pieces at gaps; 1 samples have missing values." in [str(note) for note in data.notices]


@pytest.mark.parametrize(
    "source",
    [
        MASKED,
        list(MASKED),
        [[first, second] for first, second in MASKED],
        {"x0": MASKED[:, 0], "x1": MASKED[:, 1]},
        {"x0": MASKED[:, 0], "x1": list(MASKED[:, 1])},
        MASKED.astype(np.float32),
        MASKED.astype(object),
    ],
    ids=["array", "rows", "numbers", "columns", "column of numbers", "single", "objects"],
)
def test_masked_states_are_missing(source):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DataError, match=re.escape(MISSING)):
            as_data(source, Columns(time=T))
        check_pieces(as_data(source, Columns(time=T, gaps="split")))


def test_several_masked_trajectories_controls_and_derivatives():
    check_pieces(Trajectories.from_arrays([MASKED], time=[T], gaps="split"))
    with pytest.raises(DataError, match="trajectory 1: 1 value is missing"):
        Trajectories.from_arrays([CLEAN, MASKED], time=T)
    check_pieces(Trajectories.from_arrays(CLEAN, time=T, controls=MASKED, gaps="split"))
    check_pieces(Trajectories.from_arrays(CLEAN, time=T, controls={"u": MASKED[:, 0], "v": MASKED[:, 1]}, gaps="split"))
    check_pieces(Trajectories.from_arrays(CLEAN, time=T, derivatives=MASKED, gaps="split"))
    with pytest.raises(DataError, match=re.escape(MISSING)):
        Trajectory(T, MASKED)


def test_masked_integers_become_floats():
    counts = np.ma.masked_equal([3, 5, 9, -99, 4, 2, 8], -99)
    data = Trajectories.from_arrays(counts, time=1.0, gaps="split")
    assert [member.states[:, 0].tolist() for member in data] == [[3.0, 5.0, 9.0], [4.0, 2.0, 8.0]]


@pytest.mark.parametrize("dates", [False, True])
def test_masked_times_are_missing(dates):
    hidden = np.arange(20) == 4
    plain = np.datetime64("2020-01-01") + np.arange(20).astype("m8[D]") if dates else T
    time = np.ma.masked_array(plain, mask=hidden)
    for call in (
        lambda: Trajectories.from_arrays(CLEAN, time=time),
        lambda: Trajectories.from_arrays({"t": time, "x": CLEAN[:, 0]}),
        lambda: Trajectories.from_arrays([CLEAN], time=[time]),
    ):
        with pytest.raises(DataError, match="time is missing at row 4"):
            call()
    if not dates:
        with pytest.raises(DataError, match="time is missing at row 4"):
            Trajectories.from_arrays({"x": CLEAN[:, 0]}, time=time)


def test_masked_cells_and_coordinates_of_fields():
    values = np.ma.masked_equal(np.arange(30).reshape(5, 6), 8)
    grid = {"dims": ("x", "t"), "coords": {"x": 1.0, "t": 1.0}}
    for source in (values, values.astype(float), {"u": values}, [values], list(values)):
        with pytest.raises(DataError, match=re.escape("field 'u")) as refused:
            Field.from_arrays(source, **grid)
        assert "has 1 missing cells (NaN)" in str(refused.value)
        kept = Field.from_arrays(source, **grid, missing="keep")
        assert kept.missing == 1
        assert np.argwhere(np.isnan(kept.values[0])).tolist() == [[1, 2]]
    coordinates = np.ma.masked_equal([0.0, 1.0, SENTINEL, 3.0, 4.0], SENTINEL)
    with pytest.raises(DataError, match=re.escape("coords['x'] holds missing or infinite values.")):
        Field.from_arrays(values.data, dims=("x", "t"), coords={"x": coordinates, "t": 1.0})


def test_masked_fields_are_refused_by_a_model():
    model = Model.from_coefficients({"u_t": {"u_xx": 1.0}})
    values = np.ma.masked_equal([0.0, 1.0, SENTINEL, 3.0], SENTINEL)
    with pytest.raises(DataError, match="the field 'u' holds missing or infinite values"):
        model.rhs(values, periods=1.0)


def test_without_masked_entries_they_are_plain_arrays():
    for mask in (np.ma.nomask, np.zeros(CLEAN.shape, dtype=bool)):
        whole = np.ma.masked_array(CLEAN, mask=mask)
        data = Trajectories.from_arrays(whole, time=np.ma.masked_array(T))
        assert data.fingerprint == Trajectories.from_arrays(CLEAN, time=T).fingerprint
        assert type(data[0].states) is type(data[0].times) is np.ndarray
        surface = Field.from_arrays(whole.reshape(5, 8), dims=("x", "t"), coords={"x": 1.0, "t": 1.0})
        assert type(surface.values[0]) is np.ndarray
    problem = Problem.from_arrays(np.ma.masked_array(CLEAN), np.ma.masked_array(T))
    assert problem.fingerprint == Problem.from_arrays(CLEAN, T).fingerprint


@pytest.mark.parametrize("theta", [MASKED, list(MASKED), [list(row) for row in MASKED]])
def test_masked_entries_of_a_problem_are_refused(theta):
    with pytest.raises(ProblemError, match="theta has 1 masked entries: drop their rows, or give them weight 0"):
        Problem.from_arrays(theta, T)
    with pytest.raises(ProblemError, match="targets has 1 masked entries"):
        Problem.from_arrays(CLEAN, theta)

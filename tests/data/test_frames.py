"""Data frames, mappings and xarray objects with named columns."""

from __future__ import annotations

import sys
from datetime import datetime

import numpy as np
import pandas
import polars
import pyarrow
import pytest
import xarray

from exactsindy.data import Trajectories, as_data, by_name
from exactsindy.errors import DataError

TABLE = {"year": [1900.0, 1901.0, 1902.0], "lynx": [4.0, 6.1, 9.8], "hare": [30.0, 47.2, 70.2]}


def check(data):
    assert isinstance(data, Trajectories)
    assert (data.state_names, data.time_name) == (("lynx", "hare"), "year")
    np.testing.assert_array_equal(data[0].times, TABLE["year"])
    np.testing.assert_array_equal(data[0].states, np.column_stack((TABLE["lynx"], TABLE["hare"])))


@pytest.mark.parametrize("frame", [pandas.DataFrame(TABLE), polars.DataFrame(TABLE), pyarrow.table(TABLE), TABLE])
def test_frames(frame):
    check(Trajectories.from_arrays(frame, time="year"))
    both = Trajectories.from_arrays([frame, frame], time="year", states=("hare",), targets=("hare''",))
    assert (len(both), both.state_names, both.targets[0].name) == (2, ("hare",), "hare''")


def test_the_index_of_a_frame_and_the_only_dimension_may_be_the_time():
    frame = pandas.DataFrame(TABLE).set_index("year")
    check(Trajectories.from_arrays(frame))
    check(Trajectories.from_arrays(frame, time="year"))
    series = xarray.Dataset({"lynx": ("year", TABLE["lynx"]), "hare": ("year", TABLE["hare"])})
    check(Trajectories.from_arrays(series.assign_coords(year=TABLE["year"])))
    assert Trajectories.from_arrays(frame, time=0.5).state_names == ("lynx", "hare")
    array = xarray.DataArray([1.0, 2.0, 4.0], dims="time", coords={"time": [0.0, 1.0, 2.0]})
    assert as_data(array).state_names == ("x",)


def test_missing_entries_of_frames_become_gaps():
    column = [1, 2, None, 4, 5, 6]
    for frame in (
        pandas.DataFrame({"t": range(6), "x": pandas.array(column, dtype="Int64")}),
        polars.DataFrame({"t": range(6), "x": column}),
    ):
        with pytest.raises(DataError, match="1 value is missing or infinite, the first in 'x' at row 2"):
            Trajectories.from_arrays(frame)
        assert len(Trajectories.from_arrays(frame, gaps="split")) == 1


def test_python_dates_and_broken_dates():
    days = [datetime(2020, 1, day) for day in (1, 2, 4)]
    np.testing.assert_array_equal(Trajectories.from_arrays([1.0, 2.0, 5.0], time=days)[0].times, [0, 86400, 259200])
    with pytest.raises(DataError, match="column 'when' holds '2020-01-01' at row 0; expected numbers"):
        Trajectories.from_arrays({"when": ["2020-01-01", "soon", "2020-01-03"], "x": [1, 2, 5]}, time="when")
    with pytest.raises(DataError, match="column 'when' holds 'soon' at row 0; expected numbers"):
        Trajectories.from_arrays({"when": ["soon", "later", "2020-01-03"], "x": [1, 2, 5]}, time="when")


def test_none_is_missing():
    with pytest.raises(DataError, match="1 value is missing or infinite, the first in 'x' at row 1"):
        Trajectories.from_arrays({"t": [0, 1, 2], "x": [1, None, 5]})


def test_dates_in_frames():
    frame = pandas.DataFrame({"when": pandas.date_range("2020-01-01", periods=3, freq="h"), "x": [1, 2, 5]})
    np.testing.assert_array_equal(Trajectories.from_arrays(frame, time="when")[0].times, [0, 3600, 7200])


def test_text_in_frames_and_lazy_frames_are_refused():
    with pytest.raises(DataError, match="column 'x' holds 'b' at row 1; expected numbers"):
        Trajectories.from_arrays(pandas.DataFrame({"t": range(3), "x": ["1", "b", "2"]}))
    with pytest.raises(DataError, match=r"Cannot read a polars.*LazyFrame; expected an eager frame \(collect a lazy"):
        Trajectories.from_arrays(polars.DataFrame(TABLE).lazy(), time="year")
    with pytest.raises(DataError, match=r"column 'x' has shape \(2,\), column 't' has \(3,\); expected equal"):
        Trajectories.from_arrays({"t": [0, 1, 2], "x": [1, 2]})


@pytest.mark.parametrize(
    "frame",
    [
        pandas.DataFrame(np.ones((5, 3)), columns=["t", "x", "x"]),
        pandas.DataFrame(np.ones((5, 3)), columns=["t", 0, "0"]),
        pyarrow.table([[0, 1, 2], [1, 2, 3], [2.0, 3.0, 4.0]], names=["t", "x", "x"]),
    ],
    ids=["pandas", "number and text", "arrow"],
)
def test_two_columns_of_one_name_end_in_a_sentence(frame):
    with pytest.raises(DataError, match=r"^The (DataFrame|Table) has two columns named '[x0]'; rename or drop one"):
        as_data(frame)


def test_pandas_needs_no_narwhals(monkeypatch):
    monkeypatch.setitem(sys.modules, "narwhals", None)
    check(Trajectories.from_arrays(pandas.DataFrame(TABLE), time="year"))


@pytest.mark.parametrize("kind", ["datetime64[D]", "datetime64[ns]", "timedelta64[s]"])
def test_dates_are_no_states(kind):
    dates = np.arange(5).astype(kind)
    for source in ({"t": np.arange(5.0), "x": dates}, pandas.DataFrame({"t": np.arange(5.0), "x": dates})):
        with pytest.raises(DataError, match=r"column 'x' holds dates; expected numbers\. Leave it out, or count from"):
            as_data(source)
    with pytest.raises(DataError, match="states holds dates; expected numbers"):
        Trajectories.from_arrays(dates[:, None], time=1.0)


def test_columns_by_name_over_space_are_refused():
    grid = xarray.Dataset({"x": (("s", "t"), np.ones((3, 4)))})
    with pytest.raises(DataError, match=r"x0 has the dimensions \('s', 't'\); expected samples alone"):
        by_name(grid, ("x",), "x0")
    single = xarray.Dataset({"x": ((), 2.0), "y": ((), 3.0)})
    np.testing.assert_array_equal(by_name(single, ("y", "x"), "x0"), [3.0, 2.0])


@pytest.mark.parametrize("names", [("hare",), ["hare"], np.array(["hare"])], ids=["tuple", "list", "array"])
def test_several_tables_share_the_names_of_their_controls(names):
    both = Trajectories.from_arrays([TABLE, TABLE], time="year", controls=names)
    assert (both.state_names, both.control_names) == (("lynx",), ("hare",))
    assert Trajectories.from_arrays([TABLE, TABLE], time="year", controls=()).control_names == ()
    np.testing.assert_array_equal(both[1].controls[:, 0], TABLE["hare"])

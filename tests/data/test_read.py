"""Files of every kind, and data of any accepted kind."""

from __future__ import annotations

import re
import sys

import numpy as np
import pandas
import polars
import pytest
import xarray

from exactsindy.data import Columns, Field, Trajectories, as_data, load
from exactsindy.errors import DataError, MissingDependency

TABLE = {"year": [1900.0, 1901.0, 1902.0], "lynx": [4.0, 6.1, 9.8], "hare": [30.0, 47.2, 70.2]}
CSV = "year,lynx,hare\n1900,4.0,30\n1901,6.1,47.2\n1902,9.8,70.2\n"
X = np.random.default_rng(0).normal(size=(20, 2))


@pytest.fixture
def write(tmp_path):
    def write(text, name="data.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def check(data):
    assert isinstance(data, Trajectories)
    assert (data.state_names, data.time_name) == (("lynx", "hare"), "year")
    np.testing.assert_array_equal(data[0].times, TABLE["year"])
    np.testing.assert_array_equal(data[0].states, np.column_stack((TABLE["lynx"], TABLE["hare"])))


def test_parquet(tmp_path):
    pandas.DataFrame(TABLE).to_parquet(tmp_path / "a.parquet")
    check(load(tmp_path / "a.parquet", time="year"))


def test_npz(tmp_path):
    np.savez(tmp_path / "a.npz", **TABLE)
    check(load(tmp_path / "a.npz", time="year"))
    np.savez(tmp_path / "b.npz", t=np.arange(5.0), x=np.arange(10.0).reshape(5, 2) ** 2)
    assert load(tmp_path / "b.npz").state_names == ("x0", "x1")
    values = np.random.default_rng(0).normal(size=(4, 5))
    np.savez(tmp_path / "c.npz", x=np.arange(4.0), t=np.arange(5.0), u=values)
    data = load(tmp_path / "c.npz", dims=("x", "t"), periodic=("x",))
    assert isinstance(data, Field)
    assert (data.names, data.periods) == (("u",), (4.0,))
    np.testing.assert_array_equal(data["u"], values)
    with pytest.raises(
        DataError, match=re.escape("dims=('y', 't'): the file has no array 'y'; its arrays are x, t, u.")
    ):
        load(tmp_path / "c.npz", dims=("y", "t"))
    with pytest.raises(DataError, match="the file has no array with 3 axes"):
        load(tmp_path / "c.npz", dims=("x", "t", "u"))
    np.savez(tmp_path / "d.npz", u=np.zeros((3, 3, 3)))
    with pytest.raises(DataError, match=r"The array 'u' has shape \(3, 3, 3\); name its axes to read it as a field"):
        load(tmp_path / "d.npz")
    np.savez(tmp_path / "e.npz", x=np.array([{}], dtype=object))
    with pytest.raises(DataError, match=r"e\.npz holds Python objects, which are not read for safety; save plain"):
        load(tmp_path / "e.npz")


def test_netcdf(tmp_path):
    values = np.random.default_rng(0).normal(size=(4, 5))
    dataset = xarray.Dataset({"u": (("x", "t"), values)}, coords={"x": np.arange(4.0), "t": np.arange(5.0)})
    dataset.to_netcdf(tmp_path / "a.nc")
    data = load(tmp_path / "a.nc", periodic=("x",))
    assert isinstance(data, Field)
    np.testing.assert_array_equal(data["u"], values)
    series = xarray.Dataset({k: ("year", v) for k, v in TABLE.items() if k != "year"}, coords={"year": TABLE["year"]})
    series.to_netcdf(tmp_path / "b.nc")
    check(load(tmp_path / "b.nc", time="year"))


def test_unknown_and_absent_files(write):
    with pytest.raises(DataError, match=r"load\('nowhere.csv'\): there is no such file"):
        load("nowhere.csv")
    with pytest.raises(DataError, match=r"unknown ending '\.xyz'; expected one of \.csv, \.txt, \.tsv"):
        load(write("1", "a.xyz"))


@pytest.mark.parametrize(
    ("module", "purpose", "call"),
    [
        (
            "narwhals",
            "Reading a data frame",
            lambda path: Trajectories.from_arrays(polars.DataFrame(TABLE), time="year"),
        ),
        ("pyarrow.parquet", "Reading Parquet", lambda path: load(path.with_suffix(".parquet"))),
        ("xarray", "Reading NetCDF", lambda path: load(path.with_suffix(".nc"))),
    ],
)
def test_missing_packages_name_the_pip_line(write, monkeypatch, module, purpose, call):
    path = write("", "a.parquet")
    write("", "a.nc")
    monkeypatch.setitem(sys.modules, module, None)
    package = module.partition(".")[0]
    text = f"{purpose} needs the package {package}: pip install exactsindy[data]"
    with pytest.raises(MissingDependency, match=re.escape(text)):
        call(path)


def test_as_data_takes_everything(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("t,x\n0,1\n1,2\n2,4\n")
    data = Trajectories.from_arrays(X, time=1.0)
    assert as_data(data) is data
    assert as_data(str(path)).state_names == ("x",)
    assert as_data(X, Columns(time=1.0, states=("a", "b"))).state_names == ("a", "b")
    grid = as_data(np.random.default_rng(0).normal(size=(5, 6)), Columns(dims=("x", "t"), coords={"x": 1, "t": 1}))
    assert isinstance(grid, Field)
    assert as_data(grid) is grid


def test_gaps_takes_two_words_for_data_of_every_kind(write):
    for columns in ({"time": 1.0}, {"dims": ("x", "t"), "coords": {"x": 1, "t": 1}}):
        with pytest.raises(DataError, match="gaps='drop': expected 'refuse' or 'split'"):
            as_data(np.ones((5, 6)), Columns(**columns, gaps="drop"))
    with pytest.raises(DataError, match="gaps='drop': expected 'refuse' or 'split'"):
        load(write("t,x\n0,1\n1,2\n2,4\n", "a.csv"), gaps="drop")


def test_an_index_that_pandas_wrote_is_left_out_and_told(tmp_path):
    path = tmp_path / "indexed.csv"
    path.write_text(",t,x\n0,0.0,1.5\n1,0.1,1.4\n2,0.2,1.3\n3,0.3,1.1\n")
    data = load(path)
    assert data.state_names == ("x",)
    assert data.notices[0].message == (
        "Column '' counts the rows and has no name of its own: it is taken for an index and left out."
    )
    path.write_text(",t,x\n5.2,0.0,1.5\n1,0.1,1.4\n2,0.2,1.3\n")
    with pytest.raises(DataError, match="must be different and not empty"):
        load(path)


def test_a_decimal_comma_is_named(tmp_path):
    path = tmp_path / "comma.csv"
    path.write_text("t;x\n0,0;1,5\n0,1;1,4\n0.2;1,3\n")
    with pytest.raises(DataError, match="For a decimal comma pass decimal=','"):
        load(path)


def test_words_that_repeat_may_name_trajectories(tmp_path):
    path = tmp_path / "long.csv"
    rows = [f"run-{run},{0.1 * i:.1f},{i + run}" for run in range(2) for i in range(4)]
    path.write_text("\n".join(["experiment,time,x", *rows]))
    with pytest.raises(DataError, match="If it tells trajectories apart, pass trajectory='experiment'"):
        load(path)
    assert len(load(path, trajectory="experiment")) == 2


def test_a_column_that_is_likely_the_time_is_taken_with_a_notice(tmp_path):
    path = tmp_path / "a.csv"
    for name in ("time_h", "Time [s]", "t (ms)", "timestamp"):
        path.write_text(f"{name},x\n0,1\n1,2\n2,4\n")
        data = load(path)
        assert data.time_name == name
        assert [notice.message for notice in data.warnings] == [f"Column {name!r} is taken for the time."]
    path.write_text("time_h,time_s,x\n0,0,1\n1,1,2\n2,2,4\n")
    with pytest.raises(DataError, match="time is missing: name the time column"):
        load(path)


def test_a_column_that_may_be_the_time_is_named(tmp_path):
    file = tmp_path / "sir.csv"
    file.write_text("S,day,I\n" + "".join(f"{9 - i},{i},{i % 3}\n" for i in range(9)))
    with pytest.raises(DataError, match="name the time column, time='day' if it is 'day', which grows from row to row"):
        load(file)

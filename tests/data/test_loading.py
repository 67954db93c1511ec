from __future__ import annotations

import re
import sys
from datetime import datetime

import numpy as np
import pandas
import polars
import pyarrow
import pytest
import xarray

from exactsindy.data import Field, Trajectories, as_data, load
from exactsindy.errors import DataError, MissingDependency

TABLE = {"year": [1900.0, 1901.0, 1902.0], "lynx": [4.0, 6.1, 9.8], "hare": [30.0, 47.2, 70.2]}
CSV = "year,lynx,hare\n1900,4.0,30\n1901,6.1,47.2\n1902,9.8,70.2\n"


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


@pytest.mark.parametrize(
    "text",
    [
        CSV,
        "\ufeff# lynx and hare pelts\n" + CSV,
        CSV.replace(",", ";"),
        CSV.replace(",", "\t"),
        CSV.replace(",", "   "),
        CSV.replace(",", ", "),
        CSV.replace("\n", "\r\n"),
        CSV.replace("4.0", '"4.0"'),
    ],
    ids=["comma", "comment", "semicolon", "tab", "blanks", "comma blank", "windows", "quoted"],
)
def test_csv(write, text):
    check(load(write(text), time="year"))


def test_csv_with_decimal_commas(write):
    path = write(CSV.replace(",", ";").replace(".", ","))
    check(load(path, time="year", decimal=","))
    mixed = write("year;lynx\n1900;4,0\n1901;6\n1902;7\n")
    text = "line 2: column 'lynx' holds '4,0' among numbers. It looks like a decimal comma: pass decimal=','."
    with pytest.raises(DataError, match=re.escape(text)):
        load(mixed, time="year")


def test_csv_without_header_with_dates_and_with_groups(write):
    assert load(write("0 1 2\n1 2 3\n2 5 4\n", "a.txt"), time="c0").state_names == ("c1", "c2")
    dated = load(write("date,x\n2020-01-01,1\n2020-01-03,2\n2020-01-04,5\n"), time="date")
    np.testing.assert_array_equal(dated[0].times, [0, 172800, 259200])
    assert [notice.kind for notice in dated.warnings] == ["dates"]
    rows = "".join(f"{name},{i},{i * k},{k}\n" for k, name in enumerate("ab", 1) for i in range(4))
    groups = load(write("who,t,x,f\n" + rows), trajectory="who", controls=("f",))
    assert [member.label for member in groups] == ["a", "b"]
    assert (groups.state_names, groups.control_names) == (("x",), ("f",))
    np.testing.assert_array_equal(groups[1].states[:, 0], [0, 2, 4, 6])


def test_csv_missing_cells_are_refused_or_split(write):
    path = write("t,x\n" + "".join(f"{i},{'' if i == 4 else i}\n" for i in range(10)))
    with pytest.raises(DataError, match="1 values are missing or infinite, the first in 'x' at row 4"):
        load(path)
    assert [len(member) for member in load(path, gaps="split")] == [4, 5]


def test_chosen_columns_leave_text_alone(write):
    path = write("t,x,who\n0,1,tom\n1,2,ann\n2,3,joe\n")
    assert load(path, states=("x",)).state_names == ("x",)
    with pytest.raises(DataError, match=r"column 'who' holds .*tom.* at row 0; expected numbers. Correct or remove"):
        load(path)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "data.csv holds no rows."),
        ("t,x\n", {}, "data.csv has a header but no rows."),
        ("t,x,x\n0,1,2\n", {}, "data.csv: two columns are named 'x'; rename one of them."),
        ("t,x\n0,1\n1,2,3\n2,3\n", {}, "data.csv line 3 has 3 cells, the header has 2 (t, x)."),
        (
            "t,x\n0,1\n1,oops\n2,3\n",
            {},
            "data.csv line 3: column 'x' holds 'oops' among numbers. Correct or empty the cell.",
        ),
        (
            "a,b\n0,1\n1,2\n2,3\n",
            {},
            "time is missing: name the time column, time='...'. The columns are a, b. Or pass the step",
        ),
        ("a,b\n0,1\n1,2\n2,3\n", {"time": "q"}, "time: there is no column 'q'. Known are a, b."),
        (
            "t,x\n0,1\n1,2\n2,3\n",
            {"states": "x"},
            "states='x': expected a list of columns, e.g. states=('x',).",
        ),
        ("t,x\n0,1\n1,2\n2,3\n", {"states": ("q",)}, "states: there is no column 'q'. Known are t, x."),
        ("t\n0\n1\n2\n", {}, "No column is left for the states; the columns are t."),
        ("t,x\n0,1\n1,2\n0,3\n", {}, "time is not sorted: it goes from 1 to 0 at row 2."),
    ],
)
def test_csv_errors(write, text, options, message):
    path = write(text)
    with pytest.raises(DataError, match=re.escape(message)):
        load(path, **options)


def test_a_step_in_place_of_a_time_column(write):
    data = load(write("x\n1\n2\n4\n"), time=0.5)
    np.testing.assert_array_equal(data[0].times, [0, 0.5, 1.0])


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
        with pytest.raises(DataError, match="1 values are missing or infinite, the first in 'x' at row 2"):
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
    with pytest.raises(DataError, match="1 values are missing or infinite, the first in 'x' at row 1"):
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
    with pytest.raises(DataError, match=r"unknown ending '\.xyz'; expected \.csv, \.txt, \.tsv"):
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
def test_missing_packages_name_the_cure(write, monkeypatch, module, purpose, call):
    path = write("", "a.parquet")
    write("", "a.nc")
    monkeypatch.setitem(sys.modules, module, None)
    package = module.partition(".")[0]
    text = f"{purpose} needs the package {package}: pip install exactsindy[data]"
    with pytest.raises(MissingDependency, match=re.escape(text)):
        call(path)

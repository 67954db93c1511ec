"""Tables with one row per point or per trajectory: read where asked, and recognised where not."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import exactsindy as es
from exactsindy.errors import DataError

X, T = np.linspace(0.0, 3.0, 7), np.linspace(0.0, 1.0, 5)
U = np.sin(X)[:, None] * np.exp(-T)[None, :]


def rows(order, leave_out=()):
    cells = [(t, x, U[i, j]) for j, t in enumerate(T) for i, x in enumerate(X)]
    kept = [cells[k] for k in order if k not in leave_out]
    return "t,x,u\n" + "".join(f"{t!r},{x!r},{u!r}\n".replace("np.float64(", "").replace(")", "") for t, x, u in kept)


def test_a_field_in_a_long_table_in_any_order_and_packed(tmp_path):
    order = np.random.default_rng(0).permutation(X.size * T.size)
    (tmp_path / "long.csv.gz").write_bytes(gzip.compress(rows(order).encode()))
    field = es.load(tmp_path / "long.csv.gz", dims=("x", "t"))
    assert field.dims == ("x", "t")
    np.testing.assert_array_equal(field["u"], U)


def test_points_without_a_row_are_missing(tmp_path):
    (tmp_path / "long.csv").write_text(rows(range(X.size * T.size), leave_out=(3, 11)))
    with pytest.raises(DataError, match="2 missing cells"):
        es.load(tmp_path / "long.csv", dims=("x", "t"))
    assert es.load(tmp_path / "long.csv", dims=("x", "t"), gaps="split").missing == 2


@pytest.mark.parametrize(
    ("text", "dims", "message"),
    [
        ("t,x,u\n0,0,1\n0,0,2\n1,0,3\n1,1,3\n", ("x", "t"), "several rows are about x = 0, t = 0; expected one row"),
        ("t,x,u\n0,0,1\n1,1,2\n2,2,3\n3,3,3\n4,4,3\n", ("x", "t"), "5 x 5 points for 5 rows: this is no grid"),
        ("t,x,u\n0,0,1\n", ("y", "t"), "the table has no column 'y'"),
    ],
)
def test_what_is_no_grid_is_said(text, dims, message, tmp_path):
    (tmp_path / "long.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        es.load(tmp_path / "long.csv", dims=dims)


def test_a_long_table_without_dims_says_how_to_read_it(tmp_path):
    (tmp_path / "long.csv").write_text(rows(range(X.size * T.size)))
    with pytest.raises(DataError, match=r"with the same points of x: for a field pass dims=\('x', 't'\)\."):
        es.load(tmp_path / "long.csv")


def test_a_column_that_tells_trajectories_apart_is_named(tmp_path):
    table = "run,t,x\n" + "".join(f"{run},{t},{np.cos(t + run):.6f}\n" for run in range(3) for t in range(9))
    (tmp_path / "runs.csv").write_text(table)
    with pytest.raises(DataError, match=r"changes wherever the time goes back: pass trajectory='run'\."):
        es.load(tmp_path / "runs.csv")
    assert len(es.load(tmp_path / "runs.csv", trajectory="run")) == 3


def test_an_array_with_axes_beside_it_is_a_field(tmp_path):
    np.savez(tmp_path / "field.npz", u=U, x=X, t=T)
    with pytest.raises(DataError, match=r"its axes may be x and t: to read a field pass dims=\('x', 't'\)\."):
        es.load(tmp_path / "field.npz")
    assert es.load(tmp_path / "field.npz", dims=("x", "t")).shape == (7, 5)


def test_a_series_keeps_its_name_and_index():
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(np.cos(T), index=pandas.Index(T, name="time"), name="pos")
    data = es.Trajectories.from_arrays(series)
    assert (data.state_names, data.time_name) == (("pos",), "time")
    two = es.Trajectories.from_arrays([series, series])
    assert [len(member) for member in two] == [5, 5]

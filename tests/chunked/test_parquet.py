"""Parquet data sets that are read row group by row group."""

from __future__ import annotations

import numpy as np
import pytest

import exactsindy as es
from exactsindy.chunked import parquet as module
from exactsindy.errors import DataError
from pieced_data import trajectories, write_parquet

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as parquet  # noqa: E402


def write(path, columns, **options):
    parquet.write_table(pa.table(columns), path, **options)


def test_names_and_sizes(tmp_path):
    write_parquet(trajectories((300, 200)), tmp_path)
    pieces = es.scan_parquet(str(tmp_path / "*.parquet"), time="time", trajectory="run", controls=("y",))
    assert repr(pieces) == "Pieces(x; 500 samples; 1 pieces)"
    assert pieces.head.control_names == ("y",)
    assert pieces.head.time_name == "time"


def test_dates_are_counted_from_the_same_moment_in_all_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PIECE_BYTES", 16 * 100)
    start = np.datetime64("2026-01-01T00:00:00", "ms")
    write(
        tmp_path / "a.parquet",
        {"time": start + np.arange(400) * np.timedelta64(10, "ms"), "x": np.cos(np.arange(400) * 0.01)},
        row_group_size=100,
    )
    pieces = es.scan_parquet(tmp_path, time="time")
    times = np.concatenate([piece.read().data[0].times for piece in pieces.unread((0, 0))])
    np.testing.assert_allclose(np.diff(times), 0.01, atol=1e-6)


def test_a_trajectory_behind_the_last_rows_of_another_one_is_new(tmp_path, monkeypatch):
    """The last two rows of the first trajectory are too few to be read by themselves: nothing goes on from them."""
    monkeypatch.setattr(module, "PIECE_BYTES", 16 * 100)
    runs = np.repeat([1, 2], [102, 98])
    times = np.concatenate([np.arange(102.0), np.arange(98.0)])
    columns = {"time": times, "run": runs, "x": np.cos(0.1 * np.arange(200))}
    write(tmp_path / "a.parquet", columns, row_group_size=100)
    pieces = es.scan_parquet(tmp_path, time="time", trajectory="run")
    read = [piece.read() for piece in pieces.unread((0, 1))]
    assert [(len(piece.data[0].times), piece.goes_on) for piece in read] == [(101, False), (98, False)]
    assert [piece.read().goes_on for piece in pieces.unread((2, 1))] == [False, True]


@pytest.mark.parametrize(
    "columns, arguments, text",
    [
        ({"s": [1.0, 2.0, 3.0]}, {}, "No column of s is called t or time"),
        ({"t": [1.0, 2.0, 3.0]}, {}, "no column of numbers beside the time"),
        ({"t": [1.0, 2.0, 3.0], "x": [1.0, 2.0, 3.0]}, {"states": ("z",)}, "states: there is no column 'z'"),
        ({"t": [1.0, 2.0, 3.0], "x": [1.0, None, 3.0]}, {}, "column 'x' has a missing or infinite value in row 1"),
        ({"t": [1.0, 3.0, 2.0], "x": [1.0, 2.0, 3.0]}, {}, "rows 0 to 3: "),
        (
            {"t": [1.0, 2.0, 3.0, 4.0], "run": [1, 2, 2, 1], "x": [1.0] * 4},
            {"trajectory": "run"},
            "rows of run = 1 come again",
        ),
    ],
)
def test_what_cannot_be_read_is_said(columns, arguments, text, tmp_path):
    write(tmp_path / "a.parquet", columns)
    with pytest.raises(DataError, match=text):
        es.scan_parquet(tmp_path / "a.parquet", **arguments)


def test_files_that_are_none(tmp_path):
    with pytest.raises(DataError, match="no file matches"):
        es.scan_parquet(tmp_path / "*.parquet")
    with pytest.raises(DataError, match="there is no such file"):
        es.scan_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(DataError, match="this is no Parquet file that can be read"):
        es.scan_parquet(tmp_path / "a.parquet")


def test_files_with_other_columns(tmp_path):
    write(tmp_path / "a.parquet", {"t": [1.0, 2.0, 3.0], "x": [1.0, 2.0, 3.0]})
    write(tmp_path / "b.parquet", {"t": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 3.0]})
    with pytest.raises(DataError, match=r"b.parquet': its columns differ from those of .*a.parquet'"):
        es.scan_parquet(tmp_path)


def test_row_groups_that_are_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MOST_PIECE_BYTES", 16 * 50)
    monkeypatch.setattr(module, "PIECE_BYTES", 16 * 40)
    write(tmp_path / "a.parquet", {"t": np.arange(100.0), "x": np.arange(100.0)})
    with pytest.raises(DataError, match="write the file with row_group_size=40"):
        es.scan_parquet(tmp_path)

"""Rows survive a round trip, a crash and a second run."""

import math
from dataclasses import dataclass

import pytest

from exactsindy.errors import DataError
from exactsindy_experiments.results import Table, read_rows, write_rows


@dataclass(frozen=True)
class Case:
    solver: str
    size: int


@dataclass(frozen=True)
class Timing:
    case: Case
    seconds: float
    right: bool | None
    note: str = ""

    @property
    def key(self):
        return self.case


def table(folder):
    return Table(folder / "deep" / "timings.csv", Timing)


ROWS = [
    Timing(Case("native", 3), 0.1 + 0.2, True),
    Timing(Case("peer, of some kind", 3), math.inf, False, 'said "no", twice'),
    Timing(Case("native", 4), 1e-300, None, "two\nlines"),
]


def test_round_trip(tmp_path):
    first = table(tmp_path)
    assert len(first) == 0
    for row in ROWS:
        first.append(row)
    again = table(tmp_path)
    assert list(again)[:2] == ROWS[:2]
    assert again.find(Case("native", 4)) == Timing(Case("native", 4), 1e-300, None, "two lines")
    assert again.find(Case("native", 5)) is None


def test_nan_comes_back(tmp_path):
    table(tmp_path).append(Timing(Case("native", 1), math.nan, None))
    assert math.isnan(table(tmp_path).find(Case("native", 1)).seconds)


def test_of_equal_keys_the_last_counts(tmp_path):
    for seconds in (2.0, 1.0):
        table(tmp_path).append(Timing(Case("native", 3), seconds, True))
    assert [row.seconds for row in table(tmp_path)] == [1.0]


def test_a_torn_last_line_is_cut_off(tmp_path):
    whole = table(tmp_path)
    for row in ROWS[:2]:
        whole.append(row)
    with whole.path.open("a") as file:
        file.write("native,9,0.12")
    again = table(tmp_path)
    assert list(again) == ROWS[:2]
    again.append(ROWS[0])
    assert len(whole.path.read_text().splitlines()) == 4


def test_a_torn_header_starts_anew(tmp_path):
    path = tmp_path / "deep" / "timings.csv"
    path.parent.mkdir()
    path.write_text("solver,si")
    table(tmp_path).append(ROWS[0])
    assert list(table(tmp_path)) == ROWS[:1]


def test_other_columns_are_refused(tmp_path):
    path = tmp_path / "deep" / "timings.csv"
    path.parent.mkdir()
    path.write_text("solver,size\nnative,3\n")
    with pytest.raises(DataError, match=r"timings.csv has the columns solver, size; expected solver, size, sec.*move"):
        table(tmp_path)
    path.write_text("solver,size,seconds,right,note\nnative,3\n")
    with pytest.raises(DataError, match=r"path: line 2 of timings.csv has 2 cells; expected 5"):
        table(tmp_path)


def test_a_file_of_something_else_is_neither_read_nor_touched(tmp_path):
    path = tmp_path / "picture.png"
    path.write_bytes(b"\x89PNG\n\xff\x00 and no end")
    with pytest.raises(DataError, match=r"path: picture.png has the columns .*Give another name"):
        Table(path, Timing)
    assert path.read_bytes() == b"\x89PNG\n\xff\x00 and no end"


@pytest.mark.parametrize("name", ["r.csv", "r.csv.xz"])
def test_rows_are_written_and_read_compressed_or_not(tmp_path, name):
    write_rows(tmp_path / name, ROWS, Timing, without=("note",), digits={"seconds": 7})
    rows = read_rows(tmp_path / name, Timing)
    assert [row.case for row in rows] == [row.case for row in ROWS]
    assert [row.right for row in rows] == [True, False, None]
    assert rows[0].seconds == 0.3
    assert {row.note for row in rows} == {""}


@pytest.mark.parametrize("content", ["a,b\n1,2\n", "", b"\xff\xfe\x00", "solver,size,seconds,right\nnative,3\n"])
def test_a_spoilt_file_has_no_rows(tmp_path, content):
    (tmp_path / "r.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=r"rows: r\.csv is not a table of results"):
        read_rows(tmp_path / "r.csv", Timing)
    with pytest.raises(DataError, match=r"rows: there is no file '.*none.csv'"):
        read_rows(tmp_path / "none.csv", Timing)

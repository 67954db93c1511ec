"""Rows survive a round trip, a crash and a second run."""

import math
from dataclasses import dataclass

import pytest

from exactsindy.errors import DataError
from exactsindy_experiments import Table


@dataclass(frozen=True)
class Timing:
    solver: str
    size: int
    seconds: float
    right: bool | None
    note: str = ""


def table(folder):
    return Table(folder / "deep" / "timings.csv", Timing, ("solver", "size"))


ROWS = [
    Timing("native", 3, 0.1 + 0.2, True),
    Timing("peer, of some kind", 3, math.inf, False, 'said "no", twice'),
    Timing("native", 4, 1e-300, None, "two\nlines"),
]


def test_round_trip(tmp_path):
    first = table(tmp_path)
    assert len(first) == 0
    for row in ROWS:
        first.append(row)
    again = table(tmp_path)
    assert list(again)[:2] == ROWS[:2]
    assert again.find("native", 4) == Timing("native", 4, 1e-300, None, "two lines")
    assert again.find("native", 5) is None


def test_nan_comes_back(tmp_path):
    table(tmp_path).append(Timing("native", 1, math.nan, None))
    assert math.isnan(table(tmp_path).find("native", 1).seconds)


def test_of_equal_keys_the_last_counts(tmp_path):
    for seconds in (2.0, 1.0):
        table(tmp_path).append(Timing("native", 3, seconds, True))
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
    with pytest.raises(DataError, match=r"timings.csv has the columns solver, size; expected solver, size, sec.*Move"):
        table(tmp_path)
    path.write_text("solver,size,seconds,right,note\nnative,3\n")
    with pytest.raises(DataError, match=r"path: line 2 of timings.csv has 2 cells; expected 5"):
        table(tmp_path)

"""The store keeps what it was given; rows of earlier reports and of SQLite stores are taken over."""

import sqlite3
from dataclasses import astuple, replace

import pytest

from exactsindy.errors import DataError
from exactsindy_experiments.paper import Case, Outcome, Result, take_rows
from exactsindy_experiments.results import Table, columns, write_rows

CASE = Case("weak", "roessler", "published", "exact", 3, 50.0, 0.1 + 0.2, 7)
OTHER = replace(CASE, algorithm="ssr", noise=0.25)
FULL = Outcome(
    terms=20, tp=6, fp=1, fn=1, tpr=0.75, exact=False, coef_l2=0.125, proved=True, margin=None, choice='{"k": [2]}'
)


def store(folder, *rows):
    table = Table(folder / "r.csv", Result)
    if rows:
        table.append(*rows)
    return table


def test_rows_come_back(tmp_path):
    store(tmp_path, Result(CASE, FULL))
    again = store(tmp_path)
    assert again.find(CASE).outcome == FULL
    assert list(again) == [(CASE, FULL)]
    assert again.find(Case("weak", "roessler", "ours", "exact", 3, 50.0, 0.3, 7)) is None


def test_the_last_row_of_a_case_counts(tmp_path):
    store(tmp_path, Result(CASE, Outcome(error="ValueError: no")))
    store(tmp_path, Result(CASE, FULL))
    assert list(store(tmp_path)) == [(CASE, FULL)]


@pytest.mark.parametrize("name", ["report.csv", "report.csv.xz"])
def test_rows_of_a_report_do_not_replace_those_of_the_store(tmp_path, name):
    failed = replace(OTHER, trial=8)
    rows = [Result(CASE, Outcome(tpr=0.25)), Result(OTHER, FULL), Result(failed, Outcome(error="ValueError: a, b"))]
    write_rows(tmp_path / name, rows, Result, without=("model",), digits={"tpr": 7})
    store(tmp_path, Result(CASE, FULL))
    assert take_rows(tmp_path / "r.csv", tmp_path / name) == 2
    kept = dict(store(tmp_path))
    assert kept == {CASE: FULL, OTHER: FULL, failed: Outcome(error="ValueError: a, b")}


def test_a_spoilt_report_adds_nothing(tmp_path):
    write_rows(tmp_path / "report.csv", [Result(CASE, FULL)], Result)
    with (tmp_path / "report.csv").open("a") as file:
        file.write("weak,roessler\n")  # a good row, then one cut short
    with pytest.raises(DataError, match=r"rows: report\.csv is not a table of results"):
        take_rows(tmp_path / "r.csv", tmp_path / "report.csv")
    assert len(store(tmp_path)) == 0


def test_stores_of_earlier_versions_are_taken_over(tmp_path):
    names = columns(Result)
    with sqlite3.connect(tmp_path / "old.sqlite") as db:
        db.execute(f"CREATE TABLE results ({', '.join(names)})")
        db.execute(f"INSERT INTO results VALUES ({', '.join('?' * len(names))})", astuple(CASE) + astuple(FULL))
    db.close()
    assert take_rows(tmp_path / "r.csv", tmp_path / "old.sqlite") == 1
    assert store(tmp_path).find(CASE).outcome == FULL
    with pytest.raises(DataError, match=r"old.sqlite .*Give another name"):
        Table(tmp_path / "old.sqlite", Result)


def test_other_columns_are_refused(tmp_path):
    (tmp_path / "r.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"r.csv has the columns a, b; expected experiment, system"):
        store(tmp_path)

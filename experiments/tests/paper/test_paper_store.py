"""The store keeps what it was given, and says what it cannot read."""

import sqlite3

import pytest

from exactsindy.errors import DataError
from exactsindy_experiments.paper import Case, Outcome, Store

CASE = Case("weak", "roessler", "published", "exact", 3, 50.0, 0.1 + 0.2, 7)
FULL = Outcome(
    terms=20, tp=6, fp=1, fn=1, tpr=0.75, exact=False, coef_l2=0.125, proved=True, margin=None, choice='{"k": [2]}'
)


def test_rows_come_back(tmp_path):
    with Store(tmp_path / "new" / "r.sqlite") as store:
        store.add(CASE, FULL)
    with Store(tmp_path / "new" / "r.sqlite") as store:
        assert store.find(CASE) == FULL
        assert list(store) == [(CASE, FULL)]
        assert store.find(Case("weak", "roessler", "ours", "exact", 3, 50.0, 0.3, 7)) is None


def test_the_last_row_of_a_case_counts(tmp_path):
    with Store(tmp_path / "r.sqlite") as store:
        store.add(CASE, Outcome(error="ValueError: no"))
        assert store.known() == {CASE.key}
        assert store.known(failed=False) == set()
        store.add(CASE, FULL)
        assert len(store) == 1
        assert store.known(failed=False) == {CASE.key}


def test_csv_and_back(tmp_path):
    failed = Case("weak", "roessler", "published", "ssr", 3, 50.0, 0.25, 7)
    with Store(tmp_path / "a.sqlite") as store, Store(tmp_path / "b.sqlite") as other:
        store.add(CASE, FULL)
        store.add(failed, Outcome(error="ValueError: a, b"))
        store.to_csv(tmp_path / "r.csv")
        other.read_csv(tmp_path / "r.csv")
        rows = dict(other)
    assert rows[failed].error == "ValueError: a, b"
    assert rows[CASE] == FULL


def test_rows_of_a_table_do_not_replace_those_of_the_store(tmp_path):
    other = Case("weak", "roessler", "published", "ssr", 3, 50.0, 0.25, 7)
    with Store(tmp_path / "a.sqlite") as first, Store(tmp_path / "b.sqlite") as second:
        first.add(CASE, Outcome(tpr=0.25))
        first.add(other, Outcome(tpr=0.5))
        first.to_csv(tmp_path / "r.csv")
        second.add(CASE, FULL)
        assert second.read_csv(tmp_path / "r.csv") == 1
        assert second.find(CASE) == FULL
        assert second.find(other).tpr == 0.5


@pytest.mark.parametrize("spoil", ["a,b\n1,2\n", "", b"\xff\xfe\x00", "more"])
def test_a_spoilt_table_adds_nothing(tmp_path, spoil):
    table = tmp_path / "r.csv"
    with Store(tmp_path / "a.sqlite") as store:
        store.add(CASE, FULL)
        store.to_csv(table)
    if spoil == "more":  # a good row, then one cut short
        table.write_text(table.read_text() + "weak,roessler\n")
    else:
        table.write_bytes(spoil if isinstance(spoil, bytes) else spoil.encode())
    with Store(tmp_path / "b.sqlite") as store:
        with pytest.raises(DataError, match=r"rows: r\.csv is not a table of results"):
            store.read_csv(table)
        assert len(store) == 0


def test_other_files_are_refused(tmp_path):
    (tmp_path / "text").write_text("no database at all, but quite long enough to be one" * 40)
    with pytest.raises(DataError, match="store: text is not a store of results"):
        Store(tmp_path / "text")
    db = sqlite3.connect(tmp_path / "old.sqlite")
    db.execute("CREATE TABLE results (a, b)")
    db.close()
    with pytest.raises(DataError, match=r"store: old.sqlite has the columns a, b; expected experiment, system"):
        Store(tmp_path / "old.sqlite")

"""Results in an SQLite file: a row is there as soon as it is known, and stays there whatever happens next."""

from __future__ import annotations

import csv
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from exactsindy.errors import DataError
from exactsindy_experiments.paper.records import Case, Outcome

_CASE = [field.name for field in fields(Case)]
_OUTCOME = [field.name for field in fields(Outcome)]
_FLAGS = ("exact", "proved", "exact_at_true_k")


class Store:
    """The table of results, one row per case; every row is its own transaction.

    Parameters
    ----------
    path
        The file, created with its folder if it is not there.

    Examples
    --------
    >>> import tempfile
    >>> case = Case("weak", "roessler", "published", "exact", 3, 50.0, 0.01, 1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(Path(folder, "results.sqlite")) as store:
    ...         store.add(case, Outcome(tpr=1.0, exact=True))
    ...     with Store(Path(folder, "results.sqlite")) as store:
    ...         store.find(case).exact
    True
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._db = sqlite3.connect(self.path, timeout=60.0)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            columns = ", ".join([*_CASE, *_OUTCOME])
            with self._db:
                self._db.execute(f"CREATE TABLE IF NOT EXISTS results ({columns}, PRIMARY KEY ({', '.join(_CASE)}))")
            found = [row[1] for row in self._db.execute("PRAGMA table_info(results)")]
        except sqlite3.DatabaseError as error:
            raise DataError(
                f"store: {self.path.name} is not a store of results ({error}); give another file or a new name."
            ) from error
        if found != [*_CASE, *_OUTCOME]:
            raise DataError(
                f"store: {self.path.name} has the columns {', '.join(found)}; expected {columns}. It was written by "
                "another version: give a new name."
            )

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exception: object) -> None:
        self._db.close()

    def __len__(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM results").fetchone()[0])

    def __iter__(self) -> Iterator[tuple[Case, Outcome]]:
        order = ", ".join(_CASE)
        for row in self._db.execute(f"SELECT * FROM results ORDER BY {order}").fetchall():
            yield Case(*row[: len(_CASE)]), _outcome(row[len(_CASE) :])

    def add(self, case: Case, outcome: Outcome) -> None:
        """Write a row; an older one of the same case is replaced."""
        with self._db:
            self._insert(case, outcome)

    def find(self, case: Case) -> Outcome | None:
        """Return the outcome of a case, or None."""
        where = " AND ".join(f"{name} = ?" for name in _CASE)
        row = self._db.execute(f"SELECT {', '.join(_OUTCOME)} FROM results WHERE {where}", case.key).fetchone()
        return None if row is None else _outcome(row)

    def known(self, *, failed: bool = True) -> set[tuple[Any, ...]]:
        """Return the keys of the cases that have a row, with those that failed or without."""
        where = "" if failed else " WHERE error = ''"
        return set(self._db.execute(f"SELECT {', '.join(_CASE)} FROM results{where}"))

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write all rows as CSV, results to 7 digits and without the model's coefficients."""
        columns = [*_CASE, *(name for name in _OUTCOME if name != "model")]
        target = Path(path)
        temporary = target.with_name(target.name + ".part")
        with temporary.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            for case, outcome in self:
                known = [_cell(getattr(outcome, name)) for name in columns[len(_CASE) :]]
                writer.writerow([*case.key, *known])
        os.replace(temporary, target)

    def read_csv(self, path: str | os.PathLike[str]) -> int:
        """Add the rows of a file that `to_csv` wrote, all or none, but for cases that have a row; return how many.

        Raises
        ------
        DataError
            If the file is not there or not such a file.
        """
        present, added = self.known(), 0
        try:
            with Path(path).open(newline="", encoding="utf-8") as file, self._db:
                table = csv.DictReader(file)
                if absent := set(_CASE) - set(table.fieldnames or ()):
                    raise ValueError(f"no column {', '.join(sorted(absent))}")
                for row in table:
                    case = Case(**{name: _value(Case, name, row[name]) for name in _CASE})
                    if case.key not in present:
                        known = {name: _value(Outcome, name, row[name]) for name in _OUTCOME if name in row}
                        self._insert(case, Outcome(**known))
                        added += 1
        except FileNotFoundError as error:
            raise DataError(f"rows: there is no file {os.fspath(path)!r}.") from error
        except (KeyError, ValueError, TypeError, OSError) as error:
            raise DataError(
                f"rows: {Path(path).name} is not a table of results ({type(error).__name__}: {error}); expected the "
                "results.csv of a report."
            ) from error
        return added

    def _insert(self, case: Case, outcome: Outcome) -> None:
        values = [getattr(case, name) for name in _CASE] + [getattr(outcome, name) for name in _OUTCOME]
        self._db.execute(f"INSERT OR REPLACE INTO results VALUES ({', '.join('?' * len(values))})", values)


def _outcome(row: tuple[Any, ...]) -> Outcome:
    values = dict(zip(_OUTCOME, row, strict=True))
    for name in _FLAGS:
        if values[name] is not None:
            values[name] = bool(values[name])
    return Outcome(**values)


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return int(value)
    return f"{value:.7g}" if isinstance(value, float) else value


def _value(record: type, name: str, text: str) -> Any:
    kind = {field.name: str(field.type) for field in fields(record)}[name]
    if text == "" and "None" in kind:
        return None
    if kind.startswith("bool"):
        return text == "1"
    return {"int": int, "flo": float}.get(kind[:3], str)(text)

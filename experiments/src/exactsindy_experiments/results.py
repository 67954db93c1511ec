"""Result rows in a CSV file that survives interruption."""

from __future__ import annotations

import csv
import io
import lzma
import os
import sqlite3
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, get_args, get_type_hints

from exactsindy._atomic import write_atomically
from exactsindy.errors import DataError


class Record(Protocol):
    """A frozen row: fields of type str, int, float, bool, one of these or None, or records of such fields."""

    @property
    def key(self) -> object:
        """What identifies the row."""


Row = TypeVar("Row", bound=Record)


class Table(Generic[Row]):
    """A CSV file of rows, read when opened and appended row by row.

    A record inside a row becomes columns of its own. Each row is one write to a file opened for appending, flushed to
    disk; a last line torn by a crash is cut off when the file is opened again. Of rows with equal keys the last counts.

    Parameters
    ----------
    path
        The file; created with its folder when the first row is appended.
    row
        The type of the rows: a dataclass or named tuple with a property ``key``.

    Examples
    --------
    >>> import tempfile
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Timing:
    ...     solver: str
    ...     seconds: float
    ...     key = property(lambda self: self.solver)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Table(Path(folder, "t.csv"), Timing).append(Timing("native", 0.5))
    ...     Table(Path(folder, "t.csv"), Timing).find("native")
    Timing(solver='native', seconds=0.5)
    """

    def __init__(self, path: str | os.PathLike[str], row: type[Row]) -> None:
        self.path, self._row, self._names = Path(path), row, columns(row)
        self._rows: dict[object, Row] = {}
        if self.path.exists():
            self._read()

    def __iter__(self) -> Iterator[Row]:
        return iter(list(self._rows.values()))

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, key: object) -> Row | None:
        """Return the row with this key, or None."""
        return self._rows.get(key)

    def append(self, *rows: Row) -> None:
        """Add rows to the file, in one write, and keep them."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = "" if self.path.exists() and self.path.stat().st_size else _line(self._names)
        text += "".join(_line([_format(value) for value in leaves(row)]) for row in rows)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            left = memoryview(text.encode())
            while left:  # a long text may take several writes
                left = left[os.write(descriptor, left) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        self._rows.update((row.key, row) for row in rows)

    def _read(self) -> None:
        data = self.path.read_bytes()
        head = _line(self._names).encode()
        if not (data.startswith(head) or head.startswith(data)):
            first = data.partition(b"\n")[0].decode(errors="replace")
            raise DataError(
                f"path: {self.path.name} has the columns {', '.join(first[:400].split(','))}; "
                f"expected {', '.join(self._names)}. Give another name, or move the old file away to start a new one."
            )
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            os.truncate(self.path, len(whole))
        lines = _reader(whole)
        next(lines, None)
        for number, cells in enumerate(lines, start=2):
            if len(cells) != len(self._names):
                raise DataError(
                    f"path: line {number} of {self.path.name} has {len(cells)} cells; expected {len(self._names)}."
                )
            row = _build(self._row, dict(zip(self._names, cells, strict=True)))
            self._rows[row.key] = row


def read_rows(path: str | os.PathLike[str], row: type[Row]) -> list[Row]:
    """Return the rows of a file: CSV, CSV compressed by xz (``.csv.xz``), or an SQLite table named ``results``.

    Columns may be missing if their fields have defaults.

    Raises
    ------
    DataError
        If the file is not there or not such a file.
    """
    source = Path(path)
    try:
        data = source.read_bytes()
        if data.startswith(b"SQLite format 3"):
            lines = _sqlite(source)
        else:
            lines = _reader(lzma.decompress(data) if source.suffix == ".xz" else data)
        header = next(lines, [])
        if not header or not set(header) <= set(columns(row)):
            raise ValueError(f"the columns are {', '.join(header) or 'none'}")
        return [_build(row, dict(zip(header, cells, strict=True))) for cells in lines]
    except FileNotFoundError as error:
        raise DataError(f"rows: there is no file {os.fspath(path)!r}.") from error
    except (ValueError, TypeError, OSError, lzma.LZMAError, sqlite3.Error) as error:
        raise DataError(
            f"rows: {source.name} is not a table of results ({type(error).__name__}: {error}); expected columns among "
            f"{', '.join(columns(row))}."
        ) from error


def write_rows(
    path: str | os.PathLike[str],
    rows: Iterable[Row],
    row: type[Row],
    *,
    without: Sequence[str] = (),
    digits: Mapping[str, int] | None = None,
) -> None:
    """Write rows as CSV, compressed if the name ends in ``.xz``.

    ``without`` names columns that are left out, ``digits`` those that are rounded; what identifies a row must not be.
    """
    names, rounded = columns(row), digits or {}
    kept = [i for i, name in enumerate(names) if name not in without]
    text = io.StringIO()
    text.write(_line([names[i] for i in kept]))
    for member in rows:
        values = leaves(member)
        text.write(_line([_format(values[i], rounded.get(names[i], 17)) for i in kept]))
    data = text.getvalue().encode()
    write_atomically(path, lzma.compress(data, preset=9) if Path(path).suffix == ".xz" else data)


@cache
def _fields(record: Any) -> Mapping[str, Any]:
    return get_type_hints(record)


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and kind not in (str, int, float, bool)


def columns(record: type) -> list[str]:
    """Return the names of the columns of a record, those of its records included."""
    return [
        name for field, kind in _fields(record).items() for name in (columns(kind) if _is_record(kind) else [field])
    ]


def leaves(record: object) -> list[object]:
    """Return the values of the columns of a record."""
    values: list[object] = []
    record_type: Any = type(record)
    for name, kind in _fields(record_type).items():
        value = getattr(record, name)
        values += leaves(value) if _is_record(kind) else [value]
    return values


def _build(record: Any, cells: Mapping[str, str]) -> Any:
    values = {}
    for name, nested, convert in _plan(record):
        if nested:
            values[name] = _build(nested, cells)
        elif name in cells:
            values[name] = convert(cells[name])
    return record(**values)


@cache
def _plan(record: Any) -> list[tuple[str, Any, Callable[[str], object]]]:
    """Return name, record type and parser of every field."""
    return [(name, kind if _is_record(kind) else None, _parser(kind)) for name, kind in _fields(record).items()]


def _sqlite(path: Path) -> Iterator[list[str]]:
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as store:
        cursor = store.execute("SELECT * FROM results")
        yield [column[0] for column in cursor.description]
        for row in cursor:
            yield [_format(value) for value in row]


def _reader(data: bytes) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(data.decode(), newline=""))


def _line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _format(value: object, digits: int = 17) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and digits < 17:
        return f"{value:.{digits}g}"
    # One line per row, whatever a message contains: a torn line must be recognisable.
    return " ".join(str(value).split("\n"))


def _parser(kind: Any) -> Callable[[str], object]:
    if isinstance(kind, types.UnionType):
        parse = _parser(next(option for option in get_args(kind) if option is not type(None)))
        return lambda cell: None if cell == "" else parse(cell)
    return (lambda cell: cell in ("True", "1")) if kind is bool else kind

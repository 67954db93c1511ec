"""Result rows in a CSV file that survives interruption."""

from __future__ import annotations

import csv
import io
import os
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Generic, TypeVar, get_args, get_type_hints

from exactsindy.errors import DataError

Row = TypeVar("Row")


class Table(Generic[Row]):
    """A CSV file of frozen dataclass rows, read when opened and appended row by row.

    Each row is one write to a file opened for appending, flushed to disk; a last line torn by a crash is cut
    off when the file is opened again. Of rows with equal keys the last one counts.

    Parameters
    ----------
    path
        The file; created with its folder when the first row is appended.
    row
        The dataclass: fields of type str, int, float or bool, or one of these or None (an empty cell).
    key
        Names of the fields that identify a row.

    Examples
    --------
    >>> import tempfile
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Timing:
    ...     solver: str
    ...     seconds: float
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Table(Path(folder, "t.csv"), Timing, ("solver",)).append(Timing("native", 0.5))
    ...     Table(Path(folder, "t.csv"), Timing, ("solver",)).find("native")
    Timing(solver='native', seconds=0.5)
    """

    def __init__(self, path: Path, row: Callable[..., Row], key: Sequence[str]) -> None:
        self.path, self._row, self._key = Path(path), row, tuple(key)
        self._names = [field.name for field in fields(row)]  # type: ignore[arg-type]
        self._types = get_type_hints(row)
        self._rows: dict[tuple[object, ...], Row] = {}
        if self.path.exists():
            self._read()

    def __iter__(self) -> Iterator[Row]:
        return iter(list(self._rows.values()))

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, *key: object) -> Row | None:
        """Return the row with these key values, or None."""
        return self._rows.get(key)

    def append(self, row: Row) -> None:
        """Add a row to the file and keep it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        text = "" if self.path.exists() and self.path.stat().st_size else _line(self._names)
        text += _line([_format(getattr(row, name)) for name in self._names])
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, text.encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        self._remember(row)

    def _remember(self, row: Row) -> None:
        self._rows[tuple(getattr(row, name) for name in self._key)] = row

    def _read(self) -> None:
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            os.truncate(self.path, len(whole))
        lines = csv.reader(io.StringIO(whole.decode()))
        header = next(lines, self._names)
        if header != self._names:
            raise DataError(
                f"path: {self.path.name} has the columns {', '.join(header)}; "
                f"expected {', '.join(self._names)}. Move the old file away to start a new one."
            )
        for number, cells in enumerate(lines, start=2):
            if len(cells) != len(self._names):
                raise DataError(
                    f"path: line {number} of {self.path.name} has {len(cells)} cells; expected {len(self._names)}."
                )
            values = zip(self._names, cells, strict=True)
            self._remember(self._row(**{name: _parse(cell, self._types[name]) for name, cell in values}))


def _line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _format(value: object) -> str:
    # One line per row, whatever a message contains: a torn line must be recognisable.
    return "" if value is None else " ".join(str(value).split("\n"))


def _parse(cell: str, kind: Any) -> object:
    if isinstance(kind, types.UnionType):
        if cell == "":
            return None
        kind = next(option for option in get_args(kind) if option is not type(None))
    if kind is bool:
        return cell == "True"
    return kind(cell)

"""Numbers from text files with columns, with errors that name the cell."""

from __future__ import annotations

import codecs
import csv
import re
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy._files import reason, regular_file, shown
from exactsindy._types import Array
from exactsindy.data.notice import Notice
from exactsindy.errors import DataError, listed, repeated

# Byte order marks; that of UTF-32 starts with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Windows-1252 is Latin-1 with more letters; five bytes have no meaning in it, every byte has one in Latin-1.
_LATIN = ("cp1252", "latin-1")
# Number of bytes at the start that tell UTF-16 without a mark; even, and some rows of any table.
_HEAD = 4096
_MISSING = {"", "nan", "na", "n/a", "null", "none", "missing", "-"}


def read_csv(path: Path, *, decimal: str = ".") -> tuple[dict[str, NDArray[Any]], tuple[Notice, ...]]:
    """Return the columns of a CSV file, and notices on what was assumed about it.

    The encoding and the separator are detected, ``#`` starts a comment, empty cells are missing. Columns of numbers
    are doubles, others are text. Without a header the columns are called c0, c1, ...
    """
    if not isinstance(decimal, str) or decimal not in (".", ","):
        raise DataError(f"decimal={shown(str(decimal))!r}: expected '.' or ','.")
    lines, assumed = _lines(regular_file(path))
    text = f"{path.name} is not UTF-8: it was read as {assumed}. Check its names."
    notices = (Notice("encoding", text),) if assumed else ()
    if not lines:
        raise DataError(f"{path.name} holds no rows.")
    counts = {mark: lines[0][1].count(mark) for mark in (";", "\t", ",")}
    separator = max(counts, key=lambda mark: counts[mark]) if any(counts.values()) else None
    head = _cells(lines[0][1], separator)
    has_header = not all(_number(cell, decimal) is not None for cell in head)
    names = [cell.strip() for cell in head] if has_header else [f"c{i}" for i in range(len(head))]
    double = repeated(names)
    if double is not None:
        raise DataError(f"{path.name}: two columns are named {shown(double)!r}; rename one of them.")
    body = lines[1:] if has_header else lines
    if not body:
        raise DataError(f"{path.name} has a header but no rows.")
    fast = _fast(body, separator, len(names)) if decimal == "." else None
    if fast is not None:
        return {name: fast[:, i] for i, name in enumerate(names)}, notices
    return _slow(path, body, separator, names, decimal), notices


def _lines(path: Path) -> tuple[list[tuple[int, str]], str]:
    """Return the numbered lines that hold data, and the encoding if that could only be assumed."""
    try:
        with path.open("rb") as raw:
            head = raw.read(_HEAD)
        for encoding in _encodings(head):
            try:
                with path.open(encoding=encoding, newline="") as file:
                    lines = [(i, line) for i, line in enumerate(file, 1) if line.strip() and not line.startswith("#")]
            except UnicodeError:
                continue
            if any("\0" in line for _, line in lines):
                break
            return lines, "Latin-1 (Windows-1252)" if encoding in _LATIN else ""
    except OSError as error:
        raise DataError(f"{path.name} cannot be read: {reason(error)}.") from None
    raise DataError(f"{path.name} is not text in UTF-8, UTF-16 or Latin-1: save the table as CSV in UTF-8.")


def _encodings(head: bytes) -> tuple[str, ...]:
    """Return the encodings to try for a file that starts so: the one its byte order mark names, or likely ones."""
    marked = next((encoding for mark, encoding in _MARKS if head.startswith(mark)), None)
    if marked is not None:
        return (marked,)
    # Digits and separators, nearly all of a table, have a zero byte in UTF-16 and none in other encodings.
    zeros = [head[start::2].count(0) for start in (0, 1)]
    if max(zeros) > len(head) // 4 and min(zeros) == 0:
        return ("utf-16-be",) if zeros[0] else ("utf-16-le",)
    return ("utf-8", *_LATIN)


def _cells(line: str, separator: str | None) -> list[str]:
    if separator is None:
        return line.split()
    try:
        return next(csv.reader([line.rstrip("\r\n")], delimiter=separator, skipinitialspace=True))
    except csv.Error as error:
        raise DataError(f"A line of the table cannot be read ({error}): {shorten(line, 60)!r}.") from None


def _number(cell: str, decimal: str) -> float | None:
    text = cell.strip()
    if text.lower() in _MISSING:
        return float("nan")
    try:
        return float(text if decimal == "." else text.replace(".", "").replace(decimal, "."))
    except ValueError:
        return None


def _fast(lines: list[tuple[int, str]], separator: str | None, count: int) -> Array | None:
    """Return all numbers with NumPy's reader, or ``None`` if any cell needs a closer look."""
    try:
        table = np.loadtxt((line for _, line in lines), delimiter=separator, quotechar='"', ndmin=2)
    except ValueError:
        return None
    return table if table.shape[1] == count else None


def _slow(
    path: Path, lines: list[tuple[int, str]], separator: str | None, names: list[str], decimal: str
) -> dict[str, NDArray[Any]]:
    rows = []
    for number, line in lines:
        cells = _cells(line.partition("#")[0] if separator is None else line, separator)
        if len(cells) != len(names):
            header = f"the header has {len(names)} ({shown(listed(names))})"
            raise DataError(f"{path.name} line {number} has {len(cells)} cells, {header}.")
        rows.append(cells)
    table: dict[str, NDArray[Any]] = {}
    for i, name in enumerate(names):
        column = [row[i] for row in rows]
        values = [_number(cell, decimal) for cell in column]
        bad = [k for k, value in enumerate(values) if value is None]
        if bad and len(bad) <= len(column) // 2:
            cell, line_number = column[bad[0]].strip(), lines[bad[0]][0]
            comma = re.fullmatch(r"[+-]?\d+,\d+", cell)
            advice = "It looks like a decimal comma: pass decimal=','." if comma else "Correct or empty the cell."
            what = f"column {shown(name)!r} holds {shown(cell, 60)!r} among numbers"
            raise DataError(f"{path.name} line {line_number}: {what}. {advice}")
        table[name] = np.array([cell.strip() for cell in column] if bad else values)
    return table

"""Numbers from text files with columns, with errors that name the cell."""

from __future__ import annotations

import codecs
import csv
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy._files import reason, regular_file, shown
from exactsindy._types import Array
from exactsindy.data.cells import columns_of, layout
from exactsindy.data.notice import Notice
from exactsindy.errors import DataError

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
# Lines that show the separator, the decimal mark and the units.
_FIRST = 50


def read_csv(path: Path, *, decimal: str | None = None) -> tuple[dict[str, NDArray[Any]], tuple[Notice, ...]]:
    """Return the columns of a CSV file, and notices on what was assumed about it.

    The encoding, the separator and, unless it is given, the decimal mark are detected; ``#`` starts a comment, empty
    cells are missing, a row of units under the header is left out. Columns of numbers are doubles, others are text.
    Without a header the columns are called c0, c1, ...
    """
    if decimal is not None and (not isinstance(decimal, str) or decimal not in (".", ",")):
        raise DataError(f"decimal={shown(str(decimal))!r}: expected '.' or ','.")
    lines, assumed = _lines(regular_file(path))
    text = f"{path.name} is not UTF-8: it was read as {assumed}. Check its names."
    notices: tuple[Notice, ...] = (Notice("encoding", text),) if assumed else ()
    if not lines:
        raise DataError(f"{path.name} holds no rows.")
    separator = _separator([line for _, line in lines[:_FIRST]])
    found = layout(path.name, [(i, _cells(line, separator)) for i, line in lines[:_FIRST]], decimal)
    notices += found.notices
    body = lines[found.start :]
    fast = _fast(body, separator, len(found.names)) if found.decimal == "." and body else None
    if fast is not None:
        return {name: fast[:, i] for i, name in enumerate(found.names)}, notices
    rows = [(i, _cells(line.partition("#")[0] if separator is None else line, separator)) for i, line in body]
    return columns_of(path.name, rows, found), notices


def _separator(lines: list[str]) -> str | None:
    """Return what separates cells: a mark as often in all of the first lines, commas last; None for blanks."""
    for mark in (";", "\t"):
        counts = {line.count(mark) for line in lines}
        if len(counts) == 1 and counts != {0}:
            return mark
    first = {mark: lines[0].count(mark) for mark in (";", "\t", ",")}
    return max(first, key=lambda mark: first[mark]) if any(first.values()) else None


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


def _fast(lines: list[tuple[int, str]], separator: str | None, count: int) -> Array | None:
    """Return all numbers with NumPy's reader, or ``None`` if any cell needs a closer look."""
    try:
        table = np.loadtxt((line for _, line in lines), delimiter=separator, quotechar='"', ndmin=2)
    except ValueError:
        return None
    return table if table.shape[1] == count else None

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
from exactsindy.data.cells import columns_of, has_title, layout, without_blank_columns
from exactsindy.data.notice import Notice
from exactsindy.data.numerals import number
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
# A numbered line; what a line without any value is made of; most lines above a header.
Line = tuple[int, str]
_EMPTY, _MOST_TITLES = " \t\r\n,;", 20
# Lines that show the separator, the decimal mark and the units.
_FIRST = 50


def read_csv(path: Path, *, decimal: str | None = None) -> tuple[dict[str, NDArray[Any]], tuple[Notice, ...]]:
    """Return the columns of a CSV file, and notices on what was assumed about it.

    The encoding, the separator and, unless it is given, the decimal mark are detected; ``#`` starts a comment, empty
    cells are missing; titles above the header, rows of words under it (units) and what is empty at the right and at the
    end are left out. Columns of numbers are doubles, others are text.
    Without a header the columns are called c0, c1, ...
    """
    if decimal is not None and (not isinstance(decimal, str) or decimal not in (".", ",")):
        raise DataError(f"decimal={shown(str(decimal))!r}: expected '.' or ','.")
    lines, assumed = _lines(regular_file(path))
    text = f"{path.name} is not UTF-8: it was read as {assumed}. Check its names."
    notices: tuple[Notice, ...] = (Notice("encoding", text),) if assumed else ()
    if not lines:
        raise DataError(f"{path.name} holds no rows.")
    lines, titles = _without_titles(path.name, lines)
    notices += titles
    separator = _separator([line for _, line in lines[:_FIRST]])
    first = [(i, _cells(line, separator)) for i, line in lines[:_FIRST]]
    if separator is not None and "" in map(str.strip, first[0][1]):  # maybe columns that a spreadsheet left behind
        every = without_blank_columns([(i, _cells(line, separator)) for i, line in lines])
        found = layout(path.name, every[:_FIRST], decimal)
        table, more = columns_of(path.name, every[found.start :], found)
        return table, (*notices, *more)
    found = layout(path.name, first, decimal)
    body = lines[found.start :]
    fast = _fast(body, separator, len(found.names)) if found.decimal == "." and body else None
    if fast is not None:
        return {name: fast[:, i] for i, name in enumerate(found.names)}, (*notices, *found.notices)
    rows = [(i, _cells(line.partition("#")[0] if separator is None else line, separator)) for i, line in body]
    table, more = columns_of(path.name, rows, found)
    return table, (*notices, *more)


def _without_titles(name: str, lines: list[Line]) -> tuple[list[Line], tuple[Notice, ...]]:
    """Return the lines without titles above the header, and without empty cells below the last row."""
    end = len(lines)
    while end > 1 and not lines[end - 1][1].strip(_EMPTY):
        end -= 1
    lines = lines[:end]  # (once: spreadsheets write a million of them)
    start = 0
    while start < _MOST_TITLES and _is_title([line for _, line in lines[start : start + _FIRST]]):
        start += 1
    if not start:
        return lines, ()
    which = f" {lines[0][0]} was" if start == 1 else f"s {lines[0][0]} to {lines[start - 1][0]} were"
    return lines[start:], (Notice("title", f"{name} line{which} taken for a title and left out."),)


def _is_title(lines: list[str]) -> bool:
    """Return True if the first line has one cell of words, and the lines below it all have the same number of cells."""
    mark = next((mark for mark in (";", "\t", ",") if lines[-1].count(mark)), None)
    if mark is None or len(lines) < 3:
        return False
    counts = [line.count(mark) for line in lines]
    same = len(set(counts[2:])) == 1 and counts[0] in (0, counts[-1]) and counts[1] in (0, counts[-1])
    if counts[1] == 0 and same:  # another title follows
        return not any(_is_number(line) for line in lines[:2]) and _is_title(lines[1:])
    return same and has_title([_cells(line, mark) for line in lines[:3]])


def _is_number(text: str) -> bool:
    return number(text.strip(), ".") is not None


def _separator(lines: list[str]) -> str | None:
    """Return what separates cells: a mark as often in all of the first lines, commas last; None for blanks."""
    for mark in (";", "\t"):
        counts = {line.count(mark) for line in lines}
        if len(counts) == 1 and counts != {0}:
            return mark
    first = {mark: lines[0].count(mark) for mark in (";", "\t", ",")}
    return max(first, key=lambda mark: first[mark]) if any(first.values()) else None


def _lines(path: Path) -> tuple[list[Line], str]:
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


def _fast(lines: list[Line], separator: str | None, count: int) -> Array | None:
    """Return all numbers with NumPy's reader, or ``None`` if any cell needs a closer look."""
    try:
        table = np.loadtxt((line for _, line in lines), delimiter=separator, quotechar='"', ndmin=2)
    except ValueError:
        return None
    return table if table.shape[1] == count else None

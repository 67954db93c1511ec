"""From rows of cells to columns: header, units, decimal mark, and errors that name the cell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy._files import shown
from exactsindy.data.notice import Notice
from exactsindy.data.numerals import column_of_words, number
from exactsindy.errors import DataError, listed, repeated

# Most rows of text between a header and the numbers.
_MOST_WORDS = 3
# A row of a table: its number in the file, counted from 1, and its cells.
Row = tuple[int, list[str]]
_COMMA, _POINT = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?"), re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?")
# A number that a table writes with a separator of thousands, which must not be taken for a decimal comma.
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+")


@dataclass(frozen=True)
class Layout:
    """What the first rows of a table show: names, where its numbers begin, decimal mark, and what was assumed."""

    names: tuple[str, ...]
    start: int
    decimal: str
    notices: tuple[Notice, ...] = ()


def layout(name: str, rows: Sequence[Row], decimal: str | None, where: str = "line") -> Layout:
    """Return the layout of a table from its first rows.

    Without a header the columns are called c0, c1, ... Rows of text between it and the numbers (units, a second header)
    are left out.
    Where ``decimal`` is None, a comma is taken for the decimal mark if cells show one and none has a point.
    """
    notices: list[Notice] = []
    mark = decimal
    if mark is None:
        cells = [cell.strip() for _, row in rows for cell in row]
        commas = [cell for cell in cells if _COMMA.fullmatch(cell)]
        mark = "." if not commas or any(_POINT.fullmatch(cell) for cell in cells) else ","
        if mark == "," and not all(_THOUSANDS.fullmatch(cell) for cell in commas):
            text = f"{name}: {shown(commas[0], 30)!r} was read as a number with a decimal comma."
            notices.append(Notice("decimal", f"{text} Pass decimal='.' if that is wrong."))
        else:
            mark = "."
    head = rows[0][1]
    has_header = not all(number(cell, mark) is not None for cell in head)
    names = [cell.strip() for cell in head] if has_header else [f"c{i}" for i in range(len(head))]
    double = repeated(names)
    if double is not None:
        raise DataError(f"{name}: two columns are named {shown(double)!r}; rename one of them.")
    start = _first_numbers([row for _, row in rows[: _MOST_WORDS + 2]], mark) if has_header else 0
    if start > 1:
        said = "; ".join(", ".join(cell.strip() or "-" for cell in row) for _, row in rows[1:start])
        which = f" {rows[1][0]} was" if start == 2 else f"s {rows[1][0]} to {rows[start - 1][0]} were"
        kind = "units" if start == 2 else "units or a second header"
        notices.append(Notice("units", f"{name} {where}{which} taken for {kind} ({shown(said, 80)}) and left out."))
    return Layout(tuple(names), start, mark, tuple(notices))


def _first_numbers(rows: Sequence[Sequence[str]], decimal: str) -> int:
    """Return where numbers begin below a header: after rows that hold no number, each of whose words has one below."""
    start = 1
    while start < len(rows) and any(cell.strip() for cell in rows[start]):
        if any(_is_number(cell, decimal) for cell in rows[start]) or len(rows[start]) != len(rows[0]):
            break
        start += 1
    if start == len(rows) or len(rows[start]) != len(rows[0]):
        return 1
    described = [any(row[j].strip() for row in rows[1:start]) for j in range(len(rows[0]))]
    below = zip(described, rows[start], strict=True)
    return start if all(number(cell, decimal) is not None for word, cell in below if word) else 1


def has_title(rows: Sequence[Sequence[str]], decimal: str = ".") -> bool:
    """Return True if the first row is a title: one cell with words above a header, a row of words alone."""
    if len(rows) < 3 or sum(bool(cell.strip()) for cell in rows[0]) != 1:
        return False
    return not any(_is_number(cell, decimal) for cell in (*rows[0], *rows[1])) and sum(map(bool, rows[1])) > 1


def without_blank_columns(rows: Sequence[Row]) -> list[Row]:
    """Return rows without columns that are empty from the header down: spreadsheets leave them behind."""
    width = max(len(row) for _, row in rows)
    used = [j for j in range(width) if any("".join(row[j : j + 1]).strip() for _, row in rows)]
    return [(i, [row[j] for j in used if j < len(row)]) for i, row in rows]


def _is_number(cell: str, decimal: str) -> bool:
    value = number(cell, decimal)
    return value is not None and value == value


def table_of_cells(
    name: str, rows: Sequence[Row], decimal: str | None, where: str = "line"
) -> tuple[dict[str, NDArray[Any]], tuple[Notice, ...]]:
    """Return the columns of rows of cells, and notices on what was assumed.

    Empty rows, empty columns and titles above the header are left out.
    """
    kept = [(i, row) for i, row in rows if any(cell.strip() for cell in row)]
    widest = max((sum(bool(cell.strip()) for cell in row) for _, row in kept), default=0)
    while widest > 1 and kept and sum(bool(cell.strip()) for cell in kept[0][1]) == 1:
        kept = kept[1:]
    if not kept:
        raise DataError(f"{name} holds no rows.")
    width = max(len(row) for _, row in kept)
    used = [j for j in range(width) if any("".join(row[j : j + 1]).strip() for _, row in kept)]
    kept = [(i, [row[j] if j < len(row) else "" for j in used]) for i, row in kept]
    found = layout(name, kept[:50], decimal, where)
    return columns_of(name, kept[found.start :], found, where)


def columns_of(
    name: str, rows: Sequence[Row], found: Layout, where: str = "line"
) -> tuple[dict[str, NDArray[Any]], tuple[Notice, ...]]:
    """Return columns of numbers as doubles, others as text, and all notices; a word among numbers is refused."""
    if not rows:
        raise DataError(f"{name} has a header but no rows.")
    for i, row in rows:
        if len(row) != len(found.names):
            header = f"the header has {len(found.names)} ({shown(listed(found.names))})"
            raise DataError(f"{name} {where} {i} has {len(row)} cells, {header}.")
    table: dict[str, NDArray[Any]] = {}
    notices = found.notices
    for j, label in enumerate(found.names):
        column = [row[j] for _, row in rows]
        values = [number(cell, found.decimal) for cell in column]
        bad = [k for k, value in enumerate(values) if value is None]
        understood = column_of_words(label, column, values, found.decimal) if bad else None
        if understood is not None:
            table[label], notices = np.array(understood[0]), (*notices, *understood[1])
            continue
        if bad and len(bad) <= len(column) // 2:
            cell = column[bad[0]].strip()
            comma = _COMMA.fullmatch(cell)
            advice = "It looks like a decimal comma: pass decimal=','." if comma else "Correct or empty the cell."
            what = f"column {shown(label)!r} holds {shown(cell, 60)!r} among numbers"
            raise DataError(f"{name} {where} {rows[bad[0]][0]}: {what}. {advice}")
        table[label] = np.array([cell.strip() for cell in column] if bad else values)
    return table, notices

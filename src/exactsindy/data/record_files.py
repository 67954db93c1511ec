"""Tables from Parquet, Feather, spreadsheets and JSON."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from exactsindy._files import MOST_TEXT, check_size, read_json, reason, regular_file, shown
from exactsindy._optional import optional
from exactsindy.data.cells import table_of_cells
from exactsindy.data.frames import Table, read_frame
from exactsindy.data.notice import Notice
from exactsindy.errors import DataError

SPREADSHEETS = (".xlsx", ".xlsm", ".ods", ".xls")
RECORD_KINDS = (".parquet", ".pq", ".feather", ".arrow", *SPREADSHEETS, ".json", ".jsonl", ".ndjson")
# Most cells of a sheet: beyond them a table takes gigabytes as text.
_MOST_CELLS = 50_000_000


def read_records(file: Path) -> tuple[Table, tuple[Notice, ...]]:
    """Return the columns of a file of one of `RECORD_KINDS`, and notices on what was assumed about it."""
    kind = file.suffix.lower()
    if kind in (".parquet", ".pq"):
        return read_frame(_parquet(file)), ()
    if kind in (".feather", ".arrow"):
        return read_frame(_feather(file)), ()
    return _spreadsheet(file) if kind in SPREADSHEETS else (_json(file), ())


def _parquet(file: Path) -> Any:
    parquet = optional("pyarrow.parquet", "data", "Reading Parquet")
    try:
        with parquet.ParquetFile(file) as source:
            about = source.metadata
            packed = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
            check_size(file, max(8 * about.num_rows * about.num_columns, packed))
            return source.read()
    except DataError:
        raise
    except Exception as error:  # pyarrow's own kinds, and those of Python
        raise DataError(f"{file.name}: this is not a Parquet file that can be read ({reason(error)}).") from error


def _feather(file: Path) -> Any:
    """Return a table batch by batch; the size so far is compared with the limits after each."""
    arrow = optional("pyarrow", "data", "Reading Feather")
    try:
        with arrow.memory_map(str(file)) as source, arrow.ipc.open_file(source) as reader:
            batches, count = [], 0
            for i in range(reader.num_record_batches):
                batches.append(reader.get_batch(i))
                count += batches[-1].nbytes
                check_size(file, count)
            return arrow.Table.from_batches(batches, reader.schema)
    except DataError:
        raise
    except Exception as error:
        raise DataError(f"{file.name}: this is not a Feather file that can be read ({reason(error)}).") from error


def _spreadsheet(file: Path) -> tuple[Table, tuple[Notice, ...]]:
    """Return the table of the first sheet that has one."""
    calamine = optional("python_calamine", "data", "Reading a spreadsheet")
    try:
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as archive:
                check_size(file, sum(info.file_size for info in archive.infolist()))
        with calamine.load_workbook(file) as book:
            names = list(book.sheet_names)
            for name in names:
                sheet = book.get_sheet_by_name(name)
                if sheet.total_height * sheet.total_width > _MOST_CELLS:
                    raise DataError(f"{file.name}: sheet {shown(name)!r} has too many cells; save the table as CSV.")
                rows = sheet.to_python(skip_empty_area=False)
                if sum(any(cell != "" for cell in row) for row in rows) > 1:
                    break
            else:
                raise DataError(f"{file.name}: no sheet holds a table.")
    except DataError:
        raise
    except BaseException as error:
        # (A panic of the reader, which is written in Rust, is no Exception.)
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise DataError(f"{file.name}: this is not a spreadsheet that can be read ({reason(error)}).") from error
    cells = [(i, [_text(cell) for cell in row]) for i, row in enumerate(rows, 1)]
    table, notices = table_of_cells(file.name, cells, ".", "row")
    if len(names) > 1:
        notices = (Notice("sheet", f"{file.name} has {len(names)} sheets; {shown(name)!r} was read."), *notices)
    return table, notices


def _text(cell: Any) -> str:
    """Return a cell as CSV would have it."""
    if isinstance(cell, bool):
        return str(int(cell))
    if isinstance(cell, float | int):
        return repr(cell)
    if isinstance(cell, timedelta):
        return repr(cell.total_seconds())
    return cell.isoformat() if isinstance(cell, datetime | date | time) else str(cell)


def _json(file: Path) -> Table:
    """Return the columns of a list of records, of one record of lists, or of one record per line."""
    value = read_json(file, file.name) if file.suffix.lower() == ".json" else _json_lines(file)
    if isinstance(value, Mapping) and len(value) == 1 and isinstance(next(iter(value.values())), list):
        inside = next(iter(value.values()))
        value = inside if inside and isinstance(inside[0], dict) else value
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        names = list(dict.fromkeys(str(name) for row in value for name in row))
        value = {name: [row.get(name) for row in value] for name in names}
    if not isinstance(value, Mapping) or not value or not all(isinstance(column, list) for column in value.values()):
        expected = 'expected a list of records [{"t": 0, "x": 1}, ...] or one record of lists {"t": [0, ...], "x": ...}'
        raise DataError(f"{file.name}: this JSON is no table; {expected}.")
    return {name: _column(file, name, column) for name, column in value.items()}


def _json_lines(file: Path) -> list[Any]:
    rows, number = [], 0
    try:
        with regular_file(file, most=MOST_TEXT).open(encoding="utf-8") as lines:
            for line in lines:
                number += 1
                if line.strip():
                    rows.append(json.loads(line))
    except (OSError, ValueError, RecursionError) as error:
        what = "this is not one JSON record per line"
        raise DataError(f"{file.name} line {max(number, 1)}: {what} ({reason(error)}).") from error
    return rows


def _column(file: Path, name: str, cells: list[Any]) -> Any:
    if any(isinstance(cell, list | dict) for cell in cells):
        raise DataError(f"{file.name}: column {shown(name)!r} holds lists or records; expected one value per row.")
    if all(cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool)) for cell in cells):
        try:
            return np.array([float("nan") if cell is None else float(cell) for cell in cells])
        except OverflowError:
            raise DataError(f"{file.name}: column {shown(name)!r} holds a number beyond 1.8e308.") from None
    return np.array(["" if cell is None else str(cell) for cell in cells])

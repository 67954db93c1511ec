"""Parquet data sets as trajectories in pieces: row groups are read one after another."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from exactsindy._files import reason
from exactsindy._optional import optional
from exactsindy._types import Array
from exactsindy.chunked.pieces import MOST_PIECE_BYTES, PIECE_BYTES, Pieces
from exactsindy.chunked.tables import Layout, Table, joined_borders, table_pieces
from exactsindy.errors import DataError, nearest

# Files that a folder is searched for.
_ENDINGS = ("*.parquet", "*.pq")


@dataclass(frozen=True)
class Group:
    """A row group: its file and number, its rows, and the number of rows before it."""

    file: str
    number: int
    rows: int
    before: int


def scan_parquet(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    time: str | float | None = None,
    states: Sequence[str] | None = None,
    controls: Sequence[str] = (),
    trajectory: str | None = None,
    targets: str | Sequence[str] | None = None,
) -> Pieces:
    """Return the trajectories in Parquet files as pieces that forms and `discover` read one after another.

    Row groups are read together up to 64 MB; memory does not grow with the number of rows. Rows of a trajectory must
    follow one another in time, over the borders of row groups and of files (in the order of their names).

    Parameters
    ----------
    files
        A file, a folder, a pattern such as ``"runs/*.parquet"``, or a list of files.
    time
        The column of sample times, or the step between samples; ``t`` or ``time`` by default.
    states, controls
        Names of columns; by default all columns of numbers but the time and ``trajectory`` are states.
    trajectory
        The column whose value tells trajectories apart; without it all rows are one trajectory.
    targets
        The equations wanted; the first derivative of every state by default.

    Returns
    -------
    Pieces
        For ``form.problem(pieces, library)``, ``form.folds`` and `discover`.

    Raises
    ------
    DataError
        If there is no such file or column, or a row group is too large to be read at once.

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np, exactsindy as es
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> folder, t = pathlib.Path(tempfile.mkdtemp()), np.arange(0.0, 5.0, 0.01)
    >>> for run in range(3):
    ...     table = pa.table({"run": [run] * 500, "time": t, "x": np.exp(-t * (1 + run))})
    ...     pq.write_table(table, folder / f"run{run}.parquet")
    >>> pieces = es.scan_parquet(folder / "*.parquet", time="time", trajectory="run")
    >>> pieces
    Pieces(x; 1500 samples; 1 pieces)
    >>> es.StrongForm().problem(pieces, es.Polynomials(2))
    Problem(x'; 3 terms; 1500 samples)
    """
    paths = _paths(files)
    kinds, groups = _groups(paths)
    layout = _layout(kinds, time, states, controls, trajectory, targets)
    width = 8 * len(layout.columns)
    large = max(groups, key=lambda group: group.rows)
    if large.rows * width > MOST_PIECE_BYTES:
        raise DataError(
            f"{large.file}: row group {large.number} holds {large.rows} rows, {large.rows * width / 1e9:.3g} GB in "
            f"memory; row groups are read whole: write the file with row_group_size={PIECE_BYTES // width}."
        )
    total = sum(group.rows for group in groups)
    breaks = [0] if trajectory is None else _breaks(groups, trajectory)
    borders = joined_borders([*(group.before for group in groups), total], max(PIECE_BYTES // width, 1))
    read = partial(_rows, tuple(groups), layout.columns)
    return table_pieces(Table(layout, read, total, tuple(borders), tuple(breaks), _share(paths, total)))


def _pyarrow(module: str) -> Any:
    return optional(f"pyarrow.{module}", "data", "Reading Parquet")


def _paths(files: Any) -> list[str]:
    items = [files] if isinstance(files, str | os.PathLike) else list(files)
    found: list[str] = []
    for item in items:
        text = os.fspath(item)
        if Path(text).is_dir():
            found += sorted(str(path) for ending in _ENDINGS for path in Path(text).rglob(ending))
        elif glob.has_magic(text):
            found += sorted(glob.glob(text, recursive=True))
        else:
            found.append(text)
    if not found:
        raise DataError(f"scan_parquet({os.fspath(items[0])!r}): no file matches." if items else "files is empty.")
    return found


def _groups(paths: Sequence[str]) -> tuple[dict[str, Any], list[Group]]:
    """Return the columns of the first file with their types, and the row groups of all files."""
    parquet = _pyarrow("parquet")
    kinds: dict[str, Any] = {}
    groups: list[Group] = []
    before = 0
    for path in paths:
        try:
            with parquet.ParquetFile(path) as file:
                own = {field.name: field.type for field in file.schema_arrow}
                sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        except FileNotFoundError:
            raise DataError(f"{path!r}: there is no such file.") from None
        except Exception as error:  # pyarrow's errors share no class
            raise DataError(f"{path!r}: this is no Parquet file that can be read ({reason(error)}).") from error
        kinds = kinds or own
        if own != kinds:
            odd = next(iter(set(own.items()) ^ set(kinds.items())))
            raise DataError(f"{path!r}: its columns differ from those of {paths[0]!r} ({odd[0]!r}); expected the same.")
        for number, rows in enumerate(sizes):
            if rows:
                groups.append(Group(path, number, rows, before))
                before += rows
    if not groups:
        raise DataError(f"{paths[0]!r}: the files hold no rows.")
    return kinds, groups


def _layout(
    kinds: Mapping[str, Any],
    time: Any,
    states: Sequence[str] | None,
    controls: Sequence[str],
    trajectory: str | None,
    targets: str | Sequence[str] | None,
) -> Layout:
    types = _pyarrow("types")
    if time is None:
        time = next((name for name in ("t", "time") if name in kinds), None)
        if time is None:
            raise DataError(f"No column of {', '.join(kinds)} is called t or time; say which is the time: time='...'.")
    named = {"time": [time] if isinstance(time, str) else [], "states": states or (), "controls": controls}
    named["trajectory"] = [trajectory] if trajectory else []
    for what, names in named.items():
        for name in names:
            if name not in kinds:
                raise DataError(f"{what}: there is no column {name!r}. {nearest(name, kinds)}")
    if states is None:
        used = {time, trajectory, *controls}
        numbers = [name for name, kind in kinds.items() if types.is_floating(kind) or types.is_integer(kind)]
        states = [name for name in numbers if name not in used]
    if not states:
        raise DataError(f"the files hold no column of numbers beside the time; they have {', '.join(kinds)}.")
    return Layout(time, tuple(states), tuple(controls), trajectory, targets)


def _breaks(groups: Sequence[Group], trajectory: str) -> list[int]:
    """Return the rows at which trajectories begin; rows of a trajectory must stand together."""
    breaks, labels, last = [0], set[Any](), None
    for group in groups:
        values = _column(group, trajectory)
        starts = [0, *(np.flatnonzero(values[1:] != values[:-1]) + 1).tolist()]
        for start in starts:
            label = values[start]
            if group.before + start and label == last:
                continue
            if label in labels:
                raise DataError(
                    f"{group.file}: rows of {trajectory} = {label} come again after those of another trajectory "
                    f"(row {start} of row group {group.number}); sort the files by {trajectory} and time."
                )
            labels.add(label)
            last = label
            if group.before + start:
                breaks.append(group.before + start)
    return breaks


def _column(group: Group, name: str) -> Any:
    parquet = _pyarrow("parquet")
    with parquet.ParquetFile(group.file) as file:
        return np.asarray(file.read_row_group(group.number, columns=[name]).column(0).to_numpy(zero_copy_only=False))


def _rows(groups: tuple[Group, ...], columns: tuple[str, ...], low: int, high: int) -> dict[str, Any]:
    """Return the columns of rows ``low`` to ``high`` of the data set."""
    parts: dict[str, list[Any]] = {name: [] for name in columns}
    for group in groups:
        first, last = max(low - group.before, 0), min(high - group.before, group.rows)
        if first < last:
            table = _read_group(group.file, group.number, columns)
            for name in columns:
                parts[name].append(table[name][first:last])
    return {name: np.concatenate(arrays) if len(arrays) > 1 else arrays[0] for name, arrays in parts.items()}


@lru_cache(maxsize=2)
def _read_group(file: str, number: int, columns: tuple[str, ...]) -> dict[str, Array]:
    """Return a row group; the last two stay in memory, because neighbours of the next piece are in them."""
    parquet = _pyarrow("parquet")
    with parquet.ParquetFile(file, memory_map=True) as source:
        table = source.read_row_group(number, columns=list(columns))
    return {name: table.column(name).to_numpy() for name in columns}


def _share(paths: Sequence[str], rows: int) -> float:
    """Return the bytes stored per row."""
    return sum(Path(path).stat().st_size for path in paths) / rows

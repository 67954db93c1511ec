"""Trajectories in the rows of a table that is not in memory: any stretch of rows can be read."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from exactsindy._types import Array
from exactsindy.chunked.pieces import Piece, Pieces, Reach, Unread
from exactsindy.data import Trajectories, Trajectory
from exactsindy.errors import DataError

# Rows of the head, and the fewest samples that make a trajectory.
_HEAD, _LEAST = 64, 3


@dataclass(frozen=True)
class Layout:
    """The meaning of the columns of a table; ``time`` is a column or the step between samples."""

    time: str | float
    states: tuple[str, ...]
    controls: tuple[str, ...] = ()
    trajectory: str | None = None
    targets: str | Sequence[str] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that are read: what tells trajectories apart is known before."""
        return (*((self.time,) if isinstance(self.time, str) else ()), *self.states, *self.controls)


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of trajectories laid end to end.

    ``read(low, high)`` gives the columns of a stretch of rows, ``borders`` are the rows at which pieces begin and the
    last one ends, ``breaks`` those at which trajectories begin; ``share`` is the number of bytes stored per row.
    """

    layout: Layout
    read: Callable[[int, int], dict[str, Any]] = field(repr=False)
    rows: int
    borders: tuple[int, ...]
    breaks: tuple[int, ...]
    share: float


def joined_borders(edges: Sequence[int], most: int) -> list[int]:
    """Return where pieces begin and the last one ends: at edges of chunks, as many together as ``most`` rows."""
    borders = [edges[0]]
    for low, high in pairwise(edges):
        if high - borders[-1] > most and low > borders[-1]:
            borders.append(low)
    return [*borders, edges[-1]]


def table_pieces(table: Table) -> Pieces:
    """Return the trajectories of a table in pieces."""
    end = min(_HEAD, table.rows, *(table.breaks[1:2] or (table.rows,)))
    head = _piece(table.layout, table.read, ((0, 0, end),), ((0, end),), False).data
    return Pieces(head, partial(_unread, table), table.rows, len(table.borders) - 1)


def _unread(table: Table, reach: Reach) -> Iterator[Unread]:
    ends = (*table.breaks[1:], table.rows)
    for low, high in pairwise(table.borders):
        spans: list[tuple[int, int, int]] = []
        own: list[tuple[int, int]] = []
        goes_on = False
        for i in range(bisect_right(table.breaks, low) - 1, len(table.breaks)):
            start, stop = table.breaks[i], ends[i]
            if start >= high:
                break
            first, last = max(start, low), min(stop, high)
            begin, end = max(first - reach[0], start), min(last + reach[1], stop)
            if end - begin < min(_LEAST, stop - start):
                continue  # a scrap of a trajectory, of no use without neighbours
            goes_on = goes_on or (not spans and start < low)
            spans.append((start, begin, end))
            own.append((first - begin, last - begin))
        if not spans:
            continue
        build = partial(_piece, table.layout, table.read, tuple(spans), tuple(own), goes_on)
        yield Unread(build, size=int(table.share * (spans[-1][2] - spans[0][1])))


def _piece(
    layout: Layout,
    read: Callable[[int, int], dict[str, Any]],
    spans: Sequence[tuple[int, int, int]],
    own: tuple[tuple[int, int], ...],
    goes_on: bool,
) -> Piece:
    """Return the stretches (start of the trajectory, first row, last row) of trajectories as a piece."""
    begin = spans[0][1]
    table = read(begin, spans[-1][2])
    states = np.stack([_numbers(table, name, begin) for name in layout.states], axis=1)
    inputs = np.stack([_numbers(table, name, begin) for name in layout.controls], axis=1) if layout.controls else None
    members = []
    for start, low, high in spans:
        part = slice(low - begin, high - begin)
        times = _times(layout, table, part, low - start)
        controls = None if inputs is None else inputs[part]
        try:
            member = Trajectory(
                times, states[part], layout.states, controls=controls, control_names=layout.controls or None
            )
        except DataError as error:
            raise DataError(f"rows {low} to {high}: {error}") from error
        members.append(member)
    name = layout.time if isinstance(layout.time, str) else "t"
    return Piece(Trajectories(members, layout.targets, time_name=name), own, goes_on=goes_on)


def _numbers(table: dict[str, Any], name: str, begin: int) -> Array:
    column = table[name]
    if column.dtype.kind not in "fiu":
        raise DataError(f"column {name!r} holds {column.dtype} values; expected numbers.")
    values = np.asarray(column, dtype=float)
    if not np.isfinite(values).all():
        row = begin + int(np.flatnonzero(~np.isfinite(values))[0])
        raise DataError(
            f"column {name!r} has a missing or infinite value in row {row}; fill it in, or leave the rows out."
        )
    return values


def _times(layout: Layout, table: dict[str, Any], part: slice, before: int) -> Array:
    if not isinstance(layout.time, str):
        return layout.time * np.arange(before, before + part.stop - part.start)
    column = table[layout.time][part]
    if column.dtype.kind in "mM":
        epoch = np.zeros((), column.dtype)  # the same for all pieces
        return np.asarray((column - epoch) / np.timedelta64(1, "s"))
    return np.asarray(column, dtype=float)

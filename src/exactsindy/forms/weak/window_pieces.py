"""Weak rows of a field in pieces: every window belongs to the piece in which it begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.chunked import Piece, Pieces
from exactsindy.data import Field
from exactsindy.differentiation import FiniteDifference
from exactsindy.forms.base import EquationGroup
from exactsindy.forms.derivative import SpaceDerivatives
from exactsindy.forms.rows import of_ranges
from exactsindy.forms.weak.by_parts import IntegralPlan
from exactsindy.forms.weak.patch import box_of
from exactsindy.forms.weak.placement import line_places, usable_lines
from exactsindy.forms.weak.window_rows import FieldRows
from exactsindy.forms.weak.windows import AxisWindows
from exactsindy.problem import Problem


@dataclass(frozen=True, eq=False)
class WindowPlan:
    """The rows of one piece: the windows that begin in it, sorted by time over the whole field."""

    equations: tuple[EquationGroup, ...]
    windows: tuple[AxisWindows, ...]
    plans: tuple[IntegralPlan, ...]
    accuracy: int
    in_order: bool = False

    @property
    def reach(self) -> tuple[int, int]:
        """Return how many times a piece must hold beyond its own: those of a window."""
        return 0, int(self.windows[-1].lengths.max())

    def problem(self, piece: Piece, before: object) -> tuple[Problem | None, None]:
        """Return the problem of the windows that begin in a piece."""
        assert isinstance(piece.data, Field)
        ((low, high),) = piece.own
        time = self.windows[-1]
        chosen = np.arange(*np.searchsorted(time.starts, [piece.first + low, piece.first + high]))
        windows = tuple(axis.take(chosen) for axis in self.windows)
        windows = (*windows[:-1], replace(windows[-1], starts=windows[-1].starts - piece.first))
        if piece.data.missing and len(chosen):
            whole = without_missing(piece.data, windows, self._halos(piece.data))
            windows = tuple(axis.take(whole) for axis in windows)
        if not len(windows[0]):
            return None, None
        rows = [
            [FieldRows(piece.data, windows, group, plan, self.accuracy)]
            for group, plan in zip(self.equations, self.plans, strict=True)
        ]
        return of_ranges(self.equations, rows, [(0, 0, len(windows[0]))]), None

    def _halos(self, data: Field) -> list[int]:
        finite = FiniteDifference(self.accuracy)
        space = SpaceDerivatives(finite, data.axes, data.coords[:-1], (False,) * len(data.axes))
        return [*space.reach([v for plan in self.plans for v in plan.derivatives]), 0]


def lines_in_pieces(pieces: Pieces) -> list[Array]:
    """Return for each axis the lines from which the width of windows is chosen, read piece by piece."""
    field = pieces.field
    assert field is not None
    shape, n = field.shape, len(field.times)
    along_space: list[dict[int, Array]] = [{} for _ in field.axes]
    places = [line_places(shape, i) for i in range(len(shape))]
    columns = [np.empty((n, len(places[-1][0]))) for _ in field.names]
    every: Any = slice(None)
    for unread in pieces.unread((0, 0)):
        piece = unread.read()
        assert isinstance(piece.data, Field)
        stop = piece.first + len(piece.data.times)
        for f, values in enumerate(piece.data.values):
            columns[f][piece.first : stop] = np.moveaxis(values, -1, 0)[(every, *places[-1])]
            for i, own in enumerate(along_space):
                for k in np.flatnonzero((places[i][-1] >= piece.first) & (places[i][-1] < stop)):
                    where = (*(int(index[k]) for index in places[i][:-1]), int(places[i][-1][k]) - piece.first)
                    own[f * len(places[i][0]) + int(k)] = np.moveaxis(values, i, 0)[(every, *where)].copy()
    space = [np.stack([own[k] for k in sorted(own)], axis=1) for own in along_space]
    return [usable_lines(table) for table in (*space, np.hstack(columns))]


def without_missing(data: Field, windows: Sequence[AxisWindows], halos: Sequence[int]) -> NDArray[np.intp]:
    """Return the windows that, with the surroundings their derivatives see, have no missing cell."""
    whole = []
    for k in range(len(windows[0])):
        low = [int(w.starts[k]) - halo for w, halo in zip(windows, halos, strict=True)]
        high = [a + int(w.lengths[k]) + 2 * halo for a, w, halo in zip(low, windows, halos, strict=True)]
        if all(np.isfinite(box_of(values, low, high)).all() for values in data.values):
            whole.append(k)
    return np.array(whole, dtype=np.intp)

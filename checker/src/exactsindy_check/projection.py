"""Vectors for the scans of pairs: columns and target projected off the terms of a node. They guide; nothing is assumed.

Nodes that are scanned one after the other share all terms but the last one, so what is projected off the terms before
it is kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from exactsindy_check.bounds import Ground, Indices
from exactsindy_check.instance import Vector


class Projection:
    """All columns and the target of a section, one per row, projected off one term after the other."""

    def __init__(self, base: Ground) -> None:
        numbers = base.numbers
        self._length = base.rows
        self._roots = np.sqrt(numbers.ridge) if numbers.ridge.any() else None
        whole = np.concatenate([numbers.a.T, numbers.z[None]])
        self._kept: list[tuple[int, Vector, Vector]] = [(-1, whole[:0], whole)]  # term, directions, all projected

    def off(self, inside: Sequence[int], free: Indices) -> tuple[Vector, Vector]:
        """Return the free columns and, last, the target projected off `inside`, one per row; and their ridge entries.

        The latter are per root of the ridge weight of each term inside.
        """
        chosen = np.empty(len(free) + 1, dtype=np.intp)
        chosen[:-1], chosen[-1] = free, len(self._kept[0][2]) - 1
        same = 1
        while same < min(len(self._kept), len(inside)) and self._kept[same][0] == inside[same - 1]:
            same += 1
        del self._kept[same:]
        for j in inside[same - 1 : -1]:
            basis, rows = self._without(j)
            self._kept.append((j, basis, rows - (rows @ basis.T) @ basis))
        if not len(inside):
            return self._kept[0][2][chosen], np.zeros((len(chosen), 0))
        basis, rows = self._without(inside[-1], chosen)
        rows -= (rows @ basis.T) @ basis
        if self._roots is None:
            return rows, np.zeros((len(chosen), len(inside)))
        root = self._roots[list(inside)]
        s = np.divide(rows[:, self._length :], root, out=np.zeros((len(chosen), len(inside))), where=root > 0)
        return np.ascontiguousarray(rows[:, : self._length]), s

    def _without(self, term: int, chosen: Indices | None = None) -> tuple[Vector, Vector]:
        """Return the directions with one more term, and the chosen rows (None: all) projected off it once."""
        _, basis, rows = self._kept[-1]
        column, rows = rows[term], rows if chosen is None else rows[chosen]
        if self._roots is not None:
            column = np.append(column, self._roots[term])
            rows, basis = np.pad(rows, ((0, 0), (0, 1))), np.pad(basis, ((0, 0), (0, 1)))
        column = column - (basis @ column) @ basis
        length = np.sqrt(column @ column)
        if length > 0.0:
            column = column / length
        return np.concatenate([basis, column[None]]), rows - (rows @ column)[:, None] * column

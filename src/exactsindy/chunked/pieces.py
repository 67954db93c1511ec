"""What is read together: a piece of the data with its neighbours, and the sequence of all pieces, not read yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from exactsindy._optional import optional
from exactsindy.data import Data, Trajectories, Trajectory
from exactsindy.data import Field as FieldData
from exactsindy.errors import DataError

# Bytes of doubles that a piece holds where the chunks of the source are smaller, and the most that a chunk may hold.
PIECE_BYTES, MOST_PIECE_BYTES = 1 << 26, 1 << 30


@dataclass(frozen=True, eq=False)
class Piece:
    """Samples read together, in memory: stretches of trajectories, or a slab of times of a field.

    Parameters
    ----------
    data
        The samples of the piece and, before and after them, the neighbours that were asked for.
    own
        For each trajectory (one entry for a field) the range of samples that are the piece's own; the others belong to
        the pieces before and after.
    first
        Fields: the number of times before the first one of ``data``.
    goes_on
        Whether the first trajectory of the piece goes on from the piece before.
    """

    data: Data
    own: tuple[tuple[int, int], ...]
    first: int = 0
    goes_on: bool = False

    def apart(self, more: int = 0) -> Data:
        """Return the piece's own samples, and ``more`` of those after them where there are any."""
        if isinstance(self.data, FieldData):
            ((low, high),) = self.own
            return self.data.slice(low, min(high + more, len(self.data.times)))
        parts = [
            member.slice(low, min(high + more, len(member)))
            for member, (low, high) in zip(self.data, self.own, strict=True)
        ]
        return Trajectories(parts, self.data.targets, time_name=self.data.time_name)


@dataclass(frozen=True, eq=False)
class Unread:
    """A piece that is not read yet: small, so that another process can be given it in place of the numbers.

    ``build(*parts)`` reads it; ``parts`` are Dask arrays, computed first. ``size`` is the number of bytes read.
    """

    build: Callable[..., Piece]
    parts: tuple[Any, ...] = ()
    size: int = 0

    def read(self) -> Piece:
        """Return the piece, read in this process."""
        if not self.parts:
            return self.build()
        dask = optional("dask", "dask", "Reading chunked arrays")
        return self.build(*dask.compute(*self.parts, scheduler="synchronous"))


# How many samples before and after its own a piece is to hold.
Reach = tuple[int, int]


@dataclass(frozen=True, eq=False, repr=False)
class Pieces:
    """Trajectories or a field in pieces that are read one after another, or by several processes.

    Parameters
    ----------
    head
        A few samples in memory: they have the names, targets and meaning of all.
    unread
        Gives all pieces in order, each with so many neighbours before and after.
    n_samples
        Samples (times, for a field) of all pieces together; None if that is not known before they are read.
    count
        The number of pieces; None if that is not known.
    field
        The whole field, whose values are not in memory; None for trajectories.
    again
        Whether the pieces can be read more than once.
    here
        Whether the numbers are in this process: then no other one is given work, for it would have to be sent them.
    """

    head: Data
    unread: Callable[[Reach], Iterator[Unread]] = field(repr=False)
    n_samples: int | None
    count: int | None
    field: FieldData | None = None
    again: bool = True
    here: bool = False

    @property
    def targets(self) -> tuple[Any, ...]:
        """Return the equations wanted."""
        return self.head.targets

    def spread(self, most: int) -> Iterator[Piece]:
        """Yield up to ``most`` pieces spread evenly over all, read in this process, one in memory at a time."""
        pieces = list(self.unread((0, 0))) if self.again else []
        if not pieces:
            raise DataError("these pieces can be read only once: pass a list, or an object that can be read again.")
        step = max(len(pieces) / most, 1.0)
        chosen = sorted({int(step * (i + 0.5)) for i in range(min(most, len(pieces)))})
        for i in chosen:
            yield pieces[i].read()

    def __repr__(self) -> str:
        pieces = "pieces read once" if self.count is None else f"{self.count} pieces"
        what = "times" if self.field is not None else "samples"
        samples = "" if self.n_samples is None else f"; {self.n_samples} {what}"
        return f"Pieces({', '.join(self.head.state_names)}{samples}; {pieces})"


def members_of(data: Data | Trajectory) -> Data:
    """Return data as a piece holds it: a trajectory alone becomes trajectories."""
    return Trajectories([data]) if isinstance(data, Trajectory) else data

"""Chunks of a stream as pieces: where one goes on from the one before, its rows do so too."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from exactsindy.chunked import Piece, Plan
from exactsindy.data import Data, Trajectories, Trajectory

# Steps after the last sample up to which a chunk goes on from the one before.
_NEXT = 1.5


@dataclass(frozen=True, eq=False)
class Tail:
    """The last samples of a chunk, of which those from ``done`` on have no rows yet."""

    member: Trajectory
    done: int


def pieces_with(tail: Tail | None, data: Data, plan: Plan) -> tuple[list[Piece], Tail | None]:
    """Return the pieces that a chunk completes, and the tail it leaves.

    The last rows of a trajectory need neighbours that are still to come; they wait for the next chunk. If that does not
    go on from this one, they are made as at the end of a trajectory.
    """
    if not isinstance(data, Trajectories):
        return [Piece(data, ((0, len(data.times)),))], None
    if plan.reach == (0, 0):
        return [Piece(data, tuple((0, len(member)) for member in data))], None
    pieces: list[Piece] = []
    for member in data:
        if tail is not None and not _follows(tail.member, member):
            pieces += _last(tail, data)
            tail = None
        joined = member if tail is None else _joined(tail.member, member)
        start = 0 if tail is None else tail.done
        stop = max(len(joined) - plan.reach[1], start)
        if stop > start:
            pieces.append(Piece(_alone(joined, data), ((start, stop),), goes_on=start > 0))
        keep = max(stop - max(plan.reach[0], 1), 0)
        tail = Tail(joined.slice(keep, len(joined)), stop - keep)
    return pieces, tail


def _last(tail: Tail, data: Trajectories) -> list[Piece]:
    """Return the rows that waited for a chunk that did not come."""
    if tail.done >= len(tail.member):
        return []
    return [Piece(_alone(tail.member, data), ((tail.done, len(tail.member)),), goes_on=tail.done > 0)]


def _follows(before: Trajectory, after: Trajectory) -> bool:
    step = before.times[-1] - before.times[-2]
    return before.names == after.names and 0 < after.times[0] - before.times[-1] <= _NEXT * step


def _joined(before: Trajectory, after: Trajectory) -> Trajectory:
    slopes = None
    if before.derivatives is not None and after.derivatives is not None:
        slopes = np.vstack((before.derivatives, after.derivatives))
    return replace(
        after,
        times=np.concatenate((before.times, after.times)),
        states=np.vstack((before.states, after.states)),
        controls=np.vstack((before.controls, after.controls)),
        derivatives=slopes,
    )


def _alone(member: Trajectory, data: Trajectories) -> Trajectories:
    return Trajectories([member], data.targets, time_name=data.time_name)

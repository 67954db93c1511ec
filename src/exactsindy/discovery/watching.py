"""What one pass over data in pieces sees beside the rows: gaps, jumps of inputs, sentinels, steady tails.

Rows that hold a number for "missing" are left out, as in memory. At gaps, jumps and tails, where data in memory are cut
before anything else, data that are read piece by piece are only looked at, and named.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy._types import Array
from exactsindy.chunked import Piece, Plan, joined
from exactsindy.data import Notice, Trajectories, Trajectory, gap_starts
from exactsindy.discovery.jumps import jumps
from exactsindy.discovery.recognise import are_codes, far_limits, good_runs, is_sentinel
from exactsindy.discovery.trim import steady_end, worth_cutting
from exactsindy.problem import Problem

# Values and times that are named.
_NAMED = 6
# Difference of the means of two stretches, in units of the noise, up to which the one goes on in the steady state of
# the other.
_SAME = 0.5


@dataclass(frozen=True)
class Run:
    """A stretch of a trajectory: its samples, those at its end that are steady, and where (in units of the noise)."""

    samples: int
    steady: int
    mean: tuple[float, ...]

    def then(self, other: Run) -> Run:
        """Return this stretch with the one that goes on from it."""
        same = all(abs(a - b) <= _SAME for a, b in zip(self.mean, other.mean, strict=True))
        before = self.steady if same and other.steady == other.samples else 0
        return Run(self.samples + other.samples, before + other.steady, other.mean)

    @property
    def tail(self) -> int:
        """Return the samples at the end that would be cut of data in memory."""
        return worth_cutting(self.samples, self.steady)


@dataclass(frozen=True)
class Far:
    """Samples of a column that are far outside its other values: how many, which numbers, and when."""

    count: int = 0
    numbers: tuple[float, ...] = ()
    times: tuple[float, ...] = ()

    def __add__(self, other: Far) -> Far:
        numbers = sorted({*self.numbers, *other.numbers})[: _NAMED + 1]
        return Far(self.count + other.count, tuple(numbers), (*self.times, *other.times)[: _NAMED + 1])


@dataclass(frozen=True)
class Seen:
    """What was seen in pieces that follow one another; the sum of two is that of all of their pieces.

    ``runs`` are the first and the last trajectory, ``tails`` the steady samples of those between.
    """

    gap: tuple[float, float, float] | None  # ratio to the usual step, begin, end: the longest one
    jumps: tuple[int, ...]  # of each input
    far: tuple[Far, ...]  # of each column
    runs: tuple[Run, ...]
    goes_on: bool
    tails: int = 0

    def __add__(self, other: Seen) -> Seen:
        runs = (*self.runs, *other.runs)
        if other.goes_on and self.runs and other.runs:
            runs = (*self.runs[:-1], self.runs[-1].then(other.runs[0]), *other.runs[1:])
        return Seen(
            max(filter(None, (self.gap, other.gap)), default=None),
            tuple(a + b for a, b in zip(self.jumps, other.jumps, strict=True)),
            tuple(a + b for a, b in zip(self.far, other.far, strict=True)),
            (*runs[:1], *runs[1:][-1:]),
            self.goes_on,
            self.tails + other.tails + sum(run.tail for run in runs[1:-1]),
        )

    def notices(self, data: Trajectories) -> tuple[Notice, ...]:
        """Return what was seen in words, for data with the names of the sample ``data``."""
        notices = []
        name = data.time_name
        if self.gap is not None:
            ratio, begin, end = self.gap
            text = f"{name}: no samples between {begin:g} and {end:g}, {ratio:.0f} times the usual step. "
            notices.append(Notice("gap", f"{text}Store the parts as trajectories of their own."))
        held = [column for column, count in zip(data.control_names, self.jumps, strict=True) if count]
        if held:
            count, verb = max(self.jumps), "jumps" if len(held) == 1 else "jump"
            text = f"{' and '.join(held)} {verb} {'once' if count == 1 else f'{count} times'}: rates jump, too. {_KEPT}"
            notices.append(Notice("jump", f"{text} Store the parts between jumps as trajectories of their own."))
        for column, far in zip((*data.state_names, *data.control_names), self.far, strict=True):
            notices += _far_notice(column, far, column in data.state_names, name)
        tails = self.tails + sum(run.tail for run in self.runs)
        if tails:
            text = f"{tails} samples at the end of trajectories are steady, within their noise. {_KEPT}"
            notices.append(Notice("steady", f"{text} They carry no dynamics: leave most of them out."))
        return tuple(notices)


_KEPT = "Data that are read piece by piece are not cut there."


def _far_notice(column: str, far: Far, is_state: bool, time: str) -> list[Notice]:
    if not far.count:
        return []
    moments = ", ".join(f"{value:g}" for value in far.times[:_NAMED]) + (", ..." if far.count > _NAMED else "")
    where = f"Samples at {time} = {moments}" if far.count > 1 else f"The sample at {time} = {moments}"
    one = far.count == 1
    if is_sentinel(far.numbers, far.count, is_state=is_state):
        numbers = " and ".join(f"{value:.10g}" for value in far.numbers[:_NAMED])
        text = f"{where} hold{'s' if one else ''} {numbers} in {column!r}, far outside its other values"
        if are_codes(np.array(far.numbers)).all():
            return [Notice("sentinel", f"{text}: left out, as missing values are with gaps='split'.")]
        return [Notice("sentinel", f"{text}. {_KEPT} Leave {'it' if one else 'them'} out.")]
    if not is_state or far.count > _NAMED:  # inputs may have pulses, and so may a state
        return []
    text = f"{where} of {column!r} lie{'s' if one else ''} far outside its other values."
    return [Notice("outlier", f"{text} If {'it is a fault, leave it' if one else 'they are faults, leave them'} out.")]


@dataclass(frozen=True, eq=False)
class Watched:
    """The problem of some pieces and what was seen in them."""

    problem: Problem | None
    seen: Seen

    def __add__(self, other: Watched) -> Watched:
        return Watched(joined(self.problem, other.problem), self.seen + other.seen)


@dataclass(frozen=True, eq=False)
class Watching:
    """A plan that looks at every piece as well.

    ``limits`` are, for each column, the values between which all but far samples lie (None: not known), ``noise`` the
    standard deviations of the states; without noise only time and values are looked at.
    """

    plan: Plan
    limits: tuple[tuple[float, float] | None, ...]
    noise: Array | None

    @classmethod
    def beside(cls, plan: Plan, sample: Trajectories, noise: Array | None) -> Watching:
        """Return the plan for data of which a sample is known."""
        columns = np.hstack([np.vstack([m.states for m in sample]), np.vstack([m.controls for m in sample])])
        return cls(plan, tuple(far_limits(column) for column in columns.T), noise)

    @property
    def reach(self) -> tuple[int, int]:
        """Return how many neighbours a piece must hold: steps end at the first sample after it."""
        before, after = self.plan.reach
        return before, max(after, 1)

    @property
    def in_order(self) -> bool:
        """Return True if rows go on from the piece before."""
        return self.plan.in_order

    def problem(self, piece: Piece, before: Any) -> tuple[Any, Any]:
        """Return what a piece gives, with what is seen in it."""
        assert isinstance(piece.data, Trajectories)
        good = self._good(piece, piece.data)
        problem, state = (None, None) if good is None else self.plan.problem(good, before)
        parts = [(member, low, high) for member, (low, high) in zip(piece.data, piece.own, strict=True) if low < high]
        total: Seen | None = None
        for i, part in enumerate(parts):
            seen = self._seen(*part, goes_on=piece.goes_on and i == 0)
            total = seen if total is None else total + seen
        none = Seen(None, (0,) * len(piece.data.control_names), (Far(),) * len(self.limits), (), goes_on=False)
        return Watched(problem, total or none), state

    def _good(self, piece: Piece, data: Trajectories) -> Piece | None:
        """Return the piece without rows that hold a number for "missing"; None if nothing is left."""
        masks = [np.zeros(len(member), dtype=bool) for member in data]
        for member, mask in zip(data, masks, strict=True):
            for column, limits in zip((*member.states.T, *member.controls.T), self.limits, strict=True):
                at = _outside(column, limits)
                mask[at[are_codes(column[at])]] = True
        if not any(mask.any() for mask in masks):
            return piece
        ranges = [(i, a, b) for i, mask in enumerate(masks) for a, b in good_runs(~mask)]
        own = [(max(piece.own[i][0] - a, 0), min(piece.own[i][1], b) - a) for i, a, b in ranges]
        kept = [(part, span) for part, span in zip(ranges, own, strict=True) if span[0] < span[1]]
        if not kept:
            return None
        goes_on = piece.goes_on and kept[0][0][0] == 0 and kept[0][1][0] > 0
        return replace(
            piece, data=data.slices([part for part, _ in kept]), own=tuple(s for _, s in kept), goes_on=goes_on
        )

    def _seen(self, member: Trajectory, low: int, high: int, *, goes_on: bool) -> Seen:
        times, inputs = member.times[low : high + 1], member.controls[low : high + 1]
        runs: tuple[Run, ...] = (Run(high - low, 0, ()),)
        if self.noise is not None and not inputs.shape[1] and member.derivatives is None:
            states = member.states[low:high]
            end = states[-max(len(states) // 5, 1) :].mean(axis=0) / self.noise
            runs = (Run(high - low, steady_end(states, self.noise), tuple(end.tolist())),)
        counts = [len(jumps(column[:, None])) if self.noise is not None else 0 for column in inputs.T]
        columns = (*member.states[low:high].T, *member.controls[low:high].T)
        far = [_far(column, limits, times) for column, limits in zip(columns, self.limits, strict=True)]
        return Seen(_longest(times), tuple(counts), tuple(far), runs, goes_on)


def _longest(times: Array) -> tuple[float, float, float] | None:
    starts = gap_starts(times)
    if not len(starts):
        return None
    steps = np.diff(times)
    i = int(steps.argmax())
    return float(steps[i] / np.median(steps)), float(times[i]), float(times[i + 1])


def _far(values: Array, limits: tuple[float, float] | None, times: Array) -> Far:
    at = _outside(values, limits)
    if not len(at):
        return Far()
    numbers = np.unique(values[at])[: _NAMED + 1]
    return Far(len(at), tuple(numbers.tolist()), tuple(times[at[: _NAMED + 1]].tolist()))


def _outside(values: Array, limits: tuple[float, float] | None) -> NDArray[np.intp]:
    if limits is None or (values.min() > limits[0] and values.max() < limits[1]):
        return np.zeros(0, dtype=np.intp)  # almost always
    return np.flatnonzero((values <= limits[0]) | (values >= limits[1]))

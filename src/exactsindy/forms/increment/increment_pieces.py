"""Whitened increments of data in pieces: rows of a trajectory go on from those of the piece before."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace

from exactsindy.chunked import Piece, Pieces
from exactsindy.data import Trajectories, Trajectory
from exactsindy.differentiation import whittaker
from exactsindy.errors import DataError
from exactsindy.forms.base import EquationGroup, Trial
from exactsindy.forms.increment.increment_rows import Carry, IncrementRows, compressed
from exactsindy.forms.increment.smoothing import Smoothed, smooth, smooth_guided, unbroken_ranges
from exactsindy.library import Library
from exactsindy.problem import Problem

# Neighbours that integrals reach, and those that make the smooth of a piece near its ends that of the whole.
_STENCIL, _SMOOTHING = 8, 256
# Pieces from which the noise is estimated.
_SAMPLED = 16
# Samples of a trajectory of such a piece that are smoothed for it.
_MOST = 1 << 16


@dataclass(frozen=True, eq=False)
class IncrementPlan:
    """The rows of one piece: states are smoothed piece by piece, noise is the same for all of them."""

    equations: tuple[EquationGroup, ...]
    library: Library
    model: Trial | None
    guide: Trial | None
    noise: Smoothed
    raw: bool
    hermite: bool
    in_order: bool = True

    @property
    def reach(self) -> tuple[int, int]:
        """Return how many neighbours a piece must hold."""
        count = _SMOOTHING if self.model is not None or not self.raw else _STENCIL
        return count, count

    def problem(self, piece: Piece, before: list[Carry] | None) -> tuple[Problem | None, list[Carry] | None]:
        """Return the problem of a piece's own increments, and what those of the next piece go on from."""
        data = piece.data
        if not isinstance(data, Trajectories):
            raise DataError("IncrementForm is for trajectories (ODEs); for a field use ModalForm or WeakForm.")
        stretches = [
            (i, low, high, first, last)
            for i, low, high in unbroken_ranges(data)
            for first, last in [(max(piece.own[i][0], low) - low, min(piece.own[i][1], high - 1) - low)]
            if first < last
        ]
        if not stretches:
            return None, None
        smoothed = self._smoothed(tuple(data[i].slice(low, high) for i, low, high, *_ in stretches), data)
        problems: list[Problem] = []
        after: list[Carry] = []
        for g, group in enumerate(self.equations):
            rows = IncrementRows(group, smoothed, self.model, self.raw, self.hermite)
            carry = Carry.fresh(len(group.targets), len(group.features.terms))
            chunks = []
            for k, (i, _, _, first, last) in enumerate(stretches):
                goes_on = piece.goes_on and i == 0 and first > 0 and k == 0 and before is not None
                fresh = Carry.fresh(len(group.targets), len(group.features.terms))
                carry = deepcopy(before[g]) if goes_on and before is not None else fresh
                chunks.append(rows.stretch(k, first, last, carry))
            problems += compressed(group, (chunk for part in chunks for chunk in part))
            after.append(carry)
        return Problem.from_blocks(problems), after

    def _smoothed(self, parts: tuple[Trajectory, ...], data: Trajectories) -> Smoothed:
        noise, floor = self.noise.measured_noise, self.noise.floor
        if self.model is None and self.raw:
            return Smoothed(parts, tuple(part.states for part in parts), noise, floor, ())
        fits = [whittaker(part.states, part.times) for part in parts]
        score = tuple(fit.noise**2 / fit.degrees_of_freedom for fit in fits)
        plain = Smoothed(parts, tuple(fit.values for fit in fits), noise, floor, score)
        if self.guide is None:
            return plain
        together = Trajectories(parts, data.targets, time_name=data.time_name)
        guided = smooth_guided(together, self.library, self.guide, start=plain)
        return replace(guided, measured_noise=noise, floor=floor)


def sampled_noise(pieces: Pieces) -> Smoothed:
    """Return the smooth of up to sixteen pieces spread over the data; of a stream read once, of its first one."""
    parts = (piece.data for piece in pieces.spread(_SAMPLED)) if pieces.again else iter([pieces.head])
    members = [m.slice(0, min(len(m), _MOST)) for part in parts if isinstance(part, Trajectories) for m in part]
    return smooth(Trajectories(members, pieces.head.targets))

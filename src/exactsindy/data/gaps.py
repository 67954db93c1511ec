"""Trajectories with holes: refused, or cut into pieces without them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.data.checks import LEAST_SAMPLES, check_beside, check_states, check_times, numbers
from exactsindy.data.notice import Notice
from exactsindy.data.trajectory import Trajectory
from exactsindy.errors import DataError

Array = NDArray[np.float64]


def pieces(
    time: Any,
    states: Any,
    controls: Any,
    derivatives: Any,
    *,
    gaps: str,
    names: Sequence[str] | None,
    control_names: Sequence[str] | None,
    label: str = "",
) -> tuple[list[Trajectory], list[Notice]]:
    """Return the trajectory, or with ``gaps="split"`` its parts between missing values and breaks in time."""
    if gaps not in ("refuse", "split"):
        raise DataError(f"gaps={gaps!r}: expected 'refuse' or 'split'.")
    if gaps == "refuse":
        whole = Trajectory(
            time,
            states,
            names,
            controls=controls,
            control_names=control_names,
            derivatives=derivatives,
            label=label,
        )
        return [whole], []
    x = check_states(numbers(states, "states"))
    t = check_times(time, x)
    u = None if controls is None else check_beside(controls, "controls", len(x))
    dx = None if derivatives is None else check_beside(derivatives, "derivatives", len(x))
    known = np.isfinite(np.hstack([part for part in (x, u, dx) if part is not None]))
    whole_rows = np.asarray(known.all(axis=1))
    breaks = np.flatnonzero(np.diff(t) > 10 * np.median(np.diff(t))) + 1
    members: list[Trajectory] = []
    notices: list[Notice] = []
    for low, high in _runs(whole_rows, breaks):
        part = slice(low, high)
        if high - low < LEAST_SAMPLES:
            where = f"{t[low]:g}" if high - low == 1 else f"{t[low]:g} to {t[high - 1]:g}"
            notices.append(
                Notice("short piece", f"{high - low} samples at {where} between gaps are too few and left out.")
            )
            continue
        name = f"{label or 'piece'} {len(members)}"
        members.append(
            Trajectory(
                t[part],
                x[part],
                names,
                controls=None if u is None else u[part],
                control_names=control_names,
                derivatives=None if dx is None else dx[part],
                label=name,
            )
        )
    if len(members) > 1 or not whole_rows.all():
        left_out = int((~whole_rows).sum())
        notices.insert(
            0,
            Notice("split", f"Cut into {len(members)} pieces at gaps; {left_out} samples have missing values."),
        )
    return members, notices


def _runs(whole: NDArray[np.bool_], breaks: NDArray[np.intp]) -> list[tuple[int, int]]:
    """Return the ranges of consecutive whole rows, cut also at ``breaks``."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], whole.astype(np.int8), [0]))))
    runs = []
    for low, high in zip(edges[::2], edges[1::2], strict=True):
        inside = [int(b) for b in breaks if low < b < high]
        borders = [int(low), *inside, int(high)]
        runs += list(pairwise(borders))
    return runs

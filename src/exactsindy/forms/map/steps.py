"""Samples of a map as rows: pieces of equal steps, and columns of earlier samples beside them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Trajectories, Trajectory
from exactsindy.errors import DataError

# A step may differ from the usual one by this share of it: months have 28 to 31 days. A step that is so close to a
# multiple of the usual one says that samples are missing.
_UNEQUAL = 0.15


def unbroken(data: Trajectories, lags: int = 0) -> Trajectories:
    """Return the trajectories cut where samples are missing, so that every piece has equal steps.

    Pieces too short for one row (``lags`` + 2 samples, at least 3) are left out.

    Raises
    ------
    DataError
        If steps are not equal, or no piece is long enough.
    """
    usual = float(np.median(np.concatenate([np.diff(member.times) for member in data])))
    pieces = []
    for member in data:
        steps = np.diff(member.times) / usual
        count = np.maximum(np.rint(steps), 1.0)
        bad = np.flatnonzero(np.abs(steps - count) > _UNEQUAL)
        if len(bad):
            at = int(bad[0])
            raise DataError(
                f"MapForm: the steps are not equal: {usual:g} most often, but {steps[at] * usual:g} after time "
                f"{member.times[at]:g}. A map needs equal steps; average or interpolate the samples to equal steps, or "
                "leave the time out if the order of the samples is all that counts."
            )
        cuts = [0, *(np.flatnonzero(count > 1) + 1).tolist(), len(member)]
        pieces += [member.slice(low, high) for low, high in pairwise(cuts) if high - low >= max(lags + 2, 3)]
    if not pieces:
        raise DataError(
            f"MapForm(lags={lags}): no stretch of equal steps has {max(lags + 2, 3)} samples; expected at least one."
        )
    return data if len(pieces) == len(data) else replace(data, members=tuple(pieces))


def lag_names(data: Trajectories, lags: int) -> tuple[str, ...]:
    """Return the names of the columns that `lagged` adds: ``x[k-1]``, ``u[k-1]``, ``x[k-2]``, ..."""
    own = tuple(name for name in data.control_names if "[k-" not in name)
    return tuple(f"{name}[k-{lag}]" for lag in range(1, lags + 1) for name in (*data.state_names, *own))


def lagged(data: Trajectories, lags: int) -> Trajectories:
    """Return the samples that have ``lags`` others before them, with those as more controls, ``x[k-1]`` and so on."""
    if not lags:
        return data
    names = (*data.control_names, *lag_names(data, lags))
    taken = set(data.control_names) & set(lag_names(data, lags))
    if taken:
        raise DataError(f"MapForm(lags={lags}): the control {taken.pop()!r} is called like a lag; rename it.")
    return replace(data, members=tuple(_with_lags(member, names, lags) for member in data))


def _with_lags(member: Trajectory, names: tuple[str, ...], lags: int) -> Trajectory:
    columns = np.hstack((member.states, member.controls))
    n = len(member)
    earlier: list[Array] = [columns[lags - lag : n - lag] for lag in range(1, lags + 1)]
    return replace(
        member,
        times=member.times[lags:],
        states=member.states[lags:],
        controls=np.hstack([member.controls[lags:], *earlier]),
        control_names=names,
        derivatives=None,
    )

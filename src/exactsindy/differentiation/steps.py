"""Checks of sample times, shared by all methods of differentiation."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.errors import DataError

# Largest difference of equal steps, as a share of the step, that rounding in arange and linspace leaves.
ROUNDING = 1e-9
# The same for equal steps written to a file with few digits; harmless to methods that smooth anyway.
PRINTED = 1e-3


def samples(x: ArrayLike, t: ArrayLike | float, axis: int, least: int, method: str) -> tuple[Array, Array]:
    """Return values with ``axis`` first and the sample times, or say what is wrong with them.

    ``t`` may be a step instead of times.
    """
    values = np.moveaxis(np.atleast_1d(np.asarray(x, dtype=float)), axis, 0)
    times = np.asarray(t, dtype=float)
    is_step = times.ndim == 0
    if is_step:
        times = times * np.arange(len(values))
    if times.shape != (len(values),):
        raise DataError(
            f"{method}: x has {len(values)} samples along axis {axis} but t has shape {times.shape}; "
            "expected one time per sample, or a step."
        )
    if len(values) < least:
        raise DataError(f"{method}: {len(values)} samples are too few; it needs at least {least}.")
    if not (times[1] > 0 and times[-1] < np.inf if is_step else (np.diff(times) > 0).all()):
        raise DataError(f"{method}: t must increase from sample to sample; sort the data and remove repeated times.")
    return values, times


def step_of(t: ArrayLike | float, times: Array, tolerance: float = ROUNDING) -> float | None:
    """Return the step of the times that `samples` made of ``t``: where ``t`` is a step there is nothing to check."""
    if np.ndim(t) == 0:
        return float(times[-1] - times[0]) / (len(times) - 1)
    return uniform_step(times, tolerance)


def uniform_step(t: Array, tolerance: float = ROUNDING) -> float | None:
    """Return the step of equally spaced times, or ``None`` if one differs by more than ``tolerance`` of it."""
    step = float(t[-1] - t[0]) / (len(t) - 1)
    slack = tolerance * step + 4 * np.finfo(float).eps * float(np.abs(t[[0, -1]]).max())
    return step if float(np.abs(np.diff(t) - step).max()) <= slack else None

"""PySINDy's differentiation methods for our forms."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.differentiation import PRINTED, samples, uniform_step
from exactsindy.errors import DataError

# These look at the times; all others (`finite_difference` of SINDyDerivative among them) take them for equally spaced
# and return wrong derivatives without a word.
_UNEQUAL_STEPS = ("FiniteDifference",)
_UNEQUAL_KINDS = ("kalman", "kernel", "savitzky_golay", "spline")


@dataclass(frozen=True)
class PySINDyDifferentiation:
    """A differentiation method of PySINDy along any axis; made by `from_pysindy`.

    Where PySINDy would go on silently this refuses: unequal steps with a method that assumes equal ones, samples that
    get no derivative (NaN), derivatives of higher order under the name of the first.
    """

    method: Any

    def __post_init__(self) -> None:
        if getattr(self.method, "d", 1) != 1:
            raise DataError(
                f"from_pysindy: the method takes derivative d={self.method.d}; expected d=1. For x'' name the target "
                "x'' in the data."
            )

    def __call__(self, x: ArrayLike, t: ArrayLike | float, *, axis: int = 0) -> Array:
        """Return the derivative of ``x`` along ``axis``."""
        return self._run(x, t, axis)[1]

    def states(self, x: ArrayLike, t: ArrayLike | float, *, axis: int = 0) -> Array:
        """Return the states the method smoothed, or the samples."""
        return self._run(x, t, axis)[0]

    def _run(self, x: ArrayLike, t: ArrayLike | float, axis: int) -> tuple[Array, Array]:
        label = type(self.method).__name__
        values, times = samples(x, t, axis, 3, label)
        step = uniform_step(times, PRINTED)
        kind = getattr(self.method, "kwargs", {}).get("kind")
        if step is None and label not in _UNEQUAL_STEPS and kind not in _UNEQUAL_KINDS:
            raise DataError(
                f"{label} takes samples for equally spaced, which these are not: use pysindy.FiniteDifference, or "
                "es.differentiation.SmoothedFiniteDifference, which smooths on unequal steps."
            )
        # A copy: methods keep what they smoothed, and along axis 0 all of them work.
        method = copy.deepcopy(self.method)
        if hasattr(method, "axis"):
            method.axis = 0
        table = values.reshape(len(values), -1)
        slopes = np.asarray(method(table, times), dtype=float)
        missing = int(np.isnan(slopes).any(axis=1).sum())
        if missing:
            raise DataError(f"{label} returned no derivative (NaN) for {missing} samples: use drop_endpoints=False.")
        smooth = np.asarray(getattr(method, "smoothed_x_", table), dtype=float)
        shape = values.shape
        return np.moveaxis(smooth.reshape(shape), 0, axis), np.moveaxis(slopes.reshape(shape), 0, axis)

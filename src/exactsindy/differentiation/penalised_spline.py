"""Derivatives of any order of samples smoothed by `whittaker`, from one curve through all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.differentiation.penalised import whittaker
from exactsindy.differentiation.steps import samples
from exactsindy.errors import DataError

# Degree of the spline through the smoothed samples: its second derivative is then smooth, too.
_DEGREE = 5
# Fewest samples: what `whittaker` needs.
_LEAST = 8


@dataclass(frozen=True)
class PenalisedSpline:
    """Derivatives of the spline through samples smoothed by `whittaker`: x, x' and x'' belong to one curve.

    How much is smoothed is chosen from the data (generalised cross-validation). White noise is assumed.

    Parameters
    ----------
    d
        Which derivative: 1 for x', 2 for x''.

    Examples
    --------
    >>> t = np.linspace(0, 10, 201)
    >>> bool(np.abs(PenalisedSpline(d=2)(np.sin(t), t) + np.sin(t))[5:-5].max() < 1e-3)
    True
    """

    d: int = 1

    def __post_init__(self) -> None:
        if not (isinstance(self.d, int) and 1 <= self.d < _DEGREE):
            raise DataError(f"PenalisedSpline(d={self.d!r}): expected an integer from 1 to {_DEGREE - 1}.")

    def __call__(self, x: ArrayLike, t: ArrayLike | float, *, axis: int = 0) -> Array:
        """Return the derivative of ``x`` along ``axis`` at the sample times ``t`` (times or a step)."""
        from scipy.interpolate import make_interp_spline  # loaded when needed: it costs more than numpy

        values, times = samples(x, t, axis, _LEAST, "PenalisedSpline")
        curve = make_interp_spline(times, whittaker(values, times).values, k=_DEGREE)
        return np.moveaxis(np.asarray(curve.derivative(self.d)(times)), 0, axis)

    def states(self, x: ArrayLike, t: ArrayLike | float, *, axis: int = 0) -> Array:
        """Return the smoothed samples."""
        values, times = samples(x, t, axis, _LEAST, "PenalisedSpline")
        return np.moveaxis(whittaker(values, times).values, 0, axis)

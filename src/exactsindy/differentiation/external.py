"""Derivatives by any method of the PyNumDiff package."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._optional import optional
from exactsindy._types import Array
from exactsindy.differentiation.steps import PRINTED, samples, uniform_step
from exactsindy.errors import DataError, nearest


@dataclass(frozen=True)
class PyNumDiff:
    """A method of PyNumDiff, column by column: Kalman smoothing, splines, total variation, ...

    Parameters
    ----------
    method
        Name of a function in ``pynumdiff``, e.g. ``"splinediff"`` or ``"rtsdiff"``, or such a function.
    parameters
        Its keyword arguments, e.g. ``{"degree": 5, "s": 0.1}``.
    """

    method: str | Callable[..., Any]
    parameters: Mapping[str, object] = field(default_factory=dict)

    def __call__(self, x: ArrayLike, t: ArrayLike | float, *, axis: int = 0) -> Array:
        """Return the derivative of ``x`` along ``axis``."""
        return self._run(x, t, axis)[1]

    def states(self, x: ArrayLike, t: ArrayLike | float, *, axis: int = 0) -> Array:
        """Return the smoothed states that PyNumDiff computes beside the derivative."""
        return self._run(x, t, axis)[0]

    def _run(self, x: ArrayLike, t: ArrayLike | float, axis: int) -> tuple[Array, Array]:
        function = self.method if callable(self.method) else _named(self.method)
        label = f"PyNumDiff({self.method if isinstance(self.method, str) else function.__name__!r})"
        values, times = samples(x, t, axis, 3, label)
        step = uniform_step(times, PRINTED)
        if step is None and "dt_or_t" not in inspect.signature(function).parameters:
            cure = "choose one for unequal steps, e.g. 'splinediff', 'polydiff', 'rbfdiff' or 'rtsdiff'."
            raise DataError(f"{label}: this method needs equally spaced samples; {cure}")
        flat = values.reshape(len(values), -1)
        where: float | Array = times if step is None else step
        pairs = [function(np.ascontiguousarray(column), where, **self.parameters) for column in flat.T]
        states, slopes = (np.stack([pair[i] for pair in pairs], axis=1).reshape(values.shape) for i in (0, 1))
        return np.moveaxis(states, 0, axis), np.moveaxis(slopes, 0, axis)


def _named(name: str) -> Callable[..., Any]:
    pynumdiff = optional("pynumdiff", "differentiation", "A method of PyNumDiff")
    function = getattr(pynumdiff, name, None)
    if not inspect.isfunction(function):
        methods = [key for key in dir(pynumdiff) if key.endswith("diff")]
        raise DataError(f"PyNumDiff({name!r}): pynumdiff has no such method. {nearest(name, methods)}")
    return cast(Callable[..., Any], function)

"""Residuals of a model from sample to sample, in units of the noise, and their autocorrelation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Trajectories
from exactsindy.errors import ExactSindyError
from exactsindy.forms import IncrementForm, smooth
from exactsindy.library import Terms
from exactsindy.model import Model

# Beyond this many samples nothing is computed, because a page could not show it.
_MOST_SAMPLES = 200_000
# Lags of the autocorrelation.
_LAGS = 40


@dataclass(frozen=True, eq=False)
class ResidualSeries:
    """What an equation leaves of the change of its state from sample to sample, whitened.

    ``values`` have standard deviation 1 and are independent if the equation is right and the noise white;
    ``times`` are the middles of the intervals. ``correlation`` is that of values 1, 2, ... samples apart, and ``band``
    twice the standard deviation that independent values give it.
    """

    equation: str
    times: Array
    values: Array
    correlation: Array
    band: float


def residual_series(model: Model, data: Trajectories) -> tuple[ResidualSeries, ...]:
    """Return the residuals of the equations x' = f; none where they cannot be computed."""
    if (
        model.is_map
        or data.n_samples > _MOST_SAMPLES
        or model.target_names != tuple(target.name for target in data.targets)
    ):
        return ()
    terms = tuple(dict.fromkeys(term for row in model.rows for term in row.terms))
    if not terms:
        return ()
    coef = np.array(
        [[dict(zip(row.terms, row.coefficients, strict=True)).get(t, 0.0) for t in terms] for row in model.rows]
    )
    try:
        smoothed = smooth(data)
        form = IncrementForm(model=coef, smoothed=smoothed)
        rows = list(form.rows(data, Terms(terms)))
    except (ExactSindyError, ArithmeticError, np.linalg.LinAlgError):
        return ()
    times = np.concatenate([(piece.times[1:] + piece.times[:-1]) / 2 for piece in smoothed.pieces])
    return tuple(_series(rows, coef, times))


def _series(rows: list[tuple[str, Array, Array]], coef: Array, times: Array) -> Iterator[ResidualSeries]:
    for (name, theta, target), xi in zip(rows, coef, strict=True):
        values = target - theta @ xi
        if len(values) != len(times) or not np.isfinite(values).all():
            continue
        lags = min(_LAGS, len(values) // 3)
        centred = values - values.mean()
        square = max(float(centred @ centred), float(np.finfo(float).tiny))
        correlation = np.array([centred[lag:] @ centred[: len(centred) - lag] / square for lag in range(1, lags + 1)])
        yield ResidualSeries(name, times, values, correlation, 2 / np.sqrt(len(values)))

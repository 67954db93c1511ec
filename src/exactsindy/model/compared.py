"""The methods of a model that compare it with data: how much it explains, and how large its terms are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from exactsindy.data import Field, Samples
from exactsindy.errors import DataError
from exactsindy.model import score as scoring
from exactsindy.model.model_like import ModelLike
from exactsindy.model.sampled import Sampled
from exactsindy.model.shares import row_shares, sample_shares
from exactsindy.problem import Problem


def scores(
    model: ModelLike,
    data: scoring.Data,
    t: ArrayLike | None = None,
    *,
    u: Samples | None = None,
    parameters: Mapping[str, float] | None = None,
    differentiation: scoring.Differentiation | None = None,
    horizon: int = 1,
) -> dict[str, float]:
    """Return R^2 of every equation: how much of the measured time derivative (maps: next samples) it explains.

    Parameters
    ----------
    data
        States (n, d) with ``t`` and ``u``, a frame (read by name), `Trajectories` or a `Field`. Measured
        derivatives are used.
    t, u, parameters
        Times, controls and parameters beside an array; of a frame the time column, ``t`` or ``time`` by default.
    differentiation
        Differences of fourth order by default, which suit clean data only: a right model scores low on noisy
        derivatives. Pass ``SmoothedFiniteDifference()`` for noisy data.
    horizon
        Maps: the number of steps that are predicted from every sample. Errors of a chaotic map grow with it.
    """
    if model.is_map:
        return scoring.map_scores(Sampled(model.rows, model.variables), data, t, u, horizon, parameters)
    if horizon != 1:
        raise DataError(f"score(horizon={horizon!r}): only maps (x[k+1]) are scored over several steps.")
    if model.is_field:
        return scoring.field_scores(model.rows, model.variables, data, differentiation)
    return scoring.trajectory_scores(Sampled(model.rows, model.variables), data, t, u, differentiation, parameters)


def score(
    model: ModelLike,
    data: scoring.Data,
    t: ArrayLike | None = None,
    *,
    u: Samples | None = None,
    parameters: Mapping[str, float] | None = None,
    differentiation: scoring.Differentiation | None = None,
    horizon: int = 1,
) -> float:
    """Return the mean of `scores` over the equations; 1 is perfect."""
    values = scores(model, data, t, u=u, parameters=parameters, differentiation=differentiation, horizon=horizon)
    return float(np.mean([*values.values()]))


def shares(
    model: ModelLike,
    data: scoring.Data | Problem,
    t: ArrayLike | None = None,
    *,
    u: Samples | None = None,
    parameters: Mapping[str, float] | None = None,
) -> dict[str, dict[str, float]]:
    """Return how large each term is beside the whole right-hand side, by equation and name of the term.

    The share is rms(coefficient * term) / rms(right-hand side) over the data. Terms that cancel each other have
    shares above 1; one far below the others may be left out without much harm.

    Parameters
    ----------
    data
        States (n, d) with ``t`` and ``u``, a frame, or `Trajectories`: the root mean square is that over all
        samples. Or the `Problem` that the equations were fitted to: over its rows. A model of fields needs that,
        because derivatives of a noisy field on its grid are mostly noise, which the rows average away.
    t, u, parameters
        Times, controls and parameters beside an array; as for `scores`.

    Examples
    --------
    >>> import exactsindy as es
    >>> model = es.Model.from_coefficients({"x'": {"x": -1.0, "x^3": 0.25}})
    >>> model.shares([[1.0], [-1.0], [1.0]], 0.1)
    {"x'": {'x': 1.3333333333333333, 'x^3': 0.3333333333333333}}
    """
    if isinstance(data, Problem):
        return row_shares(model.rows, data)
    if model.is_field or isinstance(data, Field):
        raise DataError("shares: for a model of fields pass the Problem it was fitted to, e.g. found.problem.")
    clock = 1.0 if model.is_map and t is None else t
    sampled = Sampled(model.rows, model.variables)
    return sample_shares(sampled, scoring.as_trajectories(data, clock, u, sampled, parameters))

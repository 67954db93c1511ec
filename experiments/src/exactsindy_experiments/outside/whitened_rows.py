"""Weak rows of one field made independent: windows that overlap share the noise of their samples; and that noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Field
from exactsindy_experiments.outside.weak_rows import Column, Windows, weights_of

Array = NDArray[np.float64]
# Directions in which noise has less than this share of its mean variance are left out. Smooth windows that overlap
# heavily span far fewer directions than there are of them; in the others noise of the columns themselves, errors of
# the quadrature and rounding would pass for information. Shares from 1e-4 to 1e-1 chose alike on tuning fields
# (other shocks and solitons than those measured).
_LEAST = 1e-3
# The order of the differences from which noise is estimated, which smooth waves hardly reach.
_ORDER = 4


def sample_noise(field: Field) -> tuple[float, ...]:
    """Return the standard deviation of white noise of every field: the least that differences along an axis show.

    By the median of their absolute values, which a shock does not move.
    """
    spread = math.sqrt(math.comb(2 * _ORDER, _ORDER))  # of differences of noise of standard deviation 1
    return tuple(
        min(float(np.median(np.abs(np.diff(np.asarray(v), _ORDER, axis=axis)))) for axis in range(np.ndim(v)))
        / (NormalDist().inv_cdf(0.75) * spread)
        for v in (field[name] for name in field.names)
    )


def row_covariance(field: Field, windows: Windows, columns: Sequence[Column], coefficients: Array) -> Array:
    """Return the covariance of the errors of the rows of a field over one axis, for noise of standard deviation 1.

    To first order the error of a row is the noise times (-phi_t) less, for each column of a trial model, its
    coefficient times the slope of its monomial at the sample times the derivative of phi. Slopes are taken at the
    measured values, so that they grow with the noise as the errors do.
    """
    u = np.asarray(field[field.names[0]])
    space, still, rate = weights_of(field, windows)
    slopes: dict[int, Array] = {}
    for (exponents, orders), coefficient in zip(columns, coefficients, strict=True):
        if coefficient and exponents[0]:
            slope = -coefficient * exponents[0] * u ** (exponents[0] - 1)
            slopes[orders[0]] = slopes.get(orders[0], 0.0) + slope
    along = [space[0][0], *(space[0][order] for order in slopes)]
    points = len(u)
    in_time = [np.broadcast_to(rate, (points, *rate.shape)), *(still * slope[:, None] for slope in slopes.values())]
    wide, long = len(space[0][0]), len(rate)
    total = np.zeros((wide, wide, long, long))
    for a, (x, one) in enumerate(zip(along, in_time, strict=True)):
        for y, other in zip(along[: a + 1], in_time[: a + 1], strict=True):
            pairs = (x[:, None] * y).reshape(wide * wide, points)
            times = np.matmul(one, other.transpose(0, 2, 1)).reshape(points, long * long)
            part = (pairs @ times).reshape(total.shape)
            total += part if x is y and one is other else part + part.transpose(1, 0, 3, 2)
    return np.ascontiguousarray(total.transpose(0, 2, 1, 3)).reshape(wide * long, wide * long)


def whitened(theta: Array, target: Array, covariance: Array) -> tuple[Array, Array]:
    """Return rows (directions x columns) and target whose errors are independent and of variance 1.

    There are as many as directions in which the windows see noise: the number of rows that their information is worth.
    """
    variances, kept = noisy_directions(covariance)
    turned = kept.T @ np.column_stack([theta, target]) / np.sqrt(variances)[:, None]
    return turned[:, :-1], turned[:, -1]


def noisy_directions(covariance: Array) -> tuple[Array, Array]:
    """Return the variances and directions (rows x directions) in which noise is not far below its mean."""
    variances, directions = np.linalg.eigh(covariance)
    kept = variances >= _LEAST * variances.mean()
    return variances[kept], directions[:, kept]


def criterion(theta: Array, target: Array, coefficients: Array, covariance: Array, directions: Array) -> float:
    """Return the extended BIC of a model, in given directions, with the covariance that its own terms give the rows.

    A model that lets little noise through makes every row count more, and has to pay for it by what it leaves.
    """
    chosen = np.flatnonzero(coefficients)
    factor = np.linalg.cholesky(directions.T @ covariance @ directions)
    rows = np.linalg.solve(factor, directions.T @ np.column_stack([theta[:, chosen], target]))
    left = rows[:, -1] - rows[:, :-1] @ np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=None)[0]
    n, k = len(left), len(chosen)
    likelihood = n * math.log(float(left @ left) / n) + 2 * float(np.log(np.diag(factor)).sum())
    return likelihood + k * math.log(n) + 2 * math.log(math.comb(theta.shape[1], k))

"""Standard errors of fitted coefficients from the stored factor of the regression."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from exactsindy._types import Array
from exactsindy.problem import Problem


def standard_errors(
    problem: Problem, target: int, coef: Array, support: Sequence[int], ridge: Array, fixed: Collection[int] = ()
) -> tuple[float, ...] | None:
    r"""Return the standard errors of the coefficients of one equation, or ``None`` if they do not exist.

    With R_S the columns of the support, sigma^2 = RSS / (n - k) and Lambda the ridge, the covariance is
    sigma^2 (R_S'R_S + Lambda)^-1 R_S'R_S (R_S'R_S + Lambda)^-1, which is sigma^2 (R_S'R_S)^-1 without ridge.
    It assumes that the support is the right one and that residuals are white: independent, of one variance.
    Overlapping weak windows and noise that enters through the library break that, and make the true errors
    larger. There are none for n <= k or dependent columns.

    Parameters
    ----------
    problem
        The regression.
    target
        Index of the equation.
    coef
        Its coefficients over all terms of the problem.
    support
        Indices of its terms.
    ridge
        Ridge weights over all terms of the problem.
    fixed
        Indices of terms whose coefficients constraints decide: they have no standard error (nan), and those of the
        others are for these known.
    """
    if any(index in fixed for index in support):
        free = [index for index in support if index not in fixed]
        errors = standard_errors(problem, target, coef, free, ridge)
        spread_of = dict(zip(free, errors, strict=True)) if errors is not None else {}
        return tuple(spread_of.get(index, np.nan) for index in support) if spread_of else None
    block, j = problem.locate(target)
    freedom = block.n_samples - len(support)
    if not len(support) or freedom <= 0:
        return None
    columns = problem.columns(block)
    position = {int(column): i for i, column in enumerate(columns)}
    factor = block.theta_factor[:, [position[index] for index in support]]
    # Columns of size one: the rank decision must not depend on units.
    scale = np.sqrt(np.einsum("ij,ij->j", factor, factor) + ridge[list(support)])
    if not (scale > 0).all():
        return None
    scaled = factor / scale
    augmented = np.vstack([scaled, np.diag(np.sqrt(ridge[list(support)]) / scale)])
    triangle = np.linalg.qr(augmented, mode="r")
    singular = np.linalg.svd(triangle, compute_uv=False)
    if singular[-1] <= len(support) * np.finfo(float).eps * singular[0]:
        return None
    inverse = np.linalg.inv(triangle)
    spread = np.linalg.norm((scaled @ inverse) @ inverse.T, axis=0) / scale
    sigma = np.sqrt(block.rss(j, coef[columns]) / freedom)
    return tuple(float(value) for value in sigma * spread)

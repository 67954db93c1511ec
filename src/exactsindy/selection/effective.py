"""How many independent rows dependent ones are worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.errors import SolverError
from exactsindy.problem import Problem


def effective_rows(folds: Sequence[Problem], coef: ArrayLike) -> Array:
    r"""Return per equation how many independent rows the rows of all folds are worth.

    The sum of squares of n independent residuals of one variance scatters by a share sqrt(2 / n) of its mean; m rows
    that depend on each other scatter as if there were fewer, m_eff = (tr C)^2 / tr(C^2). So the scatter of the
    residual per row between folds gives m_eff. It needs folds (10 or more) longer than the dependence.

    Parameters
    ----------
    folds
        Parts of the data, contiguous in time, such as ``form.folds(data, library, 20)``.
    coef
        Coefficients (equations x terms) whose residuals are looked at; an saturated model serves best.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(rng.normal(size=(50, 40)), 3, axis=1)  # every row three times
    >>> folds = [Problem.from_arrays(np.ones((120, 1)), part) for part in y]
    >>> bool(1300 < effective_rows(folds, [[0.0]])[0] < 2700)  # 2000 of 6000
    True
    """
    if len(folds) < 2:
        raise SolverError("effective_rows(folds): expected at least two folds, better 10 or more.")
    counts = np.array([[fold.n_samples_of(i) for i in range(len(fold.target_names))] for fold in folds], dtype=float)
    means = np.array([fold.rss(coef) for fold in folds]) / counts
    # Weighted by length: short folds scatter more.
    centre = (counts * means).sum(axis=0) / counts.sum(axis=0)
    scatter = (counts * (means / centre - 1.0) ** 2).sum(axis=0) / (len(folds) - 1)
    total = counts.sum(axis=0)
    return np.asarray(np.clip(2.0 * total / np.maximum(scatter, 2.0), 1.0, total))


def effective_samples(residuals: ArrayLike) -> float:
    r"""Return how many independent rows a series of residuals, in order, is worth.

    m_eff = N / (1 + 2 sum_l (1 - l/N) rho_l^2) with rho the autocorrelation. The squares matter: for a row that is a
    difference, as in every weak form, sum rho is 0. Lags are summed until rho falls into the noise of its estimate.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=3000)
    >>> bool(2700 < effective_samples(noise) <= 3000)
    True
    >>> bool(effective_samples(np.convolve(noise, np.ones(10), "valid")) < 700)
    True
    """
    series = np.asarray(residuals, dtype=float).ravel()
    n = len(series)
    if n < 3 or not np.isfinite(series).all():
        raise SolverError("effective_samples(residuals): expected at least 3 finite numbers.")
    spectrum = np.abs(np.fft.rfft(series - series.mean(), 2 * n)) ** 2
    correlation = np.fft.irfft(spectrum)[:n]
    if correlation[0] <= 0:
        return float(n)
    rho = correlation[1:] / correlation[0]
    quiet = np.convolve(np.abs(rho) < 2.0 / np.sqrt(n), np.ones(10), "valid") >= 10
    last = int(np.argmax(quiet)) if quiet.any() else len(rho)
    lags = np.arange(1, last + 1)
    return float(n / (1.0 + 2.0 * np.sum((1.0 - lags / n) * rho[:last] ** 2)))

"""STLSQ and SSR of PySINDy, tuned on validation data as in the published experiments."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Trajectories
from exactsindy.differentiation import SmoothedFiniteDifference, whittaker
from exactsindy.library import Library
from exactsindy_experiments.paper.criterion import aicc
from exactsindy_experiments.selection_rows import SSR, STLSQ

Array = NDArray[np.float64]
Rows = tuple[Array, Array]

THRESHOLDS = 10.0 ** np.linspace(-2.0, 0.75, 12)
RIDGES = (0.0, 0.01)
PREPARATIONS = ("window 9", "smoothed")


def tuned_supports(data: Trajectories, library: Library) -> dict[str, list[frozenset[str]]]:
    """Return per method the terms it finds in every equation, each with the better of two preparations.

    The first two thirds are fitted, the last third chooses threshold, ridge, path member and preparation by AICc:
    derivatives smoothed over 9 samples with the library on raw states (as published), or states and derivatives
    smoothed as much as cross-validation says. STLSQ is scored for all equations together, SSR for each.
    """
    import sklearn  # type: ignore[import-untyped]

    names = library.bind(data).names
    train, validation = data.split(2 / 3)
    best: dict[str, tuple[Any, Any]] = {}
    for preparation in PREPARATIONS:
        fit, check = (prepared_rows(part, library, preparation) for part in (train, validation))
        with sklearn.config_context(assume_finite=True, skip_parameter_validation=True):
            found: list[tuple[str, Array, Any]] = [_stlsq(compressed(*fit), check), _ssr(compressed(*fit), check)]
        for method, coef, score in found:
            if method not in best or np.sum(score) < np.sum(best[method][1]):
                best[method] = (coef, score)
    return {
        method: [frozenset(names[j] for j in np.flatnonzero(row)) for row in coef] for method, (coef, _) in best.items()
    }


def prepared_rows(data: Trajectories, library: Library, preparation: str) -> Rows:
    """Return the library and the derivatives at every sample, prepared as `PREPARATIONS` say."""
    (member,) = data.members
    step = float(member.times[1] - member.times[0])
    features = library.bind(data)
    if preparation == "smoothed":
        states = whittaker(member.states, member.times).values
        rates = np.gradient(states, step, axis=0, edge_order=2)
    else:
        states = member.states
        rates = SmoothedFiniteDifference(9)(states, member.times)
    return features.evaluate(states), np.asarray(rates)


def compressed(theta: Array, rates: Array) -> Rows:
    """Return rows with the same least squares and ridge fits, as many as there are columns."""
    triangle: Array = np.asarray(np.linalg.qr(np.column_stack([theta, rates]), mode="r"))
    return triangle[:, : theta.shape[1]], triangle[:, theta.shape[1] :]


def _stlsq(fit: Rows, check: Rows) -> tuple[str, Array, float]:
    import pysindy as ps  # type: ignore[import-untyped]

    best, least = np.zeros((fit[1].shape[1], fit[0].shape[1])), np.inf
    scale = np.sqrt(np.mean((check[1]) ** 2, axis=0))
    for ridge in RIDGES:
        for threshold in THRESHOLDS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                coef = np.asarray(ps.STLSQ(threshold=threshold, alpha=ridge, max_iter=20).fit(*fit).coef_)
            rss = np.sum(((check[1] - check[0] @ coef.T) / scale) ** 2)
            score = aicc(rss, check[1].size, float(np.count_nonzero(coef)))
            if score < least:
                best, least = coef, float(score)
    return STLSQ, best, least


def _ssr(fit: Rows, check: Rows) -> tuple[str, Array, Array]:
    m = len(check[1])
    count = fit[1].shape[1]
    best, least = np.zeros((count, fit[0].shape[1])), np.full(count, np.inf)
    for ridge in RIDGES:
        for coef in ssr_path(*fit, ridge):
            for j, row in enumerate(coef):
                scale = float(np.mean(check[1][:, j] ** 2))
                rss = np.sum((check[1][:, j] - check[0] @ row) ** 2) / scale
                score = aicc(rss, m, float(np.count_nonzero(row)))
                if score < least[j]:
                    best[j], least[j] = row, score
    return SSR, best, least


def ssr_path(theta: Array, rates: Array, ridge: float) -> Iterator[Array]:
    """Yield the path of PySINDy's SSR: least squares, then the smallest coefficient dropped one at a time."""
    import pysindy as ps

    optimizer = ps.SSR(alpha=ridge, max_iter=theta.shape[1], normalize_columns=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        optimizer.fit(theta, rates)
    for coef in optimizer.history_:
        yield np.asarray(coef)

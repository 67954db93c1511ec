"""STLSQ, SSR, SR3 and E-STLSQ of PySINDy with the published grids.

They fit the triangular factor of the rows, which has the same least squares and ridge fits as the rows themselves,
unless the library is so ill-conditioned that rounding decides (`Regression.for_peers`).
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.errors import MissingDependency
from exactsindy.problem import Problem
from exactsindy_experiments.metrics import true_positivity_rate
from exactsindy_experiments.paper.criterion import aicc
from exactsindy_experiments.paper.exact import Fit
from exactsindy_experiments.paper.regression import Regression

Array = NDArray[np.float64]

#: Members of an ensemble.
MODELS = 50
ITERATIONS, TUNING_ITERATIONS = 10_000, 1_000


def pysindy() -> Any:
    """Return PySINDy.

    Raises
    ------
    MissingDependency
        If it is not installed.
    """
    try:
        return importlib.import_module("pysindy")
    except ImportError as error:
        raise MissingDependency(
            "The baselines STLSQ, SSR, SR3 and E-STLSQ need PySINDy: pip install 'exactsindy[pysindy]'."
        ) from error


def quietly_fitted(optimizer: Any, theta: Array, targets: Array) -> Any:
    """Fit as a user would, but quietly; a peer's warnings are not ours."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return optimizer.fit(theta, targets)


def fitted(optimizer: Any, theta: Array, targets: Array) -> Any:
    """Fit without the checks of arguments in every regression, a third of the time of the small fits of a grid."""
    sklearn = importlib.import_module("sklearn")
    with sklearn.config_context(assume_finite=True, skip_parameter_validation=True):
        return quietly_fitted(optimizer, theta, targets)


def stlsq_optimizer(threshold: float, alpha: float, normalise: bool, *, unbias: bool = True) -> Any:
    """Return PySINDy's STLSQ with the published number of iterations."""
    return pysindy().STLSQ(threshold=threshold, alpha=alpha, normalize_columns=normalise, max_iter=20, unbias=unbias)


def sr3_optimizer(threshold: float, nu: float, normalise: bool, iterations: int, *, unbias: bool = True) -> Any:
    """Return PySINDy's SR3 with the l0 penalty that means a hard threshold."""
    weight = threshold**2 / (2 * nu)
    return pysindy().SR3(
        reg_weight_lam=weight,
        regularizer="L0",
        relax_coeff_nu=nu,
        tol=1e-5,
        max_iter=iterations,
        normalize_columns=normalise,
        unbias=unbias,
    )


def ssr_path(theta: Array, targets: Array, alpha: float, normalise: bool) -> Iterator[Array]:
    """Yield the path of SSR: plain least squares, then one term less per equation each time, ridge fits as they are."""
    scale = np.linalg.norm(theta, axis=0) if normalise else np.ones(theta.shape[1])
    yield np.linalg.lstsq(theta / scale, targets, rcond=None)[0].T / scale
    optimizer = pysindy().SSR(alpha=alpha, max_iter=theta.shape[1] - 1, normalize_columns=normalise, unbias=False)
    # Its first entry is overwritten while it runs.
    yield from fitted(optimizer, theta, targets).history_[1:]


Score = Callable[[Array], float]


def best_of(candidates: Iterator[tuple[dict[str, Any], Array]], score: Score) -> Fit:
    """Return the candidate with the least score, the first on ties; what is not finite scores last."""
    best: tuple[float, Fit] | None = None
    for choice, coef in candidates:
        value = score(coef) if np.isfinite(coef).all() else 1e20
        value = value if np.isfinite(value) else 1e20
        if best is None or value < best[0]:
            best = (value, Fit(coef, choice))
    assert best is not None
    return best[1]


def joint_score(regression: Regression) -> Score:
    """Return the AICc of all equations together on the validation rows."""

    def score(coef: Array) -> float:
        rss, m = regression.validation_rss(coef)
        return float(aicc(rss.sum(), m * len(rss), int(np.count_nonzero(coef))))

    return score


def truth_score(truth: Array) -> Score:
    """Return minus the rate against the truth: how the published experiments on fields choose."""
    return lambda coef: -true_positivity_rate(truth, coef)


#: Thresholds with ridges (STLSQ) or relaxations (SR3), in the order tried: on ties the first counts.
Grid = Iterable[tuple[float, float]]


def stlsq(regression: Regression, grid: Grid, score: Score) -> Fit:
    """Return the best STLSQ model of the grid."""
    theta, targets = regression.for_peers

    def candidates() -> Iterator[tuple[dict[str, Any], Array]]:
        for threshold, alpha in grid:
            optimizer = stlsq_optimizer(threshold, alpha, regression.normalise)
            yield {"threshold": threshold, "alpha": alpha}, fitted(optimizer, theta, targets).coef_

    return best_of(candidates(), score)


def sr3(regression: Regression, grid: Grid, score: Score, *, tuning: int = ITERATIONS) -> Fit:
    """Return the best SR3 model of the grid, refitted with more iterations if fewer were used for tuning."""
    theta, targets = regression.for_peers

    def fit(threshold: float, nu: float, iterations: int) -> Array:
        optimizer = sr3_optimizer(threshold, nu, regression.normalise, iterations)
        coef: Array = fitted(optimizer, theta, targets).coef_
        return coef

    def candidates() -> Iterator[tuple[dict[str, Any], Array]]:
        for threshold, nu in grid:
            yield {"threshold": threshold, "nu": nu}, fit(threshold, nu, tuning)

    best = best_of(candidates(), score)
    if tuning == ITERATIONS:
        return best
    return Fit(fit(best.choice["threshold"], best.choice["nu"], ITERATIONS), best.choice)


def ssr(regression: Regression, ridges: Sequence[float]) -> Fit:
    """Return per equation the best member of SSR's paths; as published not refitted, and counting all terms."""
    theta, targets = regression.for_peers
    scores, members = [], []
    for alpha in ridges:
        for coef in ssr_path(theta, targets, alpha, regression.normalise):
            rss, m = regression.validation_rss(coef)
            scores.append(aicc(rss, m, int(np.count_nonzero(coef))))
            members.append((alpha, coef))
    best = np.argmin(np.nan_to_num(np.array(scores), nan=1e20), axis=0)
    coef = np.array([members[g][1][i] for i, g in enumerate(best)])
    return Fit(coef, {"alpha": [members[g][0] for g in best]})


def ssr_by_truth(regression: Regression, ridges: Sequence[float], truth: Array) -> Fit:
    """Return the member of SSR's paths with the best rate against the truth."""
    theta, targets = regression.for_peers
    paths = (
        ({"alpha": alpha}, coef) for alpha in ridges for coef in ssr_path(theta, targets, alpha, regression.normalise)
    )
    return best_of(paths, truth_score(truth))


def bagged_stlsq(regression: Regression, thresholds: Sequence[float], alpha: float, score: Score) -> Fit:
    """Return the best median of STLSQ models of resampled rows, drawn anew at every threshold as published."""
    rng = regression.generator()

    def candidates() -> Iterator[tuple[dict[str, Any], Array]]:
        for threshold in thresholds:
            optimizer = stlsq_optimizer(threshold, alpha, regression.normalise)
            models = [fitted(optimizer, *resampled(regression, rng)).coef_ for _ in range(MODELS)]
            yield {"threshold": threshold, "alpha": alpha}, np.median(models, axis=0)

    return best_of(candidates(), score)


def resampled(regression: Regression, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Return a bootstrap sample of the rows, compressed where peers get compressed rows."""
    assert regression.rows is not None
    theta, targets = regression.rows
    chosen = rng.choice(len(theta), len(theta), replace=True)
    if regression.for_peers is regression.rows:
        return theta[chosen], targets[chosen]
    return Regression(Problem.from_arrays(theta[chosen], targets[chosen])).compressed


def library_stlsq(regression: Regression, choice: dict[str, Any], sizes: Sequence[int], drop: int) -> Fit:
    """Return the most often selected terms of STLSQ models with random terms left out, with median coefficients."""
    theta, targets = regression.for_peers
    rng, width = regression.generator(), theta.shape[1]
    optimizer = stlsq_optimizer(choice["threshold"], choice["alpha"], regression.normalise)
    models = np.zeros((MODELS, targets.shape[1], width))
    for model in models:
        left_out = rng.choice(width, drop, replace=False)
        kept = np.delete(np.arange(width), left_out)
        model[:, kept] = fitted(optimizer, theta[:, kept], targets).coef_
    share, median = (models != 0).mean(axis=0), np.median(models, axis=0)
    coef = np.zeros_like(median)
    for i, size in enumerate(sizes):
        often = np.argsort(share[i], kind="stable")[-size:]  # on ties the later terms, as published
        coef[i, often] = median[i, often]
    return Fit(coef, dict(choice))

"""PySINDy 2.1 on one draw of the Lorenz experiment: its defaults, the published settings, tuned, or told the sizes.

``published`` means what the published experiment did before the regression: a Savitzky-Golay filter (order 3, 5
samples) and central differences. ``tuned`` chooses preparation, threshold, ridge and path member on the last third of
the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from exactsindy.data import Trajectories
from exactsindy_experiments.outside.lorenz_data import LIBRARY, STATES, STEP, TRUTH, Array
from exactsindy_experiments.paper.criterion import aicc
from exactsindy_experiments.selection_baselines import (
    PREPARATIONS,
    THRESHOLDS,
    Rows,
    compressed,
    prepared_rows,
    tuned_supports,
)
from exactsindy_experiments.selection_rows import SSR, STLSQ
from exactsindy_experiments.workers import Json

Coefficients = dict[str, dict[str, float]]
Method = Callable[[Array, Array], tuple[Coefficients, Json]]
#: Published: threshold of STLSQ, members of an ensemble, and the share of members that must have a term.
THRESHOLD, MEMBERS, INCLUSION = 0.2, 100, 0.6


def _named(coef: Array) -> tuple[Coefficients, Json]:
    names = LIBRARY.bind(_data(np.zeros((8, 3)))).names
    rows = zip(TRUTH, np.asarray(coef), strict=True)
    return {target: {names[j]: float(row[j]) for j in np.flatnonzero(row)} for target, row in rows}, {}


def _data(states: Array) -> Trajectories:
    return Trajectories.from_arrays(states, time=STEP, states=STATES)


def _published_rows(states: Array) -> Rows:
    from scipy.signal import savgol_filter

    smooth = np.asarray(savgol_filter(states, 5, 3, axis=0))
    rates = np.gradient(smooth, STEP, axis=0, edge_order=2)
    return LIBRARY.bind(_data(smooth)).evaluate(smooth), rates


def _default(optimizer: str, times: Array, states: Array) -> tuple[Coefficients, Json]:
    """Run ``SINDy`` with the named optimizer, everything else as PySINDy has it."""
    import pysindy as ps  # type: ignore[import-untyped]

    features = ps.PolynomialLibrary(degree=5, include_bias=False)
    model = ps.SINDy(optimizer=getattr(ps, optimizer)(), feature_library=features)
    model.fit(states, t=times)
    # Its columns are in the order of ours: by degree, then in the order of the variables.
    return _named(model.coefficients())


def _stlsq(times: Array, states: Array) -> tuple[Coefficients, Json]:
    import pysindy as ps

    return _named(ps.STLSQ(threshold=THRESHOLD, alpha=0.0).fit(*_published_rows(states)).coef_)


def _ensemble(mean: bool, times: Array, states: Array) -> tuple[Coefficients, Json]:
    """Bagging (mean) or bragging (median) with the published inclusion threshold."""
    members = np.array(_members(states, bagging=True).coef_list)
    centre = members.mean(axis=0) if mean else np.median(members, axis=0)
    return _named(np.where((members != 0).mean(axis=0) >= INCLUSION, centre, 0.0))


def _library_ensemble(times: Array, states: Array) -> tuple[Coefficients, Json]:
    """Library bagging as PySINDy has it: some terms left out in every member, the median of the coefficients."""
    return _named(_members(states, library_ensemble=True, n_candidates_to_drop=5).coef_)


def _members(states: Array, **options: Any) -> Any:
    import pysindy as ps

    np.random.seed(1)  # noqa: NPY002 - PySINDy draws from the global generator
    member = ps.STLSQ(threshold=THRESHOLD, alpha=0.0)
    return ps.EnsembleOptimizer(member, n_models=MEMBERS, **options).fit(*_published_rows(states))


def _tuned_baseline(method: str, times: Array, states: Array) -> tuple[Coefficients, Json]:
    supports = tuned_supports(_data(states), LIBRARY)[method]
    # Only the terms are judged; a coefficient of 1 stands for "present".
    found = {target: dict.fromkeys(terms, 1.0) for target, terms in zip(TRUTH, supports, strict=True)}
    return found, {"error": float("nan")}


def _tuned(candidates: Callable[[Rows], Iterator[Array]], times: Array, states: Array) -> tuple[Coefficients, Json]:
    """Return the candidate of least AICc on the last third, equation by equation."""
    best: list[tuple[float, Array]] = [(np.inf, np.zeros(55))] * len(TRUTH)
    train, validation = _data(states).split(2 / 3)
    for preparation in PREPARATIONS:
        fit, check = (prepared_rows(part, LIBRARY, preparation) for part in (train, validation))
        for coef in candidates(compressed(*fit)):
            for i, row in enumerate(coef):
                scale = float(np.mean(check[1][:, i] ** 2))
                loss = float(np.sum((check[1][:, i] - check[0] @ row) ** 2)) / scale
                score = float(aicc(loss, len(check[1]), float(np.count_nonzero(row))))
                best[i] = min(best[i], (score, row), key=lambda pair: pair[0])
    return _named(np.array([row for _, row in best]))


def _sr3_candidates(fit: Rows) -> Iterator[Array]:
    import pysindy as ps

    for threshold in THRESHOLDS:
        yield ps.SR3(reg_weight_lam=threshold**2 / 2, relax_coeff_nu=1.0, max_iter=100).fit(*fit).coef_


def _miosr(times: Array, states: Array) -> tuple[Coefficients, Json]:
    """MIOSR told the true sizes, on states and derivatives smoothed as cross-validation says."""
    import pysindy as ps

    optimizer = ps.MIOSR(group_sparsity=(2, 3, 2), target_sparsity=None, alpha=0.0, regression_timeout=60)
    return _named(optimizer.fit(*prepared_rows(_data(states), LIBRARY, "smoothed")).coef_)


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "STLSQ, defaults": partial(_default, "STLSQ"),
        "SSR, defaults": partial(_default, "SSR"),
        "SR3, defaults": partial(_default, "SR3"),
        "STLSQ, published settings": _stlsq,
        "bagging, published settings": partial(_ensemble, True),
        "bragging, published settings": partial(_ensemble, False),
        "library ensemble": _library_ensemble,
        "STLSQ, tuned": partial(_tuned_baseline, STLSQ),
        "SSR, tuned": partial(_tuned_baseline, SSR),
        "SR3, tuned": partial(_tuned, _sr3_candidates),
        "MIOSR, true sizes given": _miosr,
    }
)

"""Fits the weights of `PathEvidence` to the tuning half of the random systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Trajectories
from exactsindy.discover.trajectory_forms import whitened_increments
from exactsindy.experiments.selection_cases import SelectionCase, load
from exactsindy.selection import fair_path
from exactsindy.selection.evidence import features
from exactsindy.solver import Settings

Array = NDArray[np.float64]

K_MAX = 8
_LIMITS = Settings(threads=1, nodes=3000, seconds=4.0)
# Weight of the squared weights: a few equations more or less must not turn them.
_SHRINK = 0.3


@dataclass(frozen=True)
class Example:
    """One equation of a tuning data set: the features of all sizes of all paths, and which supports are right."""

    features: Array
    right: NDArray[np.bool_]


def examples(cases: Sequence[SelectionCase], *, say: Callable[[str], None] = print) -> list[Example]:
    """Return the examples of tuning cases."""
    found = []
    for i, case in enumerate(cases):
        loaded = load(case)
        assert isinstance(loaded.data, Trajectories)
        assert loaded.library is not None
        prepared = whitened_increments(loaded.data, loaded.library, _LIMITS)
        paths = [fair_path(part.problem, K_MAX, settings=_LIMITS) for part in prepared]
        names = prepared[0].problem.names
        for entry, true in enumerate(loaded.truth.values()):
            table = np.vstack([features(path, entry) for path in paths])
            right = [
                frozenset(names[j] for j in path[k].support[entry]) == true for path in paths for k in range(1, K_MAX)
            ]
            found.append(Example(table, np.array(right)))
        say(f"[{i + 1}/{len(cases)}] {case.system}, n {case.samples}, noise {100 * case.noise:g} %")
    return found


def fit_weights(data: Sequence[Example]) -> tuple[Array, float]:
    """Return the weights and the score of "none" of greatest likelihood (conditional logit, slightly shrunk).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> made = [rng.normal(size=(6, 2)) for _ in range(200)]
    >>> data = [Example(x, np.arange(6) == np.argmax(3 * x[:, 0])) for x in made]
    >>> weights, none = fit_weights(data)
    >>> bool(weights[0] > 2 > abs(weights[1])), bool(none < 0)
    (True, True)
    """
    from scipy.optimize import minimize

    x, y = np.array([e.features for e in data]), np.array([e.right for e in data])
    known = np.asarray(y.any(axis=1), dtype=bool)

    def loss(w: Array) -> tuple[float, Array]:
        scores, none = x @ w[:-1], w[-1]
        top = np.maximum(scores.max(axis=1), none)
        p, q = np.exp(scores - top[:, None]), np.exp(none - top)
        total = p.sum(axis=1) + q
        share = np.maximum(np.where(known, (p * y).sum(axis=1), q), 1e-300)
        toward = np.where(known[:, None], p * y / share[:, None], 0.0)
        slope = np.einsum("nk,nkf->f", p / total[:, None] - toward, x)
        last = float((q / total).sum() - (~known).sum())
        return -float(np.log(share / total).sum()) + _SHRINK * float(w @ w), np.append(slope, last) + 2 * _SHRINK * w

    w = minimize(loss, np.zeros(x.shape[2] + 1), jac=True, method="L-BFGS-B").x
    return np.asarray(w[:-1]), float(w[-1])

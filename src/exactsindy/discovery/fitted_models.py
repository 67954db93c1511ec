"""Trajectory fits of models, each made once, and the supports that the likelihood linearised at them proposes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from exactsindy._types import Array
from exactsindy.problem import Problem
from exactsindy.selection import TrajectoryEvidence, shared_path
from exactsindy.solver import Deadline, solve_pool
from exactsindy.trajectory_fit import (
    WARM,
    Measured,
    Support,
    TrajectoryFit,
    TrajectoryModel,
    row_count,
    tangent_problem,
)

Supports = tuple[Support, ...]

# Of a size whose best criterion is within _WINDOW (units of -2 log likelihood) of the least, the _POOL best supports
# are proposed; of other sizes only the best.
_WINDOW, _POOL = 12.0, 6
# Nodes of each search at a linearised likelihood, which needs no proof.
NODES = 2000
# Mean correlation of neighbouring residuals beyond which noise may be larger than estimated, because smoothing follows
# what is correlated.
COLOURED = 0.2
# Correlations beyond this count as this, and the terms of a saturated model take at most this share of the rows.
_LARGEST_LAG, _LARGEST_SHARE = 0.99, 0.5


@dataclass(eq=False)
class FittedModels:
    """The trajectory fits of the models compared so far; ``starts`` are regressions that give first coefficients.

    ``clock`` holds the time and nodes of each search, and the time of all.
    """

    measured: Measured
    starts: Sequence[Problem]
    k_max: int
    clock: Deadline
    _fits: dict[Supports, TrajectoryFit] = field(default_factory=dict)
    _coef: dict[tuple[int, Support], Array] = field(default_factory=dict)

    @property
    def late(self) -> bool:
        """Whether time is up."""
        return self.clock.expired

    def fit(self, model: Supports, near: Supports | None = None) -> TrajectoryFit:
        """Return the trajectory fit of a model; it starts at that of a similar one, if one is known."""
        if model not in self._fits:
            trajectory_model, deadline = TrajectoryModel(self.measured, model), time.monotonic() + self.clock.left()
            known = None if near is None else self._fits[near]
            if near is None or known is None or not np.isfinite(known.misfit):
                guess = [self._guess(i, s) for i, s in enumerate(model)]
                self._fits[model] = trajectory_model.fit(guess, deadline=deadline)
            else:
                coef = [known.coef[i] if near[i] == s else self._guess(i, s) for i, s in enumerate(model)]
                self._fits[model] = trajectory_model.fit(coef, known.states, WARM, deadline)
        return self._fits[model]

    def proposed(self, evidence: TrajectoryEvidence, model: Supports, i: int) -> Mapping[Support, float]:
        """Return supports of equation i with their criterion, by the likelihood linearised at a model's fit."""
        problem = None if self.late else tangent_problem(self.measured, model, self.fit(model), i)
        if problem is None:
            return {}
        path = shared_path(problem, self.k_max, settings=self.clock.settings())

        def criterion(objective: float, support: Support) -> float:
            return evidence.criterion(objective, changed(model, i, support))

        criteria = [criterion(float(solution.objective[0]), solution.support[0]) for solution in path]
        supports: dict[Support, float] = {(): criteria[0]}
        for k in range(1, max(len(path) - 1, 2)):
            count = _POOL if criteria[k] < min(criteria) + _WINDOW else 1
            pool = solve_pool(problem, k, count=count, start=path[k], settings=self.clock.settings())
            for member in pool[0]:
                support = tuple(sorted(member.support))
                value = criterion(member.objective, support)
                if value < supports.get(support, np.inf):
                    supports[support] = value
                    names = [problem.names[j] for j in support]
                    self._coef.setdefault((i, support), np.array([member.terms[name] for name in names]))
        return supports

    def noise_level(self, model: Supports, saturated: Supports) -> float:
        """Return the misfit per row that noise leaves: 1, or that of a saturated model if residuals are coloured.

        A wrong model's residuals are correlated too, but a saturated one removes that. Each of its terms takes
        (1 + lag) / (1 - lag) rows' worth of such noise, that being its share at low frequencies.
        """
        fit, rows = self.fit(model), row_count(self.measured)
        residual = self.measured.samples - fit.states
        lags = (residual[1:] * residual[:-1]).sum(axis=0) / np.maximum((residual**2).sum(axis=0), np.finfo(float).tiny)
        lag = min(float(lags.mean()), _LARGEST_LAG)
        if not rows < fit.misfit < np.inf or lag < COLOURED or self.late:
            return 1.0
        wide = tuple(tuple(sorted({*terms, *more})) for terms, more in zip(model, saturated, strict=True))
        extra = sum(map(len, wide)) - sum(map(len, model))
        taken = min(extra * (1 + lag) / (1 - lag) / rows, _LARGEST_SHARE)
        return max(self.fit(wide, model).misfit / rows / (1 - taken), 1.0)

    def _guess(self, i: int, support: Support) -> Array:
        if (i, support) not in self._coef:
            block, j = self.starts[i].locate(0)
            z, _ = block.target(j)
            columns = block.theta_factor[:, list(support)]
            self._coef[i, support] = np.asarray(np.linalg.lstsq(columns, z, rcond=None)[0], dtype=np.float64)
        return self._coef[i, support]


def changed(model: Supports, i: int, support: Support) -> Supports:
    """Return a model with another support of equation i."""
    return (*model[:i], support, *model[i + 1 :])

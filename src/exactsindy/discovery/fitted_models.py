"""Orbits fitted once, and what the likelihood linearised at them proposes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from exactsindy._types import Array
from exactsindy.problem import Problem
from exactsindy.selection import TrajectoryEvidence, shared_path
from exactsindy.solver import Settings, solve_pool
from exactsindy.trajectory_fit import WARM, Measured, Support, TrajectoryFit, TrajectoryModel, tangent_problem

Supports = tuple[Support, ...]

# Supports of a size that is not clearly worse than the best one, in units of -2 log likelihood: so many are looked at.
_WINDOW, _POOL = 12.0, 6
_NODES = 2000


@dataclass(eq=False)
class FittedModels:
    """The orbits of the models looked at so far.

    Parameters
    ----------
    measured
        The samples.
    starts
        Per equation the regression that gives a first guess of coefficients.
    k_max
        Largest number of terms.
    deadline
        When to stop, by `time.monotonic`.
    """

    measured: Measured
    starts: Sequence[Problem]
    k_max: int
    deadline: float
    _fits: dict[Supports, TrajectoryFit] = field(default_factory=dict)
    _coef: dict[tuple[int, Support], Array] = field(default_factory=dict)

    @property
    def late(self) -> bool:
        """Whether time is up."""
        return time.monotonic() > self.deadline

    def fit(self, model: Supports, near: Supports | None = None) -> TrajectoryFit:
        """Return the orbit of a model; that of a similar one is where it starts."""
        if model not in self._fits:
            orbit_model = TrajectoryModel(self.measured, model)
            known = None if near is None else self._fits[near]
            if near is None or known is None or not np.isfinite(known.misfit):
                guess = [self._guess(i, s) for i, s in enumerate(model)]
                self._fits[model] = orbit_model.fit(guess, deadline=self.deadline)
            else:
                coef = [known.coef[i] if near[i] == s else self._guess(i, s) for i, s in enumerate(model)]
                self._fits[model] = orbit_model.fit(coef, known.states, WARM, self.deadline)
        return self._fits[model]

    def proposed(self, evidence: TrajectoryEvidence, model: Supports, i: int) -> Mapping[Support, float]:
        """Return supports of equation i with their prices by the likelihood linearised at the orbit of a model.

        Of all sizes from 0 but the largest.
        """
        problem = None if self.late else tangent_problem(self.measured, model, self.fit(model), i)
        if problem is None:
            return {}
        path = shared_path(problem, self.k_max, settings=self._limits())

        def price(objective: float, k: int) -> float:
            return evidence.criterion(objective, changed(model, i, tuple(range(k))))

        prices = [price(float(path[k].objective[0]), k) for k in range(len(path))]
        found: dict[Support, float] = {(): prices[0]}
        for k in range(1, max(len(path) - 1, 2)):
            count = _POOL if prices[k] < min(prices) + _WINDOW else 1
            pool = solve_pool(problem, k, count=count, start=path[k], settings=self._limits())
            for member in pool[0]:
                support = tuple(sorted(member.support))
                value = price(member.objective, len(support))
                if value < found.get(support, np.inf):
                    found[support] = value
                    names = [problem.names[j] for j in support]
                    self._coef.setdefault((i, support), np.array([member.terms[name] for name in names]))
        return found

    def _limits(self) -> Settings:
        return Settings(threads=1, nodes=_NODES, seconds=max(self.deadline - time.monotonic(), 0.05))

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

"""Trajectory fits of models, each made once, and the supports that the likelihood linearised at them proposes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from exactsindy._types import Array
from exactsindy.constraints import EquationConstraints
from exactsindy.problem import Problem
from exactsindy.selection import TrajectoryEvidence, shared_path
from exactsindy.solver import Deadline, refit, solve_pool
from exactsindy.trajectory_fit import (
    Measured,
    Support,
    TrajectoryFit,
    TrajectoryModel,
    last_tolerance,
    residuals,
    row_count,
    tangent_problem,
)

Supports = tuple[Support, ...]

# Of a size whose best criterion is within _WINDOW (units of -2 log likelihood) of the least, the _POOL best supports
# are proposed; of other sizes only the best.
_WINDOW, _POOL = 12.0, 6
# A fit within constraints is improved at most so often, and until its misfit changes by less than this.
_CONSTRAINED_ROUNDS, _SETTLED = 6, 0.05
# A misfit of so many times that of a similar model may be that of another minimum.
_FAR = 1.5
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

    ``clock`` holds the time and nodes of each search, and the time of all. ``constraints`` are those of each equation.
    """

    measured: Measured
    starts: Sequence[Problem]
    k_max: int
    clock: Deadline
    constraints: tuple[EquationConstraints, ...] = ()
    # Whether all terms of a library together may be proposed.
    whole: bool = False
    _fits: dict[Supports, TrajectoryFit] = field(default_factory=dict)
    _coef: dict[tuple[int, Support], Array] = field(default_factory=dict)
    _begun: set[tuple[Supports, Supports | None]] = field(default_factory=set)

    @property
    def late(self) -> bool:
        """Whether time is up."""
        return self.clock.expired

    def fit(self, model: Supports, near: Supports | None = None) -> TrajectoryFit:
        """Return the trajectory fit of a model; it starts at that of a similar one, if one is known.

        A fit far worse than that of the similar model may have ended in another minimum: it is begun again there, once.
        """
        known = None if near is None else self._fits.get(near)
        present = self._fits.get(model)
        if present is None:
            self._fits[model] = self._new_fit(model, near, known)
            self._begun.add((model, near))
        elif known is not None and present.misfit > _FAR * known.misfit and (model, near) not in self._begun:
            self._begun.add((model, near))
            self._fits[model] = min(present, self._new_fit(model, near, known), key=lambda fit: fit.misfit)
        return self._fits[model]

    def _new_fit(self, model: Supports, near: Supports | None, known: TrajectoryFit | None) -> TrajectoryFit:
        """Return the trajectory fit of a model from the fit of a similar one, if that is known and finite."""
        trajectory_model, deadline = TrajectoryModel(self.measured, model), time.monotonic() + self.clock.left()
        if near is None or known is None or not np.isfinite(known.misfit):
            guess = [self._guess(i, s) for i, s in enumerate(model)]
            fit = trajectory_model.fit(guess, deadline=deadline)
        else:
            coef = [known.coef[i] if near[i] == s else self._guess(i, s) for i, s in enumerate(model)]
            fit = trajectory_model.fit(coef, known.states, self._last, deadline)
        return self._within_constraints(model, fit, deadline) if self.held else fit

    @cached_property
    def _last(self) -> tuple[float]:
        """Return the tolerance of the equations for a start at the fit of a similar model."""
        return (last_tolerance(self.measured),)

    @cached_property
    def held(self) -> frozenset[int]:
        """Return the equations whose coefficients are bound by constraints."""
        return frozenset(i for i, part in enumerate(self.constraints) if part.binding)

    def constraints_of(self, i: int) -> tuple[Any, ...]:
        """Return the constraints of an equation."""
        return self.constraints[i].constraints if self.constraints else ()

    def _within_constraints(self, model: Supports, fit: TrajectoryFit, deadline: float) -> TrajectoryFit:
        """Return the fit whose coefficients satisfy the constraints; of infinite misfit if none do.

        In turn: coefficients within the constraints from the likelihood linearised at the trajectory, exactly; then the
        trajectory and the coefficients that are not bound, these being held.
        """
        bound_model = TrajectoryModel(self.measured, model, self.held)
        for _ in range(_CONSTRAINED_ROUNDS):
            if not np.isfinite(fit.misfit):
                break
            coef = list(fit.coef)
            for i in self.held:
                problem = tangent_problem(self.measured, model, fit, i, self.held)
                if problem is None:
                    return replace(fit, misfit=np.inf)
                best = refit(problem, [model[i]], constraints=self.constraints_of(i))
                if not np.isfinite(best.objective[0]):
                    return replace(fit, misfit=np.inf)
                coef[i] = best.coef[0, list(model[i])]
            before, fit = fit.misfit, bound_model.fit(coef, fit.states, self._last, deadline)
            if abs(before - fit.misfit) < _SETTLED or time.monotonic() > deadline:
                break
        return fit

    def proposed(self, evidence: TrajectoryEvidence, model: Supports, i: int) -> Mapping[Support, float]:
        """Return supports of equation i with their criterion, by the likelihood linearised at a model's fit."""
        problem = None if self.late else tangent_problem(self.measured, model, self.fit(model), i, self.held)
        if problem is None:
            return {}
        constraints = self.constraints_of(i)
        path = shared_path(problem, self.k_max, constraints=constraints, settings=self.clock.settings())

        def criterion(objective: float, support: Support) -> float:
            return evidence.criterion(objective, changed(model, i, support))

        criteria = [criterion(float(solution.objective[0]), solution.support[0]) for solution in path]
        supports: dict[Support, float] = {(): criteria[0]} if np.isfinite(criteria[0]) else {}
        whole = self.whole and len(path) > len(problem.terms)  # there are no larger supports to compare with
        for k in range(1, len(path) if whole else max(len(path) - 1, 2)):
            if not np.isfinite(criteria[k]):
                continue  # the constraints require more terms
            count = _POOL if criteria[k] < min(criteria) + _WINDOW else 1
            limits = self.clock.settings()
            pool = solve_pool(problem, k, count=count, constraints=constraints, start=path[k], settings=limits)
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
        residual = residuals(self.measured, fit.states)
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

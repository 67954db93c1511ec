"""Equations that constraints bind together, in the form the constrained native search takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy import _native
from exactsindy._types import Array
from exactsindy.constraints import Row, Rules, Stacked
from exactsindy.solver import interrupt
from exactsindy.solver.backends import native
from exactsindy.solver.equations import Equation
from exactsindy.solver.outcome import Answer, Outcome
from exactsindy.solver.settings import LARGEST_LIMIT, Settings

#: At most `limit` of these variables (in the numbering of the rules) are present.
Budget = tuple[tuple[int, ...], int]


@dataclass(frozen=True, eq=False)
class Component:
    """Equations to be solved together, with their share of the rules; ``weights`` of their residuals."""

    rules: Rules
    equations: tuple[Equation, ...]
    indices: tuple[int, ...]
    weights: tuple[float, ...]

    @cached_property
    def variables(self) -> NDArray[np.intp]:
        """The variables of the rules, in the order of the search."""
        return np.concatenate([equation.variables for equation in self.equations])

    @cached_property
    def position(self) -> dict[int, int]:
        """Where each variable is in the order of the search."""
        return {int(v): i for i, v in enumerate(self.variables)}

    @cached_property
    def presence(self) -> tuple[Row, ...]:
        """The presence rows that concern these equations."""
        return tuple(row for row in self.rules.presence if row.variables[0] in self.position)

    def dense(self, rows: Sequence[Row]) -> tuple[Array, Array]:
        """Return the linear rows that concern these equations, as a matrix and right sides."""
        own = [row for row in rows if row.variables[0] in self.position]
        matrix = np.zeros((len(own), len(self.variables)))
        for line, row in zip(matrix, own, strict=True):
            line[[self.position[v] for v in row.variables]] = row.coefs
        return matrix, np.array([row.rhs for row in own])

    @cached_property
    def request(self) -> tuple[Any, Any, Any, list[Any]]:
        """What the native search is given, but for budgets."""
        equations = [
            (eq.factor, eq.z, eq.rest, eq.ridge, float(w)) for eq, w in zip(self.equations, self.weights, strict=True)
        ]
        rows = (*self.dense(self.rules.equalities), *self.dense(self.rules.inequalities))
        bounds = (self.rules.lower, self.rules.upper, self.rules.least, self.rules.most)
        intervals = tuple(np.ascontiguousarray(bound[self.variables]) for bound in bounds)
        presence = [self._presence(row.variables, row.coefs, row.rhs) for row in self.presence]
        return equations, rows, intervals, presence

    def _presence(self, variables: Sequence[int], coefs: Sequence[float], limit: float) -> Any:
        return [self.position[v] for v in variables], [int(c) for c in coefs], int(limit)

    def solve(
        self,
        budgets: Sequence[Budget],
        settings: Settings,
        *,
        starts: Sequence[Sequence[int]] = (),
        runner_up: bool = True,
        exactly: Sequence[Budget] = (),
        keep: int = 0,
        within: float = -1.0,
    ) -> Outcome:
        """Search for the best support within budgets, or a pool of those with `exactly` so many terms."""
        equations, rows, intervals, presence = self.request
        extra = [self._presence(vs, [1] * len(vs), limit) for vs, limit in budgets]
        extra += [self._presence(vs, [s] * len(vs), s * count) for vs, count in exactly for s in (1, -1)]
        raw = _native.solve_constrained(
            equations,
            rows,
            intervals,
            presence + extra,
            [[self.position[v] for v in start if v in self.position] for start in starts],
            runner_up,
            keep,
            within,
            len(presence),
            settings.coefficient_limit,
            settings.seconds or 0.0,
            settings.nodes or 0,
            native.threads(settings),
            native.reporter(settings, [", ".join(e.target for e in self.equations)], lambda _, j: self.label(j)),
            interrupt.pressed,
        )
        return native.outcome(raw).renumbered(self.variables)

    def fit(self, support: Sequence[int]) -> Outcome:
        """Fit a support (or a part of it, where constraints forbid the whole), whatever the size of coefficients."""
        chosen = set(support)
        absent = tuple(v for v in self.variables.tolist() if v not in chosen)
        limits = Settings(coefficient_limit=LARGEST_LIMIT)
        return self.solve([(absent, 0)] if absent else [], limits, runner_up=False)

    def fits(self, supports: Sequence[Sequence[int]], coefficient_limit: float) -> list[tuple[Answer | None, float]]:
        """Return, for each support, its best fit under the constraints on coefficients and a lower bound of its value.

        The fit is on the terms that matter: those without a coefficient are left out where the rules allow it. None and
        an infinite bound: nothing is feasible, or coefficients exceed their limit (see `Settings`); None and 0: it was
        not found out. Presence rows are not checked.
        """
        inner = [sorted(self.position[v] for v in support) for support in supports]
        found = []
        for raw, lower in _native.fit_supports(*self.request, inner, coefficient_limit):
            variables = () if raw is None else tuple(self.variables[raw.support].tolist())
            answer = None if raw is None else Answer(variables, tuple(raw.coef), raw.objective, raw.fine)
            found.append((answer, lower))
        return found

    def stacked(self, budgets: Sequence[Budget]) -> Stacked:
        """Return these equations with their constraints and budgets as one dense problem."""
        ridge = np.zeros((len(self.rules.problem.target_names), self.rules.width))
        ridge.ravel()[self.variables] = np.concatenate([equation.ridge for equation in self.equations])
        return Stacked.of(self.rules, self.indices, ridge, self.weights, budgets)

    def label(self, i: int) -> str:
        """Return the name of a term by its place in the order of the search; with its equation if there are several."""
        full = self.rules.label(int(self.variables[i]))
        return full.split(": ", 1)[1] if len(self.equations) == 1 else full

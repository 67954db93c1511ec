"""A model some of whose equations are known: that the rate of a position is its velocity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from exactsindy._types import Array
from exactsindy.trajectory_fit.protocols import Flow, GaussNewtonStep


@dataclass(frozen=True, eq=False)
class PhaseFlow:
    """The first ``sought`` equations of a model; the ``known`` ones after them have one term of coefficient 1 each."""

    whole: Flow
    sought: int
    known: int

    def _all(self, coef: Sequence[Array]) -> list[Array]:
        """Return the coefficients of all equations."""
        return [*coef, *(np.ones(1) for _ in range(self.known))]

    def defects(self, states: Array, coef: Sequence[Array]) -> Array:
        """Return what states leave of all equations (intervals x equations)."""
        return self.whole.defects(states, self._all(coef))

    def errors(self, states: Array, coef: Sequence[Array]) -> Array:
        """Return how much integrals over intervals err (intervals x equations)."""
        return self.whole.errors(states, self._all(coef))

    def refined(self, states: Array, coef: Sequence[Array]) -> PhaseFlow:
        """Return the model integrated as accurately as these states and coefficients ask for."""
        whole = self.whole.refined(states, self._all(coef))
        return self if whole is self.whole else replace(self, whole=whole)

    def step(
        self, states: Array, coef: Sequence[Array], precision: float, damping: float, held: frozenset[int] = frozenset()
    ) -> GaussNewtonStep | None:
        """Return the change that minimises the linearised misfit; None where the model overflows."""
        known = range(self.sought, self.sought + self.known)
        step = self.whole.step(states, self._all(coef), precision, damping, held | frozenset(known))
        return None if step is None else step.first(sum(map(len, coef)))

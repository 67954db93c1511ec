"""The regression of one equation over any terms, its rows and their weights held fixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from exactsindy._types import Array
from exactsindy.data import Trajectories
from exactsindy.errors import ProblemError
from exactsindy.forms import EquationGroup, Form, IncrementForm, StrongForm
from exactsindy.library import Features, Term, Terms, Variable
from exactsindy.problem import Problem
from exactsindy.solver import Solution

# Residual sums of squares below this share of the target's are rounding: labels that are exact leave about 1e-30.
_ROUNDING = 1e-20


@dataclass(frozen=True, eq=False)
class FixedTrial:
    """A trial model that stays the same whatever library the rows are made for."""

    features: Features
    coef: Array
    target_names: tuple[str, ...]

    def predict(self, group: EquationGroup, values: Array) -> Array:
        """Return the right-hand sides of the equations of a group (samples x equations)."""
        return np.asarray(self.features.evaluate(values[:, self._inputs(group)]) @ self._coef(group).T)

    def jacobian(self, group: EquationGroup, values: Array, wrt: Sequence[Variable]) -> Array:
        """Return their derivatives (samples x equations x variables)."""
        return self.features.jacobian(values[:, self._inputs(group)], self._coef(group), wrt=wrt)

    def _coef(self, group: EquationGroup) -> Array:
        return self.coef[[self.target_names.index(name) for name in group.target_names]]

    def _inputs(self, group: EquationGroup) -> list[int]:
        known = group.features.inputs
        missing = [v.name for v in self.features.inputs if v not in known]
        if missing:
            raise ProblemError(f"The trial model uses {missing[0]!r}, which the terms that are tried do not have.")
        return [known.index(v) for v in self.features.inputs]


@dataclass(frozen=True, eq=False)
class EquationRows:
    """The rows of one equation in a form: `problem` of any terms has the same rows and weights.

    ``floor`` is the residual sum of squares that says nothing about terms: errors of integrals between samples, and
    rounding.
    """

    equation: str
    data: Trajectories
    form: Form | IncrementForm
    floor: float = 0.0

    @classmethod
    def of(cls, data: Trajectories, equation: str, form: Form | IncrementForm, floor: float = 0.0) -> EquationRows:
        """Return the rows of one equation of the data."""
        own = tuple(target for target in data.targets if target.name == equation)
        return cls(equation, replace(data, targets=own), form, floor)

    @classmethod
    def of_labels(cls, data: Trajectories, equation: str) -> EquationRows:
        """Return the rows of measured derivatives."""
        return cls.of(data, equation, StrongForm())

    @classmethod
    def of_increments(
        cls, data: Trajectories, equation: str, form: IncrementForm, floor: float, names: Sequence[str]
    ) -> EquationRows:
        """Return whitened increments; ``names`` are the equations of the trial model of the form."""
        model = form.model
        if isinstance(model, Solution):
            features = Terms(tuple(model.problem.terms)).bind(data)
            model = FixedTrial(features, np.asarray(model.coef), tuple(names))
        # Powers of measured states are corrected for the bias of noise, other functions cannot be: none is here.
        return cls.of(data, equation, replace(form, model=model, hermite=False), floor)

    def problem(self, terms: Sequence[Term]) -> Problem:
        """Return the regression over these terms."""
        return self.form.problem(self.data, Terms(tuple(terms)))

    def regression(self, library: Terms) -> Problem:
        """Return the regression over a library, as `fit_constants` asks for it."""
        return self.form.problem(self.data, library)

    def least(self, problem: Problem) -> float:
        """Return the residual sum of squares below which fits are equally good."""
        return max(self.floor, _ROUNDING * target_square(problem), float(np.finfo(float).tiny))


def target_square(problem: Problem) -> float:
    """Return the sum of squares of the target of a regression of one equation."""
    block, j = problem.locate(0)
    inside, rest = block.target(j)
    return float(inside @ inside + rest @ rest)

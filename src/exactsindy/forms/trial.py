"""The trial model whose slopes whiten rows and whose flow guides smoothing; forms know no solver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.errors import ProblemError
from exactsindy.forms.base import EquationGroup
from exactsindy.library import Variable


@runtime_checkable
class Trial(Protocol):
    """What a form asks of a model, equation by equation, at samples of the library's inputs."""

    def predict(self, group: EquationGroup, values: Array) -> Array:
        """Return the right-hand sides of the equations of a group (samples x equations)."""

    def jacobian(self, group: EquationGroup, values: Array, wrt: Sequence[Variable]) -> Array:
        """Return their derivatives (samples x equations x variables)."""


@runtime_checkable
class HasCoefficients(Protocol):
    """A solution: coefficients (equations x terms) in ``coef``."""

    @property
    def coef(self) -> Array:
        """Return the coefficients over the terms of the problem."""


TrialLike = Trial | HasCoefficients | ArrayLike | None


@dataclass(frozen=True, eq=False)
class Coefficients:
    """A trial model given by coefficients (equations x terms of the problem).

    ``names`` are the terms of the problem, those of all equations in order of first appearance.
    """

    coef: Array
    names: tuple[str, ...]
    target_names: tuple[str, ...]

    def of(self, group: EquationGroup) -> Array:
        """Return the coefficients of a group's equations over its own terms."""
        rows = [self.target_names.index(name) for name in group.target_names]
        columns = [self.names.index(name) for name in group.features.names]
        return self.coef[np.ix_(rows, columns)]

    def predict(self, group: EquationGroup, values: Array) -> Array:
        """Return the right-hand sides (samples x equations)."""
        return np.asarray(group.features.evaluate(values) @ self.of(group).T)

    def jacobian(self, group: EquationGroup, values: Array, wrt: Sequence[Variable]) -> Array:
        """Return their derivatives (samples x equations x variables)."""
        return group.features.jacobian(values, self.of(group), wrt=wrt)


def trial(model: TrialLike, groups: Sequence[EquationGroup], form: str) -> Trial | None:
    """Return the model as a `Trial`, from one, a solution, or an array of coefficients."""
    if model is None or isinstance(model, Trial):
        return model
    names = tuple(dict.fromkeys(name for group in groups for name in group.features.names))
    targets = tuple(name for group in groups for name in group.target_names)
    table = model.coef if isinstance(model, HasCoefficients) else model
    coef = np.atleast_2d(np.asarray(table, dtype=float))
    if coef.shape != (len(targets), len(names)) or not np.isfinite(coef).all():
        raise ProblemError(
            f"{form}(model=...) has shape {coef.shape}; expected finite coefficients, equations x terms = "
            f"({len(targets)}, {len(names)})."
        )
    return Coefficients(coef, names, targets)


def fitted(coef: TrialLike, groups: Sequence[EquationGroup], what: str) -> Coefficients:
    """Return a model's coefficients, refusing a model that is not given by them; ``what`` names the argument."""
    model = trial(coef, groups, what.partition("(")[0])
    if not isinstance(model, Coefficients):
        raise ProblemError(f"{what}: expected coefficients, equations x terms.")
    return model

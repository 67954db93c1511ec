"""What all forms share: equations grouped by library, checks of the data, and the trial model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from exactsindy._types import Array
from exactsindy.chunked import Pieces
from exactsindy.data import Data, Field, Target, Trajectories, Trajectory
from exactsindy.errors import DataError, ProblemError
from exactsindy.library import Features, Library, Variable


class NotPositiveDefinite(ProblemError):
    """The covariance of the rows' errors cannot be factored: the trial model's slopes are too large for the data."""


@dataclass(frozen=True)
class EquationGroup:
    """Equations that share a library: one block of the problem."""

    features: Features
    targets: tuple[Target, ...]

    @property
    def target_names(self) -> tuple[str, ...]:
        """Return the names of the equations."""
        return tuple(target.name for target in self.targets)


def checked(data: object, form: str) -> Data:
    """Return the data, refusing what is neither trajectories nor a field."""
    if isinstance(data, Data):
        return data
    raise DataError(
        f"{form}: data is of type {type(data).__name__}; expected trajectories or a field: "
        "Trajectories.from_arrays(x, time=...) or Field.from_arrays(u, dims=..., coords=...)."
    )


def only_trajectories(data: object, form: str) -> Trajectories:
    """Return the data, refusing fields too."""
    source = checked(data, form)
    if isinstance(source, Field):
        raise DataError(f"{form} is for trajectories (ODEs); for a field use ModalForm or WeakForm.")
    return source


def only_field(data: object, form: str) -> Field:
    """Return the data, refusing trajectories too."""
    source = checked(data, form)
    if isinstance(source, Trajectories):
        raise DataError(f"{form} is for fields (PDEs); for trajectories use IncrementForm.")
    return source


def only_first_order(pieces: Pieces) -> Data:
    """Return the head of data in pieces, refusing fields with equations of higher order."""
    if isinstance(pieces.head, Field) and any(target.order > 1 for target in pieces.head.targets):
        raise DataError(
            "equations of second order of a field need rates smoothed over all times, and these data are read in "
            "pieces; load them: field.load()."
        )
    return pieces.head


def groups(data: Data, library: Library) -> tuple[EquationGroup, ...]:
    """Return the equations in order, neighbours with equal libraries together."""
    if not isinstance(library, Library):
        raise ProblemError(f"library is of type {type(library).__name__}: expected a library such as Polynomials(3).")
    result: list[EquationGroup] = []
    common = None  # what most libraries are for all equations
    for target in data.targets:
        own = library.for_equation(target.name)
        if own is library and common is None:
            common = library.bind(data)
        features = common if own is library and common is not None else own.bind(data)
        if result and result[-1].features == features:
            result[-1] = EquationGroup(features, (*result[-1].targets, target))
        else:
            result.append(EquationGroup(features, (target,)))
    return tuple(result)


def trajectory_inputs(
    features: Features, member: Trajectory, states: NDArray[np.float64], start: int, stop: int
) -> NDArray[np.float64]:
    """Return the inputs of the library at samples ``start`` to ``stop`` of a trajectory, given the states."""
    extra = features.inputs[len(features.variables.columns) :]
    if extra and extra != (Variable(features.variables.time),):
        features.inputs_of(member)  # says what a trajectory lacks
    columns = [states, member.inputs[start:stop]]
    return np.hstack([*columns, member.times[start:stop, None]] if extra else columns)


@runtime_checkable
class Trial(Protocol):
    """A trial model, whose slopes whiten rows and whose flow guides smoothing, at samples of the library's inputs."""

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

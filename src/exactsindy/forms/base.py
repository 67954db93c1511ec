"""What all forms share: equations grouped by library, checks of the data, parts that are contiguous in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from exactsindy.data import Data, Field, Target, Trajectories, Trajectory, cuts
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


def groups(data: Data, library: Library) -> tuple[EquationGroup, ...]:
    """Return the equations in order, neighbours with equal libraries together.

    Examples
    --------
    >>> from exactsindy.data import Trajectories
    >>> from exactsindy.library import Polynomials
    >>> data = Trajectories.from_arrays([[0.0, 1.0], [0.1, 1.0], [0.2, 1.1]], time=0.1, states=("x", "y"))
    >>> [group.target_names for group in groups(data, Polynomials(2))]
    [("x'", "y'")]
    """
    if not isinstance(library, Library):
        raise ProblemError(f"library is of type {type(library).__name__}: expected a library such as Polynomials(3).")
    result: list[EquationGroup] = []
    for target in data.targets:
        features = library.for_equation(target.name).bind(data)
        if result and result[-1].features == features:
            result[-1] = EquationGroup(features, (*result[-1].targets, target))
        else:
            result.append(EquationGroup(features, (target,)))
    return tuple(result)


def trajectory_inputs(
    features: Features, member: Trajectory, states: NDArray[np.float64], start: int, stop: int
) -> NDArray[np.float64]:
    """Return the inputs of the library at samples ``start`` to ``stop`` of a trajectory, given the states."""
    extra = features.inputs[len(features.variables.basic) :]
    if extra and extra != (Variable(features.variables.time),):
        features.inputs_of(member)  # says what a trajectory lacks
    columns = [states, member.controls[start:stop]]
    return np.hstack([*columns, member.times[start:stop, None]] if extra else columns)


def check_count(count: int, largest: int, what: str) -> None:
    """Refuse a number of folds that leaves one without rows."""
    if not (isinstance(count, int) and 2 <= count <= largest):
        raise DataError(f"folds(count={count!r}): expected an integer from 2 to {largest}, the {what}.")


def parts(lengths: Sequence[int], count: int) -> list[list[tuple[int, int, int]]]:
    """Return for each of ``count`` parts the ranges (member, start, stop) of members laid end to end.

    Examples
    --------
    >>> parts([4, 6], 2)
    [[(0, 0, 4), (1, 0, 1)], [(1, 1, 6)]]
    """
    total = sum(lengths)
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    return [
        [
            (i, max(low - start, 0), min(high - start, n))
            for i, (start, n) in enumerate(zip(starts, lengths, strict=True))
            if start < high and start + n > low
        ]
        for low, high in pairwise(cuts(total, count))
    ]

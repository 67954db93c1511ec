"""The map form: the next sample of each state against the library at this one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from exactsindy._limits import go_on
from exactsindy._types import Array
from exactsindy.data import Data, Target, Trajectories, Trajectory
from exactsindy.errors import DataError, ProblemError
from exactsindy.forms.base import EquationGroup, groups, only_trajectories, trajectory_inputs
from exactsindy.forms.form import Form
from exactsindy.forms.map.steps import lagged, unbroken
from exactsindy.forms.rows import Rows, summed
from exactsindy.library import Library
from exactsindy.problem import Problem

# Rows evaluated together: their library columns stay in the second-level cache, whatever the length of the data.
_ROWS = 4096
# Largest number of lags: a library of all products of more columns would not be searched in any time.
_MOST_LAGS = 50


@dataclass(frozen=True)
class MapForm(Form):
    """Discrete time: x[k+1] as a sum of terms of x[k], the controls u[k] and, with lags, x[k-1], u[k-1], ...

    Rows never cross from one trajectory to the next, nor a place where samples are missing. Steps must be equal.

    Parameters
    ----------
    lags
        Number of earlier samples whose states and controls are variables as well, called ``x[k-1]``, ``u[k-1]``, ...
        in terms. 0 is a map of the present state alone.
    increments
        Whether equations are for the change ``x[k+1] - x[k]`` rather than for the next value ``x[k+1]``.

    Examples
    --------
    >>> import numpy as np, exactsindy as es
    >>> x = [0.3]
    >>> for _ in range(100): x.append(3.8 * x[-1] * (1 - x[-1]))
    >>> data = es.Trajectories.from_arrays(np.array(x), time=1.0, states=("x",))
    >>> problem = MapForm().problem(data, es.Polynomials(3))
    >>> problem.target_names, problem.n_samples
    (('x[k+1]',), 100)
    >>> es.Model.from_solution(es.solve(problem, 2)).equations(3)
    ['x[k+1] = 3.8 x[k] - 3.8 x[k]^2']
    """

    lags: int = 0
    increments: bool = False

    def __post_init__(self) -> None:
        whole = isinstance(self.lags, int) and not isinstance(self.lags, bool)
        if not whole or not 0 <= self.lags <= _MOST_LAGS:
            raise ProblemError(f"MapForm(lags={self.lags!r}): expected an integer from 0 to {_MOST_LAGS}, e.g. 1.")
        if not isinstance(self.increments, bool | np.bool_):
            raise ProblemError(f"MapForm(increments={self.increments!r}): expected True or False.")

    def problem(self, data: Data, library: Library) -> Problem:
        """Return the regression of the next samples over the library."""
        return self._problems(data, library, None)[0]

    def folds(self, data: Data, library: Library, count: int) -> tuple[Problem, ...]:
        """Return ``count`` problems, contiguous in time, whose sum is `problem`."""
        return self._problems(data, library, count)

    def steps(self, data: Data) -> Trajectories:
        """Return the data as samples of a map: pieces of equal steps, and ``x[k+1]`` in place of ``x'``."""
        source = only_trajectories(data, "MapForm")
        high = next((target.name for target in source.targets if target.order > 1), None)
        if high is not None:
            raise DataError(f"MapForm: the target {high!r} is a derivative; a map has targets such as 'x[k+1]'.")
        step = "change" if self.increments else "next"
        targets = tuple(Target(target.state, step=step) for target in source.targets)
        return replace(unbroken(source, self.lags), targets=targets)

    def _problems(self, data: Data, library: Library, count: int | None) -> tuple[Problem, ...]:
        source = lagged(self.steps(data), self.lags)
        equations = groups(source, library)
        rows = [[_MapRows(member, group) for member in source] for group in equations]
        return summed(equations, rows, count, "steps")


@dataclass(frozen=True)
class _MapRows(Rows):
    """Rows of some equations in one trajectory: library at sample k, next sample (or change) as target."""

    member: Trajectory
    group: EquationGroup

    def __len__(self) -> int:
        return len(self.member) - 1

    def rows(self, low: int, high: int) -> Iterator[tuple[Array, Array]]:
        """Yield (theta, targets) of the rows ``low`` to ``high``."""
        for start in range(low, high, _ROWS):
            go_on()
            stop = min(start + _ROWS, high)
            states = self.member.states[start:stop]
            inputs = trajectory_inputs(self.group.features, self.member, states, start, stop)
            yield self.group.features.evaluate(inputs), next_values(self.member, self.group.targets)[start:stop]


def next_values(member: Trajectory, targets: Sequence[Target]) -> Array:
    """Return what the equations give at every sample but the last (samples - 1 x equations)."""
    own = [member.names.index(target.state) for target in targets]
    change = np.array([target.step == "change" for target in targets], dtype=float)
    return np.asarray(member.states[1:, own] - change * member.states[:-1, own])

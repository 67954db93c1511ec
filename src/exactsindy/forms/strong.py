"""The strong form: estimated derivatives against the library at the same samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from exactsindy._types import Array
from exactsindy.data import Data, Trajectories
from exactsindy.differentiation import FiniteDifference, SmoothedFiniteDifference
from exactsindy.forms.base import EquationGroup, check_count, checked, groups, parts, trajectory_inputs
from exactsindy.forms.derivative import Differentiation, Slopes
from exactsindy.forms.form import Form
from exactsindy.forms.strong_field import FieldRows
from exactsindy.library import Library
from exactsindy.problem import Problem

# Rows evaluated together: their library columns stay in cache, whatever the length of the data.
BLOCK_ROWS = 4096


@dataclass(frozen=True)
class StrongForm(Form):
    """Rows x'(t_i) = theta(x(t_i)) xi, one per sample, streamed in blocks.

    Parameters
    ----------
    differentiation
        How time derivatives are estimated. Measured derivatives of a trajectory are used instead if it has
        them.
    smooth_states
        Whether the library is evaluated on the states the differentiation smoothed, or on the raw ones.
    space
        Spatial derivatives of fields on axes that are not periodic; periodic axes are differentiated
        spectrally unless ``spectral`` is off.
    spectral
        Whether periodic axes use the discrete Fourier transform (exact for resolved fields; finite
        differences pass less noise).

    Notes
    -----
    Trajectories keep every sample; at their ends derivatives are one-sided. Of fields, the points at which a
    central stencil does not fit are left out, and so are those that see a missing cell.

    Examples
    --------
    >>> import numpy as np
    >>> from exactsindy.data import Trajectories
    >>> from exactsindy.library import Polynomials
    >>> t = np.arange(0.0, 5.0, 0.01)
    >>> problem = StrongForm().problem(Trajectories.from_arrays(np.exp(-t), time=t, states=("x",)), Polynomials(2))
    >>> bool(problem.rss([[0.0, -1.0, 0.0]])[0] < 1e-6)
    True
    """

    differentiation: Differentiation = field(default_factory=SmoothedFiniteDifference)
    smooth_states: bool = False
    space: FiniteDifference = field(default_factory=lambda: FiniteDifference(order=4))
    spectral: bool = True

    def problem(self, data: Data, library: Library) -> Problem:
        """Return the regression of all equations of the data over the library.

        Raises
        ------
        DataError
            If a trajectory is too short to differentiate, or no point of a field is far enough from its
            edges.
        """
        return self._sum(data, library, None)[0]

    def folds(self, data: Data, library: Library, count: int) -> tuple[Problem, ...]:
        """Return ``count`` problems, contiguous in time, whose sum is `problem`.

        Derivatives are those of the whole data, so a fold sees a few samples of its neighbours.
        """
        return self._sum(data, library, count)

    def _sum(self, data: Data, library: Library, count: int | None) -> tuple[Problem, ...]:
        found = checked(data, "StrongForm")
        equations = groups(found, library)
        if isinstance(found, Trajectories):
            lengths = [len(member) for member in found]
            sources = [_TrajectoryRows(self, found, group) for group in equations]
        else:
            fields = [
                FieldRows(self.differentiation, self.smooth_states, self.space, self.spectral, found, group)
                for group in equations
            ]
            lengths = [min(rows.n_times for rows in fields)]
            sources = fields  # type: ignore[assignment]
        if count is not None:
            check_count(count, sum(lengths), "number of samples in time")
        return tuple(
            Problem.from_blocks(
                Problem.from_chunks(source.rows(ranges), names=group.features.terms, target_names=group.target_names)
                for source, group in zip(sources, equations, strict=True)
            )
            for ranges in parts(lengths, count or 1)
        )


@dataclass(frozen=True)
class _TrajectoryRows:
    form: StrongForm
    data: Trajectories
    group: EquationGroup

    def rows(self, ranges: list[tuple[int, int, int]]) -> Iterator[tuple[Array, Array]]:
        """Yield (theta, targets) for ranges (trajectory, start, stop)."""
        for i, low, high in ranges:
            member = self.data[i]
            slopes = Slopes(self.form.differentiation, member, self.group.targets)
            for start in range(low, high, BLOCK_ROWS):
                stop = min(start + BLOCK_ROWS, high)
                targets = slopes.between(start, stop)
                states = slopes.states(start, stop) if self.form.smooth_states else member.states[start:stop]
                inputs = trajectory_inputs(self.group.features, member, states, start, stop)
                yield self.group.features.evaluate(inputs), targets

"""Time series: one trajectory, and several measured of the same system."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from exactsindy._types import Array
from exactsindy.data.columns import Columns, Samples, Target, parse_targets, rate_names
from exactsindy.data.input_checks import check_finite, check_rows, check_states, check_times, frozen, names_of, numbers
from exactsindy.data.notice import Notice, column_notices, gap_notice
from exactsindy.data.parameters import checked_parameters, per_trajectory
from exactsindy.data.splitting import cut_at, fold_ranges
from exactsindy.data.tables import members
from exactsindy.errors import DataError, suggests_keywords


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Trajectory:
    """States sampled at increasing times. Arrays are copied, checked and read-only.

    Parameters
    ----------
    times
        Sample times (n,), equally spaced or not, or the step; None for rows of measured derivatives that are no series.
    states
        Samples x states (n, d).
    names
        Names of the states; x0, x1, ... by default.
    controls, control_names
        Inputs u(t) at the same times (n, c); none by default.
    derivatives
        Measured time derivatives of all states (n, d), where they need not be estimated.
    label
        A name that tells this trajectory from others.
    parameters
        Numbers that are constant within the trajectory, by name, e.g. ``{"mu": 0.1}``; none by default.

    Examples
    --------
    >>> Trajectory(0.5, [[0.0, 1.0], [0.5, 1.0], [1.0, 1.5]], ("x", "y"))
    Trajectory(3 samples of x, y, times 0 to 1)
    """

    times: Array
    states: Array
    names: tuple[str, ...]
    controls: Array
    control_names: tuple[str, ...]
    derivatives: Array | None
    label: str
    parameters: Mapping[str, float]

    def __init__(
        self,
        times: ArrayLike | float | None,
        states: ArrayLike,
        names: Sequence[str] | None = None,
        *,
        controls: ArrayLike | None = None,
        control_names: Sequence[str] | None = None,
        derivatives: ArrayLike | None = None,
        label: str = "",
        parameters: Mapping[str, float] | None = None,
    ) -> None:
        x = check_states(numbers(states, "states"))
        t = check_times(1.0 if times is None and derivatives is not None else times, x)
        n, d = x.shape
        called = names_of(names, d, "x", "states")
        u = np.zeros((n, 0)) if controls is None else check_rows(controls, "controls", n)
        inputs = names_of(control_names, u.shape[1], "u", "controls")
        if set(called) & set(inputs):
            both = next(name for name in inputs if name in called)
            raise DataError(
                f"{both!r} is a name of a state and of a control; expected each column once, or rename one."
            )
        check_finite(np.hstack((x, u)), (*called, *inputs))
        slopes = None
        if derivatives is not None:
            slopes = check_rows(derivatives, "derivatives", n)
            if slopes.shape != x.shape:
                raise DataError(f"derivatives has shape {slopes.shape}; expected that of the states, {x.shape}.")
            check_finite(slopes, [f"{name}'" for name in called])
            frozen(slopes)
        constants = checked_parameters(parameters, (*called, *inputs))
        values = (frozen(t), frozen(x), called, frozen(u), inputs, slopes, label, constants)
        for field, value in zip(fields(self), values, strict=True):
            object.__setattr__(self, field.name, value)

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        inputs = f", controls {', '.join(self.control_names)}" if self.control_names else ""
        inputs += "".join(f", {name} = {value:g}" for name, value in self.parameters.items())
        span = f"times {self.times[0]:g} to {self.times[-1]:g}"
        return f"Trajectory({len(self)} samples of {', '.join(self.names)}{inputs}, {span})"

    @cached_property
    def inputs(self) -> Array:
        """Return the controls and then the parameters beside every sample (n, controls + parameters)."""
        if not self.parameters:
            return self.controls
        constants = np.tile(np.array([*self.parameters.values()]), (len(self), 1))
        return frozen(np.hstack((self.controls, constants)))

    def slice(self, start: int, stop: int) -> Trajectory:
        """Return the samples from ``start`` up to (not including) ``stop``."""
        if start == 0 and stop == len(self):
            return self  # a copy would take its memory again
        part = slice(start, stop)
        slopes = None if self.derivatives is None else self.derivatives[part]
        return replace(
            self, times=self.times[part], states=self.states[part], controls=self.controls[part], derivatives=slopes
        )


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Trajectories:
    """Trajectories of one system, each with its own times and length; the data of an ODE.

    Parameters
    ----------
    members
        The trajectories, all with the same states, controls and names of parameters.
    targets
        The equations wanted: names such as ``x``, ``x'`` or ``x''``, or `Target` records; all states by default.
    time_name
        Name of the time in terms such as ``cos(t)``.
    notices
        Warnings from reading the data; `warnings` adds those about the numbers.
    """

    members: tuple[Trajectory, ...]
    targets: tuple[Target, ...]
    time_name: str
    notices: tuple[Notice, ...]

    def __init__(
        self,
        members: Iterable[Trajectory],
        targets: str | Sequence[str | Target] | None = None,
        *,
        time_name: str = "t",
        notices: Iterable[Notice] = (),
    ) -> None:
        parts = tuple(members)
        if not parts:
            raise DataError(
                "Trajectories: expected at least one trajectory (with gaps='split' no piece was long enough: "
                "fill in missing values instead)."
            )
        first = parts[0]
        for i, part in enumerate(parts):
            if (part.names, part.control_names) != (first.names, first.control_names):
                other = f"trajectory 0 has {first.names} and {first.control_names}; expected the same in all."
                raise DataError(f"Trajectory {i} has states {part.names} and controls {part.control_names}, {other}")
            if tuple(part.parameters) != tuple(first.parameters):
                other = f"trajectory 0 has {tuple(first.parameters)}; expected the same names in all."
                raise DataError(f"Trajectory {i} has the parameters {tuple(part.parameters)}, {other}")
            if (part.derivatives is None) != (first.derivatives is None):
                raise DataError(f"Trajectory {i} and trajectory 0 must both have derivatives, or neither.")
        wanted = parse_targets(targets, first.names)
        for field, value in zip(fields(self), (parts, wanted, time_name, tuple(notices)), strict=True):
            object.__setattr__(self, field.name, value)

    @classmethod
    @suggests_keywords(
        t="time", dt="time", x="source", u="controls", feature_names="states", names="states", x_dot="derivatives"
    )
    def from_arrays(
        cls,
        source: Samples | Trajectory | Sequence[Samples | Trajectory],
        time: ArrayLike | None = None,
        *,
        states: Sequence[str] | None = None,
        controls: Sequence[str] | Samples | Sequence[Samples] | None = None,
        control_names: Sequence[str] | None = None,
        targets: str | Sequence[str] | None = None,
        derivatives: ArrayLike | None = None,
        trajectory: str | None = None,
        gaps: str = "refuse",
        parameters: Sequence[str] | Mapping[str, ArrayLike] | None = None,
    ) -> Trajectories:
        """Return checked trajectories from arrays, frames, mappings, or lists of these.

        Parameters
        ----------
        source
            An array (samples x states), a pandas, polars or Arrow table, a mapping from name to column, a
            one-dimensional xarray Dataset, a `Trajectory`, or a list with one of these per trajectory.
        time
            Arrays: sample times or the step; a list of them for a list of arrays. Tables: the name of the time column.
            Not needed with ``derivatives``: each row says a rate by itself.
        states
            Names of the states; for tables the columns to use.
        controls
            Inputs u(t): for arrays an array (samples x controls) or a mapping from name to column, or a list of them;
            for tables names of columns.
        control_names
            Names of the controls of arrays; u0, u1, ... by default.
        targets
            The equations wanted, e.g. ``("x''", "y''")``; the first derivative of every state by default.
        derivatives
            Measured derivatives of arrays, shaped like the states.
        trajectory
            Tables: the column whose value tells trajectories apart.
        gaps
            ``"refuse"`` missing values, or ``"split"`` trajectories at them and at long breaks in time.
        parameters
            Constants of each trajectory: a mapping from name to one value per trajectory, ``{"mu": [0.1, 0.4]}``; for
            tables also the names of columns that are constant within each trajectory.

        Examples
        --------
        >>> Trajectories.from_arrays(np.zeros((100, 2)), time=0.01, states=("x", "y"))
        Trajectories(1 of x, y; samples: 100)
        """
        columns = Columns(
            time, states, controls, control_names, targets, derivatives, trajectory, gaps, parameters=parameters
        )
        return cls.from_columns(source, columns)

    @classmethod
    def from_columns(
        cls, source: Samples | Trajectory | Sequence[Samples | Trajectory], columns: Columns
    ) -> Trajectories:
        """Return what `from_arrays` returns, its keyword arguments in one record."""
        items = source if isinstance(source, (list, tuple)) else [source]
        ready = [item for item in items if isinstance(item, Trajectory)]
        if ready and len(ready) == len(items):
            return cls(ready, columns.targets).with_parameters(columns.parameters)
        parts, origins, time_name, notices = members(source, columns, Trajectory)
        if isinstance(columns.parameters, Mapping):
            constants = per_trajectory(columns.parameters, max(origins, default=-1) + 1)
            parts = [replace(part, parameters=constants[i]) for part, i in zip(parts, origins, strict=True)]
        return cls(parts, columns.targets, time_name=time_name, notices=notices)

    def with_parameters(self, parameters: Sequence[str] | Mapping[str, ArrayLike] | None) -> Trajectories:
        """Return the trajectories with these parameters, ``{"mu": [0.1, 0.4]}``, in place of any they have.

        Names alone, ``("mu",)``, keep those parameters and leave the others out; ``None`` leaves all as they are.
        """
        if parameters is None:
            return self
        if isinstance(parameters, Mapping):
            constants = per_trajectory(parameters, len(self))
        else:
            unknown = next((name for name in parameters if name not in self.parameter_names), None)
            if unknown is not None:
                known = f"they have {', '.join(self.parameter_names) or 'none'}"
                raise DataError(
                    f"parameters: the trajectories have no parameter {unknown!r} ({known}); pass its values, one per "
                    f"trajectory: parameters={{{unknown!r}: [...]}}."
                )
            constants = [{name: member.parameters[name] for name in parameters} for member in self]
        return replace(
            self,
            members=tuple(replace(m, parameters=values) for m, values in zip(self.members, constants, strict=True)),
        )

    def __len__(self) -> int:
        return len(self.members)

    def __iter__(self) -> Iterator[Trajectory]:
        return iter(self.members)

    def __getitem__(self, i: int) -> Trajectory:
        return self.members[i]

    def __repr__(self) -> str:
        lengths = ", ".join(str(len(member)) for member in self.members[:5]) + ("..." if len(self) > 5 else "")
        return f"Trajectories({len(self)} of {', '.join(self.state_names)}; samples: {lengths})"

    @property
    def state_names(self) -> tuple[str, ...]:
        """Return the names of the states."""
        return self.members[0].names

    @property
    def rate_names(self) -> tuple[str, ...]:
        """Return the rates that are variables beside the states: ``x'`` where an equation is for ``x''``."""
        return rate_names(self.targets, self.state_names)

    @property
    def control_names(self) -> tuple[str, ...]:
        """Return the names of the controls."""
        return self.members[0].control_names

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Return the names of the parameters."""
        return tuple(self.members[0].parameters)

    @cached_property
    def parameters(self) -> dict[str, Array]:
        """Return the values of each parameter, one per trajectory, by name."""
        return {name: np.array([m.parameters[name] for m in self.members]) for name in self.parameter_names}

    @property
    def axes(self) -> tuple[str, ...]:
        """Return the names of the space dimensions: none."""
        return ()

    @property
    def n_samples(self) -> int:
        """Return the number of samples of all trajectories together."""
        return sum(len(member) for member in self.members)

    @cached_property
    def warnings(self) -> tuple[Notice, ...]:
        """Return warnings about the data: constant columns, very different sizes, gaps in time, ..."""
        parts = [(m.states, m.controls) for m in self.members]
        # Without copies: of long data each would be as large as they are.
        squares = sum(np.concatenate([np.einsum("ij,ij->j", a, a) for a in part]) for part in parts)
        least = np.min([np.concatenate([a.min(axis=0) for a in part]) for part in parts], axis=0)
        most = np.max([np.concatenate([a.max(axis=0) for a in part]) for part in parts], axis=0)
        sizes = np.sqrt(squares / self.n_samples)
        names = (*self.state_names, *self.control_names)
        gaps = tuple(
            note
            for i, m in enumerate(self.members)
            if not any(notice.kind == "split" for notice in self.notices)  # cut at gaps already
            for note in gap_notice(m.times, f"trajectory {m.label or i}" if len(self) > 1 else "time")
        )
        return (*self.notices, *column_notices(names, least, most, sizes), *gaps)

    @cached_property
    def fingerprint(self) -> str:
        """Return the SHA-256 of names, targets and all numbers."""
        digest = hashlib.sha256()
        digest.update("\n".join((*self.state_names, "", *self.control_names, "")).encode())
        digest.update("\n".join(target.name for target in self.targets).encode())
        for member in self.members:
            for array in (member.times, member.states, member.controls, member.derivatives):
                digest.update(b"|" if array is None else np.ascontiguousarray(array).tobytes() + b"|")
        for name, values in self.parameters.items():
            digest.update(f"\n{name}\n".encode() + values.tobytes())
        return digest.hexdigest()

    def slices(self, ranges: Sequence[tuple[int, int, int]]) -> Trajectories:
        """Return the parts (trajectory, start, stop) as trajectories of their own."""
        return replace(self, members=tuple(self.members[i].slice(a, b) for i, a, b in ranges))

    def split(self, fraction: float = 2 / 3) -> tuple[Trajectories, Trajectories]:
        """Return the first ``fraction`` of every trajectory and the remaining samples: training and validation."""
        at = [cut_at(len(member), fraction) for member in self]
        first = self.slices([(i, 0, a) for i, a in enumerate(at)])
        return first, self.slices([(i, a, len(self[i])) for i, a in enumerate(at)])

    def folds(self, count: int) -> tuple[Trajectories, ...]:
        """Return ``count`` parts of about equal size, contiguous in time, that together are all samples."""
        return tuple(self.slices(ranges) for ranges in fold_ranges([len(member) for member in self], count))

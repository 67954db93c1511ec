"""What a simulation returns: the states it reached and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from exactsindy._labelled import dataset, frame
from exactsindy._types import Array
from exactsindy.data import Field, Trajectories, Trajectory
from exactsindy.errors import DataError


class SimulationStatus(Enum):
    """How a simulation ended; the value is the sentence to show."""

    COMPLETE = "All times were reached."
    BLOW_UP = (
        "The states ran away: they passed max_abs, or the largest number. What was reached before is kept; start "
        "elsewhere, simulate for a shorter time, or doubt the model."
    )
    UNDEFINED = (
        "A term is not defined at a state that was reached (division by zero, logarithm or root of a negative "
        "number). What was reached before is kept; start elsewhere or doubt the model."
    )
    TOO_MANY_STEPS = (
        "The steps became too small to go on. What was reached before is kept; loosen rtol and atol, try a stiff "
        "method such as 'Radau' (trajectories), or doubt the model."
    )


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """States over time.

    Parameters
    ----------
    t
        The times that were reached, (n,).
    x
        The states at these times, (n, d).
    names
        Names of the columns: the states, then x' of those with an equation for x''.
    status
        How it ended; ``status.value`` is a sentence.
    evaluations
        How often the right-hand side was called.
    """

    t: Array
    x: Array
    names: tuple[str, ...]
    status: SimulationStatus
    evaluations: int

    @property
    def success(self) -> bool:
        """Return True if all times were reached."""
        return self.status is SimulationStatus.COMPLETE

    def __getitem__(self, name: str) -> Array:
        if name not in self.names:
            raise DataError(f"simulation[{name!r}]: there is no such state; there are {', '.join(self.names)}.")
        return np.asarray(self.x[:, self.names.index(name)])

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:
        return np.array(self.x, dtype=dtype)  # type: ignore[call-overload,no-any-return]

    def to_pandas(self) -> Any:
        """Return a pandas frame: one column per state, the times as its index."""
        return frame({"t": self.t, **{name: self[name] for name in self.names}}, "t")

    def to_xarray(self) -> Any:
        """Return an xarray Dataset of the states over the time t; its attribute ``status`` says how it ended."""
        return dataset({name: (("t",), self[name]) for name in self.names}, {"t": self.t}, status=self.status.name)

    def trajectories(self) -> Trajectories:
        """Return the states as data, e.g. to fit them again."""
        return Trajectories([Trajectory(self.t, self.x, self.names)])

    def __repr__(self) -> str:
        return f"Simulation({len(self.t)} times of {', '.join(self.names)}; {self.status.name})"


@dataclass(frozen=True, eq=False, repr=False)
class FieldSimulation:
    """Fields over time, on the grid on which they started.

    Parameters
    ----------
    t
        The times that were reached, (n,).
    values
        One array per field, space axes first, time last.
    names
        Names of the fields: the states, then u_t of those with an equation for u_tt.
    axes, coords, periods
        Per space axis its name, its coordinates and its period; None for an axis with ends.
    status
        How it ended; ``status.value`` is a sentence.
    steps
        How many time steps were taken.
    """

    t: Array
    values: tuple[Array, ...]
    names: tuple[str, ...]
    axes: tuple[str, ...]
    coords: tuple[Array, ...]
    periods: tuple[float | None, ...]
    status: SimulationStatus
    steps: int

    @property
    def success(self) -> bool:
        """Return True if all times were reached."""
        return self.status is SimulationStatus.COMPLETE

    def __getitem__(self, name: str) -> Array:
        if name not in self.names:
            raise DataError(f"simulation[{name!r}]: there is no such field; there are {', '.join(self.names)}.")
        return self.values[self.names.index(name)]

    def to_xarray(self) -> Any:
        """Return an xarray Dataset of the fields over space and time; its attribute ``status`` says how it ended."""
        dims = (*self.axes, "t")
        coords = {**dict(zip(self.axes, self.coords, strict=True)), "t": self.t}
        return dataset({name: (dims, self[name]) for name in self.names}, coords, status=self.status.name)

    def field(self) -> Field:
        """Return the fields as data, e.g. to fit them again."""
        return Field.from_arrays(
            dict(zip(self.names, self.values, strict=True)),
            dims=(*self.axes, "t"),
            coords={**dict(zip(self.axes, self.coords, strict=True)), "t": self.t},
            time="t",
            periodic={axis: period for axis, period in zip(self.axes, self.periods, strict=True) if period is not None},
        )

    def __repr__(self) -> str:
        sizes = " x ".join(f"{axis} {len(c)}" for axis, c in zip(self.axes, self.coords, strict=True))
        return f"FieldSimulation({', '.join(self.names)}; {sizes}; {len(self.t)} times; {self.status.name})"

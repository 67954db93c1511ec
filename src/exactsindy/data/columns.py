"""Which columns mean what, and which equations are wanted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from exactsindy.errors import DataError

# Numbers by position, or columns by name: an array, a frame (frames count as array-like), or a mapping.
Samples = ArrayLike | Mapping[str, ArrayLike]


@dataclass(frozen=True)
class Target:
    """The time derivative of a state (or field) that an equation gives.

    Examples
    --------
    >>> Target("x", 2).name, Target("u", field=True).name
    ("x''", 'u_t')
    """

    state: str
    order: int = 1
    field: bool = False

    @property
    def name(self) -> str:
        """Return the name of the equation: ``x'``, ``x''``, ``u_t``."""
        return f"{self.state}_{'t' * self.order}" if self.field else self.state + "'" * self.order


@dataclass(frozen=True, eq=False)
class Columns:
    """Which columns of a table, arrays or axes of a grid mean what.

    Parameters
    ----------
    time
        Name of the time column or dimension, or sample times, or the step between samples; for a list of arrays also
        a list of these. Columns named ``t`` or ``time`` by default.
    states
        Names of the states (tables: the columns to use) or fields.
    controls
        Inputs u(t): names of columns, or arrays, or a mapping from name to column, or a list of these.
    control_names
        Names of controls that are arrays; u0, u1, ... by default.
    targets
        The equations wanted, e.g. ``("x''",)``; the first derivative of every state by default.
    derivatives
        Measured derivatives, shaped like the states.
    trajectory
        Name of the column whose value tells trajectories apart.
    gaps
        ``"refuse"`` missing values, or ``"split"`` trajectories at them and at long breaks in time (fields: keep the
        missing cells).
    dims, coords, periodic
        Fields: the names of the axes, the coordinates or the step along each, and which axes are periodic.
    """

    time: ArrayLike | None = None
    states: Sequence[str] | None = None
    controls: Sequence[str] | Samples | Sequence[Samples] | None = None
    control_names: Sequence[str] | None = None
    targets: Sequence[str | Target] | None = None
    derivatives: ArrayLike | None = None
    trajectory: str | None = None
    gaps: str = "refuse"
    dims: Sequence[str] | None = None
    coords: Mapping[str, ArrayLike] | None = None
    periodic: Iterable[str] | Mapping[str, float] = ()

    def __post_init__(self) -> None:
        if self.gaps not in ("refuse", "split"):
            raise DataError(f"gaps={self.gaps!r}: expected 'refuse' or 'split'.")


def parse_targets(
    names: Sequence[str | Target] | None, states: tuple[str, ...], *, field: bool = False
) -> tuple[Target, ...]:
    """Return targets from names such as ``x``, ``x''`` or ``u_t``; by default all first derivatives."""
    if names is None:
        return tuple(Target(state, 1, field) for state in states)
    if isinstance(names, str):
        raise DataError(f"targets={names!r}: expected a list of equations, e.g. targets=({names!r},).")
    targets = tuple(_parse(name, states, field) for name in names)
    if not targets or len(set(targets)) < len(targets):
        raise DataError(
            f"targets={tuple(target.name for target in targets)}: expected at least one equation, and each only once."
        )
    return targets


def _parse(name: str | Target, states: tuple[str, ...], field: bool) -> Target:
    if isinstance(name, Target):
        name = name.name
    if name in states:
        return Target(name, 1, field)
    match = re.fullmatch(r"(.+?)_(t+)", name) if field else re.fullmatch(r"(.+?)('+)", name)
    if match is None or match.group(1) not in states:
        example = Target(states[0], 2, field)
        raise DataError(
            f"targets: unknown equation {name!r}; expected a state ({', '.join(states)}) or a derivative of one, "
            f"such as {example.name!r}."
        )
    return Target(match.group(1), len(match.group(2)), field)

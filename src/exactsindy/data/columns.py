"""The meaning of columns, and the equations wanted."""

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
    """The time derivative of a state (or field) that an equation gives."""

    state: str
    order: int = 1
    field: bool = False

    @property
    def name(self) -> str:
        """Return the name of the equation: ``x'``, ``x''``, ``u_t``."""
        return f"{self.state}_{'t' * self.order}" if self.field else self.state + "'" * self.order


@dataclass(frozen=True, eq=False)
class Columns:
    """The meaning of the columns of a table, or of arrays: the arguments of all functions that read data.

    ``time``, ``states``, ``controls``, ``control_names``, ``targets``, ``derivatives``, ``trajectory`` and ``gaps`` are
    those of `Trajectories.from_arrays`; ``dims``, ``coords`` and ``periodic`` those of `Field.from_arrays`, where
    ``states`` are the names of the fields and ``gaps="split"`` keeps missing cells.
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
        if not isinstance(self.gaps, str) or self.gaps not in ("refuse", "split"):
            raise DataError(f"gaps={self.gaps!r}: expected 'refuse' or 'split'.")


def parse_targets(
    names: Sequence[str | Target] | None, states: tuple[str, ...], *, field: bool = False
) -> tuple[Target, ...]:
    """Return targets from names such as ``x``, ``x''`` or ``u_t``; by default all first derivatives."""
    if names is None:
        return tuple(Target(state, 1, field) for state in states)
    if isinstance(names, str):
        raise DataError(f"targets={names!r}: expected a list of equations, e.g. targets=({names!r},).")
    if not isinstance(names, Iterable):
        raise DataError(f"targets={names!r}: expected a list of equations, e.g. targets=({states[0]!r},).")
    targets = tuple(_parse(name, states, field) for name in names)
    if not targets or len(set(targets)) < len(targets):
        raise DataError(f"targets={[t.name for t in targets]}: expected at least one equation, and each only once.")
    return targets


def _parse(name: str | Target, states: tuple[str, ...], field: bool) -> Target:
    if isinstance(name, Target):
        name = name.name
    if not isinstance(name, str):
        raise DataError(f"targets: {name!r} is of type {type(name).__name__}; expected the name of an equation.")
    if name in states:
        return Target(name, 1, field)
    match = re.fullmatch(r"(.+?)_(t+)", name) if field else re.fullmatch(r"(.+?)('+)", name)
    if match is None or match.group(1) not in states:
        known = f"a state ({', '.join(states)}) or a derivative of one, such as {Target(states[0], 2, field).name!r}"
        raise DataError(f"targets: unknown equation {name!r}; expected {known}.")
    return Target(match.group(1), len(match.group(2)), field)

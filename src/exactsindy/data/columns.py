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
    """The time derivative of a state (or field) that an equation gives, or for maps its value one step later.

    ``step`` is empty for time derivatives, ``"next"`` for the next value x[k+1], ``"change"`` for x[k+1] - x[k].
    """

    state: str
    order: int = 1
    field: bool = False
    step: str = ""

    @property
    def name(self) -> str:
        """Return the name of the equation: ``x'``, ``x''``, ``u_t``, ``x[k+1]``, ``x[k+1] - x[k]``."""
        if self.step:
            return f"{self.state}[k+1]" + (f" - {self.state}[k]" if self.step == "change" else "")
        return f"{self.state}_{'t' * self.order}" if self.field else self.state + "'" * self.order

    @property
    def integral(self) -> str:
        """Return the name of what the equation gives the rate of: ``x`` for ``x'``, ``x'`` for ``x''``."""
        return Target(self.state, self.order - 1, self.field).name if self.order > 1 else self.state


@dataclass(frozen=True, eq=False)
class Columns:
    """The meaning of the columns of a table, or of arrays: the arguments of all functions that read data.

    ``time``, ``states``, ``controls``, ``control_names``, ``targets``, ``derivatives``, ``trajectory``, ``gaps`` and
    ``parameters`` are those of `Trajectories.from_arrays`; ``dims``, ``coords`` and ``periodic`` those of
    `Field.from_arrays`, where ``states`` are the names of the fields and ``gaps="split"`` keeps missing cells. With
    ``steps`` the time may be left out.
    """

    time: ArrayLike | None = None
    states: Sequence[str] | None = None
    controls: Sequence[str] | Samples | Sequence[Samples] | None = None
    control_names: Sequence[str] | None = None
    targets: str | Sequence[str | Target] | None = None
    derivatives: ArrayLike | None = None
    trajectory: str | None = None
    gaps: str = "refuse"
    dims: Sequence[str] | None = None
    coords: Mapping[str, ArrayLike] | None = None
    periodic: Iterable[str] | Mapping[str, float] = ()
    parameters: Sequence[str] | Mapping[str, ArrayLike] | None = None
    steps: bool = False  # samples of a map: without a time they are counted 0, 1, 2, ...

    def __post_init__(self) -> None:
        if not isinstance(self.gaps, str) or self.gaps not in ("refuse", "split"):
            raise DataError(f"gaps={self.gaps!r}: expected 'refuse' or 'split'.")
        if isinstance(self.parameters, str):
            raise DataError(
                f"parameters={self.parameters!r}: expected columns of a table, e.g. ({self.parameters!r},), or values "
                f"by name, e.g. {{{self.parameters!r}: [0.1, 0.4]}}."
            )
        if self.parameters is not None and self.dims is not None:
            raise DataError("parameters: a field has none; expected trajectories (dims=None).")


def rate_names(targets: Sequence[Target], states: Sequence[str]) -> tuple[str, ...]:
    """Return the rates that equations of higher order leave free, ``x'`` for ``x''``, unless they are states."""
    lower = (Target(t.state, k, t.field).name for t in targets for k in range(1, t.order))
    return tuple(name for name in dict.fromkeys(lower) if name not in states)


def parse_targets(
    names: str | Sequence[str | Target] | None, states: tuple[str, ...], *, field: bool = False
) -> tuple[Target, ...]:
    """Return targets from names such as ``x``, ``x''`` or ``u_t``; by default all first derivatives."""
    if names is None:
        return tuple(Target(state, 1, field) for state in states)
    if isinstance(names, str):
        names = (names,)
    if not isinstance(names, Iterable):
        raise DataError(f"targets={names!r}: expected a list of equations, e.g. targets=({states[0]!r},).")
    targets = tuple(_parse(name, states, field) for name in names)
    if not targets or len(set(targets)) < len(targets):
        raise DataError(f"targets={[t.name for t in targets]}: expected at least one equation, and each only once.")
    return targets


def parse_step(name: str) -> Target | None:
    """Return the equation of a map called ``x[k+1]`` or ``x[k+1] - x[k]``; None for any other name.

    Examples
    --------
    >>> parse_step("x[k+1] - x[k]")
    Target(state='x', order=1, field=False, step='change')
    """
    match = re.fullmatch(r"(.+)\[k\+1\](?: - (.+)\[k\])?", name, re.DOTALL)
    if match is None or match.group(2) not in (None, match.group(1)):
        return None
    return Target(match.group(1), step="next" if match.group(2) is None else "change")


def _parse(name: str | Target, states: tuple[str, ...], field: bool) -> Target:
    if isinstance(name, Target):
        name = name.name
    if not isinstance(name, str):
        raise DataError(f"targets: {name!r} is of type {type(name).__name__}; expected the name of an equation.")
    if name in states:
        return Target(name, 1, field)
    step = None if field else parse_step(name)
    if step is not None and step.state in states:
        return step
    match = re.fullmatch(r"(.+?)_(t+)", name) if field else re.fullmatch(r"(.+?)('+)", name)
    if match is None or match.group(1) not in states:
        known = f"a state ({', '.join(states)}) or a derivative of one, such as {Target(states[0], 2, field).name!r}"
        raise DataError(f"targets: unknown equation {name!r}; expected {known}.")
    return Target(match.group(1), len(match.group(2)), field)

"""Terms and targets: what the columns of a problem are called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from exactsindy.errors import ProblemError, listed, nearest

# How the equation of a state is named: x', x'' (ODE), u_t, u_tt (PDE), x[k+1] (map).
_SUFFIXES = ("'", "''", "'''", "_t", "_tt", "[k+1]")


class TermLike(Protocol):
    """What a problem asks of a candidate term: a name. Terms of a library know more."""

    @property
    def name(self) -> str:
        """The name shown in equations, distinct within a library."""


@dataclass(frozen=True)
class NamedTerm:
    """A candidate term known by its name only."""

    name: str

    def __str__(self) -> str:
        return self.name


T = TypeVar("T")


def as_terms(names: Iterable[str | TermLike] | None, count: int) -> tuple[TermLike, ...]:
    """Turn `names` (strings or terms) into `count` terms; ``theta0, theta1, ...`` if None."""
    if names is None:
        return tuple(NamedTerm(f"theta{j}") for j in range(count))
    given = _as_tuple(names, "names", "('1', 'x', 'x^2')")
    terms: list[TermLike] = []
    for j, name in enumerate(given):
        term = NamedTerm(name) if isinstance(name, str) else name
        if not isinstance(getattr(term, "name", None), str):
            kind = type(name).__name__
            cure = "expected a str or a term with a `name` that is a str"
            raise ProblemError(f"names[{j}] is {name!r} of type {kind}: {cure}.")
        terms.append(term)
    check_names("names", [term.name for term in terms], count, "columns of theta")
    return tuple(terms)


def as_target_names(names: Iterable[str] | None, count: int) -> tuple[str, ...]:
    """Turn `names` into `count` target names; ``y0', y1', ...`` if None; one string names one target."""
    if names is None:
        return tuple(f"y{j}'" for j in range(count))
    given = (names,) if isinstance(names, str) and count == 1 else _as_tuple(names, "target_names", '("x\'", "y\'")')
    for j, name in enumerate(given):
        if not isinstance(name, str):
            raise ProblemError(f"target_names[{j}] is {name!r} of type {type(name).__name__}: expected a str.")
    check_names("target_names", given, count, "targets")
    return given


def check_names(argument: str, names: Sequence[str], count: int, counted: str) -> None:
    """Refuse a wrong number of names, empty names and names used twice."""
    if len(names) != count:
        raise ProblemError(f"{argument} has {len(names)} entries for {count} {counted}: give one name for each.")
    seen: dict[str, int] = {}
    for j, name in enumerate(names):
        if not name.strip():
            raise ProblemError(f"{argument}[{j}] is {name!r}: a name must not be empty.")
        if name in seen:
            both = f"{argument}[{seen[name]}] and {argument}[{j}] are both {name!r}"
            raise ProblemError(f"{both}: names must be distinct, rename or drop one of the columns.")
        seen[name] = j


def find_target(target: int | str, names: Sequence[str]) -> int:
    """Return the index of `target`: an index, a target name, or a bare state name (``x`` for ``x'``)."""
    if isinstance(target, int | np.integer) and not isinstance(target, bool):
        if 0 <= target < len(names):
            return int(target)
        raise ProblemError(f"target {target} is out of range: the targets are 0 to {len(names) - 1} ({listed(names)}).")
    if not isinstance(target, str):
        raise ProblemError(f"target is {target!r} of type {type(target).__name__}: expected an index or a name.")
    if target in names:
        return names.index(target)
    matches = [name for name in names if name in {target + suffix for suffix in (*_SUFFIXES, f"[k+1] - {target}[k]")}]
    if len(matches) == 1:
        return names.index(matches[0])
    if matches:
        raise ProblemError(f"target {target!r} is ambiguous: it may mean {listed(matches)}. Give the full name.")
    raise ProblemError(f"there is no target {target!r}. {nearest(target, names)}")


def _as_tuple(names: Iterable[T], argument: str, example: str) -> tuple[T, ...]:
    # A single string is iterable too, and would silently name the columns by its letters.
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ProblemError(f"{argument} is {names!r}: expected a sequence of names such as {example}.")
    return tuple(names)

"""Terms and targets: what the columns of a problem are called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from exactsindy.errors import ProblemError


class TermLike(Protocol):
    """What a problem asks of a candidate term: a name. Terms of a library know more."""

    @property
    def name(self) -> str:
        """The name shown in equations, distinct within a library."""


@dataclass(frozen=True)
class NamedTerm:
    """A candidate term known by its name only.

    Examples
    --------
    >>> NamedTerm("x y").name
    'x y'
    """

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
            raise ProblemError(
                f"names[{j}] is {name!r} of type {type(name).__name__}: expected a str or a term with a "
                "`name` that is a str."
            )
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
            raise ProblemError(
                f"{argument}[{seen[name]}] and {argument}[{j}] are both {name!r}: names must be distinct, "
                "rename or drop one of the columns."
            )
        seen[name] = j


def _as_tuple(names: Iterable[T], argument: str, example: str) -> tuple[T, ...]:
    # A single string is iterable too, and would silently name the columns by its letters.
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ProblemError(f"{argument} is {names!r}: expected a sequence of names such as {example}.")
    return tuple(names)

"""Claims about several equations under conditions on coefficients, as they stand in the footer (FORMAT.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from exactsindy_check.fields import MOST_COLUMNS, bound, columns, finite, typed

Supports = tuple[tuple[int, ...], ...]  # one for each equation of the claim
_MOST_ROWS = 10_000


@dataclass(frozen=True)
class Presence:
    """The sum of ``coefficient * [term present]`` is at most ``limit``; terms are (place of the equation, column)."""

    coefficients: tuple[tuple[tuple[int, int], int], ...]
    limit: int


@dataclass(frozen=True)
class Row:
    """The sum of ``coefficient * x`` is at most ``limit``, or equal to it."""

    coefficients: tuple[tuple[tuple[int, int], Fraction], ...]
    limit: Fraction
    equal: bool


@dataclass(frozen=True)
class Member:
    """A joint support with the rows of which its best point is the best one, and its value."""

    supports: Supports
    active: tuple[int, ...]
    objective: float


@dataclass(frozen=True)
class Rivals:
    """The claim that these are all joint supports of as many terms as the claimed one, up to a limit (Lemma 15).

    ``parts`` of other joint supports are smaller ones that are as good.
    """

    limit: float
    members: tuple[Member, ...]
    parts: Mapping[Supports, Member]


@dataclass(frozen=True)
class Conditions:
    """The claim about some equations under conditions; lists have an entry for each of ``equations``.

    ``supports`` is None if the claim is that nothing satisfies the conditions. ``active`` are the rows of which the
    claimed point is the best one, ``multipliers`` those of other joint supports, by row.
    """

    equations: tuple[int, ...]
    k: int
    caps: tuple[int, ...]
    weights: tuple[float, ...]
    sections: tuple[tuple[int, ...], ...]
    presence: tuple[Presence, ...]
    rows: tuple[Row, ...]
    supports: Supports | None
    active: tuple[int, ...]
    objective: float
    lower_bound: float
    multipliers: Mapping[Supports, Mapping[int, Fraction]]
    exactly: bool  # each equation has as many terms as its cap
    rivals: Rivals | None


def read_conditions(entry: Any) -> Conditions:
    """Return one entry of the footer's list."""
    claim = typed(entry["claim"], dict)
    supports = claim["supports"]
    members = [(_supports(m["supports"]), _multipliers(m["multipliers"])) for m in typed(entry["members"], list)]
    conditions = Conditions(
        equations=columns(entry["equations"]),
        k=typed(entry["k"], int),
        caps=tuple(typed(cap, int) for cap in typed(entry["caps"], list)),
        weights=tuple(finite(weight) for weight in typed(entry["weights"], list)),
        sections=tuple(tuple(typed(n, int) for n in typed(own, list)) for own in typed(entry["sections"], list)),
        presence=tuple(_presence(row) for row in typed(entry["presence"], list)),
        rows=tuple(_row(row) for row in typed(entry["rows"], list)),
        supports=None if supports is None else _supports(supports),
        active=() if supports is None else columns(claim["active"]),
        objective=0.0 if supports is None else finite(claim["objective"]),
        lower_bound=bound(claim["lower_bound"]),
        multipliers=dict(members),
        exactly=typed(entry["exactly"], bool),
        rivals=None if entry["rivals"] is None else _rivals(entry["rivals"]),
    )
    if list(conditions.equations) != entry["equations"]:
        raise ValueError("equations that are not in increasing order")
    if not 0 <= conditions.k < MOST_COLUMNS or any(not 0 <= cap < MOST_COLUMNS for cap in conditions.caps):
        raise ValueError("a number of terms out of range")
    if any(weight <= 0 for weight in conditions.weights):
        raise ValueError("a weight <= 0")
    if max(len(conditions.presence), len(conditions.rows)) > _MOST_ROWS or len(members) > len(conditions.multipliers):
        raise ValueError("too many rows, or a member that is there twice")
    named = [[term for term, _ in row.coefficients] for row in conditions.presence]
    named += [[term for term, _ in row.coefficients] for row in conditions.rows]
    if any(len(set(own)) != len(own) for own in named):
        raise ValueError("a row that names a term twice")
    lengths = [conditions.caps, conditions.weights, *(s for s in conditions.multipliers), supports]
    if conditions.rivals is not None:
        known = [*conditions.rivals.members, *conditions.rivals.parts.values()]
        lengths += [*(member.supports for member in known), *conditions.rivals.parts]
    if any(numbers is not None and len(numbers) != len(conditions.equations) for numbers in lengths):
        raise ValueError("lists that do not fit the equations")
    return conditions


def _rivals(entry: Any) -> Rivals:
    members = tuple(_member(member) for member in typed(entry["members"], list))
    parts = {_supports(one["supports"]): _member(one["part"]) for one in typed(entry["parts"], list)}
    if len({member.supports for member in members}) != len(members) or len(parts) != len(entry["parts"]):
        raise ValueError("a joint support that is there twice")
    return Rivals(finite(entry["limit"]), members, parts)


def _member(entry: Any) -> Member:
    return Member(_supports(entry["supports"]), columns(entry["active"]), finite(entry["objective"]))


def _supports(values: Any) -> Supports:
    return tuple(columns(support) for support in typed(values, list))


def _term(e: Any, j: Any) -> tuple[int, int]:
    term = typed(e, int), typed(j, int)
    if min(term) < 0:
        raise ValueError("a negative number of a term")
    return term


def _presence(row: Any) -> Presence:
    coefficients = tuple((_term(e, j), typed(c, int)) for e, j, c in typed(row["coefficients"], list))
    return Presence(coefficients, typed(row["limit"], int))


def _row(row: Any) -> Row:
    coefficients = tuple((_term(e, j), Fraction(finite(c))) for e, j, c in typed(row["coefficients"], list))
    return Row(coefficients, Fraction(finite(row["limit"])), typed(row["equal"], bool))


def _multipliers(values: Any) -> dict[int, Fraction]:
    return {typed(row, int): Fraction(finite(value)) for row, value in typed(values, list)}

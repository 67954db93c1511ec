"""What a claim is about, in words: without this a true claim about few supports could pass for one about all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from exactsindy_check.conditions import Conditions
from exactsindy_check.proof_file import Budget, Section

Names = Sequence[str]
_USUAL_LIMIT = 2.0**27
_INDEPENDENT = "supports whose terms depend on each other are left out"
_MOST = 20  # conditions that are shown


def of_section(section: Section, names: Names) -> str:
    """Return what is asked of the supports and coefficients of a section; empty if nothing is."""
    parts = [f"with {names[j]}" for j in section.required] + [f"without {names[j]}" for j in section.forbidden]
    parts += [f"{_sum(row, lambda j: f'[{names[j]}]')} <= {limit}" for row, limit in section.rows]
    left_out = [_INDEPENDENT] if section.independent else []
    return _together([*_few(parts), *_sizes(section), *left_out])


def of_budget(budget: Budget, sections: Sequence[Section], names: Sequence[Names]) -> str:
    """Return what is asked of a shared budget beside its number of terms."""
    caps = [] if min(budget.caps) >= budget.k else [f"at most {', '.join(map(str, budget.caps))} terms each"]
    own = [
        f"{section.target}: {text}" for section in sections if (text := of_section(section, names[section.equation]))
    ]
    return _together([*caps, *_weights(budget.weights), *own])


def of_conditions(claim: Conditions, sections: Sequence[Section], targets: Names, names: Sequence[Names]) -> str:
    """Return the conditions of a claim, and what coefficients it is about; lists have an entry for each equation."""

    def term(place: tuple[int, int]) -> str:
        e, j = place
        return f"{targets[e]}:{names[e][j]}" if e < len(names) and j < len(names[e]) else f"{e}:{j}"

    rows = [
        f"{_sum(row.coefficients, term)} {'==' if row.equal else '<='} {_number(row.limit)}" for row in claim.rows
    ] + [f"{_sum(row.coefficients, lambda place: f'[{term(place)}]')} <= {row.limit}" for row in claim.presence]
    caps = f"{'exactly' if claim.exactly else 'at most'} {', '.join(map(str, claim.caps))} terms each"
    own = [f"{section.target}: {text}" for section in sections if (text := _together(_sizes(section)))]
    left_out = dict.fromkeys(section.target for section in sections if section.independent)
    own += [f"{target}: {_INDEPENDENT}" for target in left_out]
    return _together([caps, *_few(rows), *_weights(claim.weights), *own])


def _sizes(section: Section) -> list[str]:
    """Return what is said of the sizes of coefficients: their weights in the objective, and their limit."""
    parts, ridge = [], sorted(section.ridge)
    if ridge and ridge[-1] > 0:
        weights = repr(ridge[0]) if ridge[0] == ridge[-1] else f"from {ridge[0]!r} to {ridge[-1]!r}"
        parts.append(f"ridge weights {weights}")
    if section.coefficient_limit != _USUAL_LIMIT:
        parts.append(f"only coefficients up to {section.coefficient_limit!r} |y| / |a_j|")
    return parts


def _weights(weights: Sequence[float]) -> list[str]:
    return [] if set(weights) == {1.0} else [f"equations weighted by {', '.join(map(repr, weights))}"]


def _sum(row: Sequence[tuple[Any, int | Fraction]], name: Callable[[Any], str]) -> str:
    return " + ".join(f"{_number(c)} {name(place)}" for place, c in row) or "0"


def _number(value: int | Fraction) -> str:
    return str(value) if isinstance(value, int) else repr(float(value))


def _few(parts: list[str]) -> list[str]:
    return parts if len(parts) <= _MOST else [*parts[:_MOST], f"{len(parts) - _MOST} more conditions in the file"]


def _together(parts: Sequence[str]) -> str:
    return "; ".join(parts)


def one_line(text: str) -> str:
    """Return a text with control characters spelled out: a name from the file must not start a line of its own."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)

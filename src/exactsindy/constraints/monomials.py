"""Terms as monomials: what the physics constraints need to know of a library."""

from __future__ import annotations

import re
from typing import TypeAlias

from exactsindy.library import Term as LibraryTerm
from exactsindy.library import Variable
from exactsindy.problem import TermLike

#: Powers of variables, sorted by name: ``(("x", 2), ("y", 1))``; the constant is ``()``.
Monomial: TypeAlias = tuple[tuple[str, int], ...]
#: A sum of numbers times monomials.
Polynomial: TypeAlias = dict[Monomial, float]

_FACTOR = re.compile(r"([A-Za-z_]\w*)(?:\^([1-9]\d*))?")


def monomial(term: TermLike) -> Monomial | None:
    """Return the powers of a term, or None if it is no monomial in plain variables.

    Examples
    --------
    >>> from exactsindy.problem import NamedTerm
    >>> monomial(NamedTerm("x^2 y")), monomial(NamedTerm("1")), monomial(NamedTerm("sin(x)"))
    ((('x', 2), ('y', 1)), (), None)
    """
    if isinstance(term, LibraryTerm):
        plain = all(isinstance(a, Variable) and not a.axes and n > 0 for a, n in term.factors)
        return of({a.name: n for a, n in term.factors if isinstance(a, Variable)}) if plain else None
    return parse_monomial(term.name)


def parse_monomial(name: str) -> Monomial | None:
    """Return the powers of ``x^2 y``; None if the text is no product of powers."""
    if name.strip() == "1":
        return ()
    powers: dict[str, int] = {}
    for part in name.split():
        match = _FACTOR.fullmatch(part)
        if match is None:
            return None
        powers[match[1]] = powers.get(match[1], 0) + int(match[2] or 1)
    return of(powers) if powers else None


def of(powers: dict[str, int]) -> Monomial:
    """Return the monomial with these powers."""
    return tuple(sorted((name, n) for name, n in powers.items() if n))


def times(a: Monomial, b: Monomial) -> Monomial:
    """Return the product."""
    powers = dict(a)
    for name, n in b:
        powers[name] = powers.get(name, 0) + n
    return of(powers)


def derivative(a: Monomial, name: str) -> tuple[float, Monomial]:
    """Return factor and monomial of d a / d name; the factor is 0 if `a` does not depend on it."""
    powers = dict(a)
    n = powers.pop(name, 0)
    return float(n), of({**powers, name: n - 1})


def product(a: Polynomial, b: Polynomial) -> Polynomial:
    """Return the product of two polynomials."""
    result: Polynomial = {}
    for left, c in a.items():
        for right, d in b.items():
            key = times(left, right)
            result[key] = result.get(key, 0.0) + c * d
    return result


def parents(own: Monomial | None) -> list[Monomial]:
    """Return the products with one factor less, the constant left out; none if the term is no monomial."""
    return sorted({derivative(own, name)[1] for name, _ in own} - {()}) if own else []

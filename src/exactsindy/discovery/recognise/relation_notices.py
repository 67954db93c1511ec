"""Say which columns are bound to each other, and which equations could as well be written with other terms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from exactsindy.data import Notice
from exactsindy.discovery.recognise.relations import Relation
from exactsindy.library import Term
from exactsindy.model import with_error

# A constant within so many of its errors is zero: 1 is then no term of the relation.
_ZERO = 3.0
# What differs by less than this is rounding.
_ROUNDING = 1e-9


def relation_notices(
    relations: Sequence[Relation],
    controls: Sequence[str],
    supports: Mapping[str, Sequence[Term]],
    library: Sequence[Term],
) -> Iterator[Notice]:
    """Yield a notice on each copy and each input that follows the states, and one on all conserved quantities.

    Its equation names those, separated by commas, that could as well be written with other terms; None if there are
    none.
    """
    conserved = []
    for relation in relations:
        driven = sorted(relation.states & set(controls))
        if driven and relation.states - set(controls):
            text = f"The input {driven[0]} follows the states: {relation_text(relation)}"
            cure = "its effect cannot be told from theirs. Measure with an input that does not depend on them"
            yield _notice("feedback", f"{text}, so {cure}.", [relation], supports, library)
        elif is_copy(relation):
            text = f"{copy_text(relation)}. Leave one of them out, e.g. with states=."
            yield _notice("copy", text, [relation], supports, library)
        else:
            conserved.append(relation)
    if conserved:
        text = ", and ".join(relation_text(relation) for relation in conserved)
        linear = all(term.degree == 1 for relation in conserved for term in relation.terms)
        cure = f"Add a trajectory on which it has another value{', or leave out a state' if linear else ''}"
        text = f"{text}: on these data terms of the library repeat each other. {cure}."
        yield _notice("conserved", text, conserved, supports, library)


def _notice(
    kind: str,
    text: str,
    relations: Sequence[Relation],
    supports: Mapping[str, Sequence[Term]],
    library: Sequence[Term],
) -> Notice:
    known = set(library)
    twins = [
        equation
        for equation, support in supports.items()
        if any(is_exchangeable(relation, set(support), known) for relation in relations)
    ]
    if twins:
        text = f"{text} {', '.join(twins)} could be written with other terms."
    return Notice(kind, text, ", ".join(twins) or None)


def is_exchangeable(relation: Relation, support: set[Term], library: set[Term]) -> bool:
    """Return True if a relation turns an equation into another one that has as many terms or fewer.

    A relation, times any term, is a sum of terms that is zero on the data. An equation that holds all of them but one
    at most can exchange one of its terms for that one.
    """
    zero = [*relation.terms, *([Term()] if abs(relation.value) > _ZERO * relation.error else [])]
    for factor in library:
        bound = [term * factor for term in zero]
        missing = sum(term not in support for term in bound)
        if missing <= 1 and missing < len(bound) and all(term in library for term in bound):
            return True
    return False


def is_copy(relation: Relation) -> bool:
    """Return True if one column is another one, scaled and shifted, to rounding."""
    linear = all(term.degree == 1 for term in relation.terms)
    return relation.exact and linear and len(relation.terms) == 2 and relation.coefficients[1] < 0


def copy_text(relation: Relation) -> str:
    """Return what a copy is: "x2 is a copy of x", with factor and shift if there are any."""
    first, second = (term.name for term in relation.terms)
    factor = -1.0 / relation.coefficients[1]
    shift = -factor * relation.value
    is_shifted = abs(relation.value) > max(_ZERO * relation.error, _ROUNDING)
    scaled = first if abs(factor - 1) < _ROUNDING else f"{factor:.4g} {first}"
    if scaled == first and not is_shifted:
        return f"{second} is a copy of {first}"
    shifted = f" {'+' if shift > 0 else '-'} {abs(shift):.4g}" if is_shifted else ""
    return f"{second} is a copy of {first} ({second} = {scaled}{shifted})"


def relation_text(relation: Relation) -> str:
    """Return what is constant, and its value: "S + P is constant (4.001 ± 0.007)"."""
    text = ""
    for term, coefficient in zip(relation.terms, relation.coefficients, strict=True):
        size = "" if abs(abs(coefficient) - 1) < _ROUNDING else f"{abs(coefficient):.3g} "
        text += f"{' - ' if coefficient < 0 else ' + '}{size}{term.name}"
    text = text.removeprefix(" + ")
    numbers = None if relation.exact else with_error(relation.value, relation.error)
    value = f"{relation.value:.5g}" if numbers is None else f"{numbers[0]} ± {numbers[1]}"
    return f"{text} is constant ({value})"

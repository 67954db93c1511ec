"""Whether the inner constants that a run folder names are those of the terms of its regression."""

from __future__ import annotations

from collections.abc import Iterator

from exactsindy.discovery.result import Discovery
from exactsindy.errors import ExactSindyError
from exactsindy.library import OpenTerm, Term, Variable, Variables, parse_term
from exactsindy.model import InnerConstant


def constant_differences(discovery: Discovery) -> Iterator[str]:
    """Yield the inner constants that do not stand, with their values, in a term that the regression has.

    Terms that this version cannot read from their names (functions given as Python code) are passed over.
    """
    together: dict[tuple[str, str, str], list[InnerConstant]] = {}
    for constant in discovery.constants:
        together.setdefault((constant.equation, constant.term, constant.within), []).append(constant)
    variables = Variables.of(discovery.data)
    for (equation, text, within), constants in together.items():
        place = f"results.json, constants: {', '.join(constant.text() for constant in constants)}"
        if equation not in discovery.problem.target_names:
            yield f"{place}: there is no equation {equation!r}."
            continue
        if len({constant.name for constant in constants}) < len(constants):
            yield f"{place}: a constant is there twice."
            continue
        block, _ = discovery.problem.locate(equation)
        terms = {name: _read(name, variables) for name in block.names}
        if None in terms.values() and within not in terms:
            continue
        if not _stands(text, within, {constant.name: constant.value for constant in constants}, terms, variables):
            yield f"{place}: no term of {equation} has these values{f' and the name {within!r}' if within else ''}."


def _read(name: str, variables: Variables) -> Term | None:
    try:
        return parse_term(name, variables)
    except ExactSindyError:
        return None


def _stands(
    text: str, within: str, values: dict[str, float], terms: dict[str, Term | None], variables: Variables
) -> bool:
    """Return whether one of the terms is this one with numbers for its constants, but for plain factors."""
    try:
        open_term = OpenTerm.parse(text, variables, tuple(values))
        found = open_term.at(values)
    except ExactSindyError:
        return False
    if set(open_term.constants) != set(values) or (within and within not in terms):
        return False
    among = [terms[within]] if within else list(terms.values())
    inner = {atom: power for atom, power in found.factors if not isinstance(atom, Variable)}
    return any(
        term is not None and bool(inner) and all(term.powers.get(atom) == power for atom, power in inner.items())
        for term in among
    )

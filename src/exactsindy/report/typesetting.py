"""Terms to typeset: those of a regression that was read from a file are known by their names alone."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from exactsindy.errors import ProblemError
from exactsindy.library import Term, Variables, mathml_term, parse_term
from exactsindy.plots import DiscoveryLike


def typesetter(result: DiscoveryLike) -> Callable[[str], str]:
    """Return what gives MathML for the name of a candidate term: typeset where its structure can be told."""
    variables = Variables.of(result.data)
    named = [*result.problem.terms, *(term for row in result.model.rows for term in row.terms)]
    known = {term.name: term for term in named if isinstance(term, Term)}

    def typeset(name: str) -> str:
        if name not in known:
            with contextlib.suppress(ProblemError):
                known[name] = parse_term(name, variables)
        # A name that is read as another one, such as a column called "a b", is shown as it is.
        term = known.get(name)
        return mathml_term(name if term is None or term.name != name else term)

    return typeset

"""Names of variables at steps of a map: ``x[k]`` is x now, ``x[k-2]`` is x two samples earlier."""

from __future__ import annotations

import re
from collections.abc import Container

from exactsindy.library.term import Atom, Custom, Expression, Function, Group, Term, Variable

_STEP = re.compile(r"(.*\S)\[k(?:([-+]\d+))?\]", re.DOTALL)


def split_step(name: str) -> tuple[str, int] | None:
    """Return the variable and the step of a name such as ``x[k-2]``; None if it has none.

    Examples
    --------
    >>> split_step("x[k-2]"), split_step("x[k]"), split_step("x")
    (('x', -2), ('x', 0), None)
    """
    match = _STEP.fullmatch(name)
    return None if match is None else (match.group(1), int(match.group(2) or 0))


def at_step(term: Term, constants: Container[str] = ()) -> Term:
    """Return a term with its variables written as those of the present step: ``x^2`` as ``x[k]^2``; not constants.

    Examples
    --------
    >>> at_step(Term.variable("x") * Term.variable("x[k-1]")).name
    'x[k] x[k-1]'
    """
    return Term(tuple((_atom(atom, constants), power) for atom, power in term.factors))


def _atom(atom: Atom, constants: Container[str]) -> Atom:
    if isinstance(atom, Variable):
        fixed = atom.name == "k" or atom.name in constants or split_step(atom.name)
        return atom if fixed else Variable(f"{atom.name}[k]", atom.axes)
    if isinstance(atom, Function):
        return Function(atom.kind, _expression(atom.argument, constants))
    if isinstance(atom, Group):
        return Group(_expression(atom.content, constants))
    assert isinstance(atom, Custom)
    return atom


def _expression(content: Expression, constants: Container[str]) -> Expression:
    return Expression(tuple((value, at_step(term, constants)) for value, term in content.parts))

"""Translate constraints into the rules of one problem."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from exactsindy._files import reason, shown
from exactsindy.constraints.parse import parse_constraint
from exactsindy.constraints.rules import Rules, RulesBuilder
from exactsindy.errors import ConstraintError, ExactSindyError
from exactsindy.problem import Problem

_HERE = __name__.rpartition(".")[0] + "."  # where the records are defined
# What the latest constraints of each problem came down to, with what they were: calls in a loop translate them once.
_compiled: WeakKeyDictionary[Problem, tuple[tuple[Any, ...], Hashable, dict[str, Any]]] = WeakKeyDictionary()


def constraint_list(constraints: Any) -> tuple[Any, ...]:
    """Return the constraints as a tuple; a single one is most likely a forgotten pair of brackets."""
    if not isinstance(constraints, str) and isinstance(constraints, Iterable):
        try:
            return tuple(constraints)
        except TypeError:  # an array of one number says that it can be iterated over
            pass
    raise ConstraintError(f'constraints={constraints!r}: expected a list of constraints, e.g. ["x\': y >= 0"].')


def compile_rules(problem: Problem, constraints: Sequence[Any]) -> Rules:
    """Translate constraints (records, or texts for `parse_constraint`) into rows over coefficients and presences.

    A name that is unknown, a wrong shape or value, and two constraints that contradict each other raise a
    ConstraintError.

    Examples
    --------
    >>> from exactsindy.constraints import Forbid
    >>> problem = Problem.from_arrays([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0], names=["x", "y"], target_names=["x'"])
    >>> compile_rules(problem, [Forbid("x'", "y"), "x': x <= 1"]).upper
    array([ 1., inf])
    """
    sources, asked = constraint_list(constraints), _contents(constraints)
    known = _compiled.get(problem)
    if known and asked == known[1] and len(sources) == len(known[0]) and all(map(operator.is_, sources, known[0])):
        return Rules(problem, sources, **known[2])
    found = _translated(problem, sources)
    if asked is not None:
        _compiled[problem] = sources, asked, found
    return Rules(problem, sources, **found)


def _contents(constraints: Sequence[Any]) -> Hashable:
    """Return what may change inside constraints that stay the same objects; None if that cannot be seen."""
    try:
        return tuple(map(_content, constraints))
    except TypeError:
        return None


def _content(constraint: Any) -> Hashable:
    """Return the mappings of a record of this room, or nothing where it is constant; else a TypeError."""
    if isinstance(constraint, str):
        return ()
    if not type(constraint).__module__.startswith(_HERE):
        raise TypeError("constraints of other programs may change in ways that cannot be seen")
    values = vars(constraint).values()
    contents = tuple(tuple(value.items()) if isinstance(value, Mapping) else value for value in values)
    hash(contents)  # (a TypeError, where one of them can be changed)
    return contents


def _translated(problem: Problem, sources: Sequence[Any]) -> dict[str, Any]:
    builder = RulesBuilder(problem)
    for i, constraint in enumerate(sources):
        builder.source = i
        record = parse_constraint(constraint) if isinstance(constraint, str) else constraint
        if not hasattr(record, "write"):
            raise ConstraintError(
                f"constraints[{i}] is of type {type(constraint).__name__}: expected a constraint such as "
                'Equal(...), Bounds(...), Forbid(...), or text such as "x\': x + y == 0".'
            )
        try:
            record.write(builder)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            if isinstance(error, ExactSindyError):
                raise
            text = f"constraints[{i}], {shown(str(record))}: one of its values is of the wrong kind"
            raise ConstraintError(f"{text} ({reason(error)}).") from error
    _refuse_contradictions(builder)
    for bounds in (builder.lower, builder.upper, builder.least, builder.most, builder.bound_source, builder.exists):
        bounds.flags.writeable = False
    return {
        "equalities": tuple(builder.equalities),
        "inequalities": tuple(builder.inequalities),
        "presence": tuple(builder.presence),
        "lower": builder.lower,
        "upper": builder.upper,
        "least": builder.least,
        "most": builder.most,
        "bound_source": builder.bound_source,
        "t_level": builder.t_level,
        "convex": tuple(builder.convex),
        "exists": builder.exists,
    }


def _refuse_contradictions(rules: RulesBuilder) -> None:
    """Refuse a term that is both required and forbidden; what takes more thought the search finds."""
    required = {row.variables[0]: row.source for row in rules.presence if len(row.variables) == 1 and row.rhs < 0}
    for row in rules.presence:
        v = row.variables[0]
        if len(row.variables) == 1 and row.rhs == 0 and v in required:
            raise ConstraintError(
                f"constraints[{required[v]}] makes the term {rules.label(v)} present, constraints[{row.source}] "
                "forbids it: drop one of them."
            )
    for v in map(int, (rules.least > rules.most).nonzero()[0]):
        raise ConstraintError(
            f"constraints[{rules.bound_source[v]}]: a present {rules.label(v)} would need a size of at least "
            f"{rules.least[v]:g} and at most {rules.most[v]:g}; use Forbid to exclude it."
        )

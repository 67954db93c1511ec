"""Terms to and from sympy, by walking the tree; nothing is evaluated from text."""

from __future__ import annotations

from functools import reduce
from typing import Any

from exactsindy._optional import optional
from exactsindy.errors import ProblemError
from exactsindy.library.calculus import FUNCTIONS
from exactsindy.library.names import derivative, resolve, unknown
from exactsindy.library.parser import call, grouped, power
from exactsindy.library.printing import derivative_name
from exactsindy.library.term import Atom, Expression, Function, Group, Term, Variable
from exactsindy.library.variables import Variables

# Only where sympy's spelling differs from ours.
_TO_SYMPY = {"arctan": "atan", "abs": "Abs"}
_FROM_SYMPY = {theirs: ours for ours, theirs in _TO_SYMPY.items()}


def to_sympy(term: Term) -> Any:
    """Return the term as a sympy expression; variables and derivatives are symbols under their own names.

    Examples
    --------
    >>> to_sympy(Term.variable("x") * Term.variable("u", ("x",)))
    u_x*x
    """
    sympy = optional("sympy", "sympy", "The sympy form of a term")
    parts = [_atom(atom, sympy) ** power for atom, power in term.factors]
    return sympy.Mul(*parts)


def expression_to_sympy(expression: Expression) -> Any:
    """Return a sum of terms as a sympy expression."""
    sympy = optional("sympy", "sympy", "The sympy form of an expression")
    return sympy.Add(*(sympy.nsimplify(c, rational=True) * to_sympy(term) for c, term in expression.parts))


def _atom(atom: Atom, sympy: Any) -> Any:
    if isinstance(atom, Variable):
        return sympy.Symbol(derivative_name(atom.name, atom.axes))
    if isinstance(atom, Function):
        return getattr(sympy, _TO_SYMPY.get(atom.kind, atom.kind))(expression_to_sympy(atom.argument))
    if isinstance(atom, Group):
        return expression_to_sympy(atom.content)
    name = atom.name.partition("(")[0]
    return sympy.Function(name)(*(_atom(variable, sympy) for variable in atom.inputs))


def is_sympy(value: object) -> bool:
    """Say whether a value is a sympy expression, without importing sympy."""
    return any(cls.__module__.startswith("sympy.") for cls in type(value).__mro__)


def from_sympy(expression: Any, variables: Variables) -> Expression:
    """Return a sympy expression as ours; symbols are looked up among the variables and derivatives."""
    if expression.is_Number or expression.is_NumberSymbol:
        return Expression.constant(float(expression))
    if expression.is_Add:
        return reduce(lambda a, b: a + b, (from_sympy(part, variables) for part in expression.args))
    if expression.is_Mul:
        return reduce(lambda a, b: a * b, (grouped(from_sympy(part, variables)) for part in expression.args))
    if expression.is_Pow:
        return _power(expression, variables)
    if expression.is_Symbol:
        return _named(expression.name, variables)
    kind = expression.func.__name__
    if kind == "Derivative":
        field = expression.args[0]
        axes = [str(axis) for axis, count in expression.variable_count for _ in range(int(count))]
        name = str(field.func) if field.args else str(field)
        if name not in variables.states or not set(axes) <= set(variables.axes):
            raise unknown(str(expression), variables, "Terms")
        return Expression(((1.0, Term(((derivative(name, axes, variables), 1),))),))
    ours = _FROM_SYMPY.get(kind, kind)
    if ours in FUNCTIONS and len(expression.args) == 1:
        return call(ours, from_sympy(expression.args[0], variables))
    return _named(kind, variables)


def _power(expression: Any, variables: Variables) -> Expression:
    base, exponent = from_sympy(expression.base, variables), expression.exp
    if exponent.is_Integer:
        return power(base, int(exponent))
    if (2 * exponent).is_Integer:
        return power(call("sqrt", base), int(2 * exponent))
    raise ProblemError(
        f"Terms: the power in {expression} is neither a whole number nor a half; pass a Python function instead."
    )


def _named(name: str, variables: Variables) -> Expression:
    found = resolve(name, variables)
    if found is None:
        raise unknown(name, variables, "Terms")
    return Expression(((1.0, Term(((found, 1),))),))

"""Terms from sympy expressions, by walking their tree; nothing is evaluated from text."""

from __future__ import annotations

from functools import reduce
from typing import Any

from exactsindy.errors import ProblemError
from exactsindy.library.calculus import FUNCTIONS
from exactsindy.library.parser import call, grouped, power
from exactsindy.library.term import SYMPY_NAMES, Expression, Term
from exactsindy.library.variables import Variables

_FROM_SYMPY = {theirs: ours for ours, theirs in SYMPY_NAMES.items()}


def is_sympy(value: object) -> bool:
    """Return True if a value is a sympy expression, without importing sympy."""
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
            raise variables.unknown(str(expression), "Terms")
        return Expression(((1.0, Term(((variables.derivative(name, axes), 1),))),))
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
    variable = variables.resolve(name)
    if variable is None:
        raise variables.unknown(name, "Terms")
    return Expression(((1.0, Term(((variable, 1),))),))

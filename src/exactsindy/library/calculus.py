"""Derivatives of terms, and the functions they know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from exactsindy._types import Array
from exactsindy.library.term import Atom, Custom, Expression, Function, Group, Term, Variable


@dataclass(frozen=True)
class Known:
    """A function with its values and its derivative, written as an expression in the argument."""

    value: np.ufunc
    derivative: Callable[[Expression], Expression]


def _call(kind: str, argument: Expression, power: int = 1) -> Expression:
    return Expression(((1.0, Term(((Function(kind, argument), power),))),))


def _one_plus(part: Expression) -> Expression:
    return Expression.constant(1.0) + part


def _scaled(factor: float, part: Expression) -> Expression:
    return Expression.constant(factor) * part


def reciprocal(argument: Expression) -> Expression:
    """Return 1 / argument, without parentheses where the argument is one term."""
    if len(argument.parts) == 1:
        coefficient, term = argument.parts[0]
        return Expression(((1.0 / coefficient, Term(tuple((a, -n) for a, n in term.factors))),))
    return Expression(((1.0, Term(((Group(argument), -1),))),))


FUNCTIONS: dict[str, Known] = {
    "sin": Known(np.sin, lambda a: _call("cos", a)),
    "cos": Known(np.cos, lambda a: _scaled(-1.0, _call("sin", a))),
    "tan": Known(np.tan, lambda a: _one_plus(_call("tan", a, 2))),
    "exp": Known(np.exp, lambda a: _call("exp", a)),
    "log": Known(np.log, reciprocal),
    "sqrt": Known(np.sqrt, lambda a: _scaled(0.5, _call("sqrt", a, -1))),
    "sinh": Known(np.sinh, lambda a: _call("cosh", a)),
    "cosh": Known(np.cosh, lambda a: _call("sinh", a)),
    "tanh": Known(np.tanh, lambda a: _one_plus(_scaled(-1.0, _call("tanh", a, 2)))),
    "arctan": Known(np.arctan, lambda a: reciprocal(_one_plus(a * a))),
    "abs": Known(np.abs, lambda a: _call("sign", a)),
    "sign": Known(np.sign, lambda a: Expression()),
}


@lru_cache(maxsize=65536)
def differentiate(term: Term, variable: Variable) -> Expression:
    """Return the partial derivative of a term; derivatives such as u_x count as variables of their own."""
    total = Expression()
    for atom, power in term.factors:
        inner = _atom_derivative(atom, variable)
        if inner.parts:
            outer = Term.of({**term.powers, atom: power - 1})
            total = total + Expression(((float(power), outer),)) * inner
    return total


def differentiate_expression(expression: Expression, variable: Variable) -> Expression:
    """Return the partial derivative of a sum of terms."""
    total = Expression()
    for coefficient, term in expression.parts:
        total = total + _scaled(coefficient, differentiate(term, variable))
    return total


def _atom_derivative(atom: Atom, variable: Variable) -> Expression:
    if isinstance(atom, Variable):
        return Expression.constant(1.0) if atom == variable else Expression()
    if variable not in atom.variables():
        return Expression()
    if isinstance(atom, Group):
        return differentiate_expression(atom.content, variable)
    if isinstance(atom, Function):
        return FUNCTIONS[atom.kind].derivative(atom.argument) * differentiate_expression(atom.argument, variable)
    index = atom.inputs.index(variable)
    function = atom.derivatives[index] if atom.derivatives else CentralDifference(atom.function, index)
    slope = Custom(f"d{atom.name}/d{variable.name}", function, atom.inputs)
    return Expression(((1.0, Term(((slope, 1),))),))


@dataclass(frozen=True)
class CentralDifference:
    """The slope of a user's function in its argument ``index``, by central differences.

    The step eps^(1/3) times the size of the argument balances truncation and rounding: about ten digits.
    """

    function: Callable[..., Any]
    index: int

    def __call__(self, *arguments: Array) -> Array:
        """Return the slope at each sample."""
        centre = arguments[self.index]
        step = np.cbrt(np.finfo(float).eps) * np.maximum(np.abs(centre), 1.0)
        above, below = centre + step, centre - step
        ends = [self.function(*arguments[: self.index], end, *arguments[self.index + 1 :]) for end in (above, below)]
        return np.asarray((ends[0] - ends[1]) / (above - below), dtype=float)


@dataclass(frozen=True)
class TotalDerivative:
    """A term that equals ``factor`` times the derivative of ``flux`` along ``axes``: u u_x = 1/2 (u^2)_x."""

    factor: float
    flux: Term
    axes: tuple[str, ...]


def total_derivative(term: Term) -> TotalDerivative | None:
    """Return the term as a derivative of a derivative-free term, or ``None`` where it is not one.

    A weak form can then move every derivative onto its test function.
    """
    if not term.derivatives:
        return TotalDerivative(1.0, term, ())
    if len(term.derivatives) > 1:
        return None
    inner = term.derivatives[0]
    field = Variable(inner.name)
    if not term.coefficient.factors:
        return TotalDerivative(1.0, Term(((field, 1),)), inner.axes)
    power = term.coefficient.powers.get(field, 0)
    if len(inner.axes) == 1 and power > 0 and len(term.coefficient.factors) == 1:
        return TotalDerivative(1.0 / (power + 1), Term(((field, power + 1),)), inner.axes)
    return None

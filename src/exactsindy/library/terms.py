"""Chosen terms: from names, Python functions or sympy expressions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import Any

from exactsindy.errors import ProblemError
from exactsindy.library.calculus import FUNCTIONS
from exactsindy.library.families import ConstantRange, Family, RangeLike, constant_ranges, family
from exactsindy.library.library import Library
from exactsindy.library.open_terms import OpenTerm
from exactsindy.library.parser import call, grouped, parse_term, power
from exactsindy.library.term import SYMPY_NAMES, Custom, Expression, Term
from exactsindy.library.variables import Variables

_FROM_SYMPY = {theirs: ours for ours, theirs in SYMPY_NAMES.items()}


class Terms(Library):
    """A library of chosen terms.

    Parameters
    ----------
    items
        Each a name (``"x^2 y"``, ``"sin(2 x)"``, ``"u u_x"``, ``"x/(1 + y)"``), a Python function whose
        arguments are named after the variables, a pair (name, function), a sympy expression, or a `Term`. A
        mapping from name to function is accepted too. Names are parsed, never executed.
    most
        How many terms of one family, that is of one written term with inner constants, an equation may have.
    constants
        Inner constants that stand in written terms, each with its range ``(low, high)``, a list of values, or ``...``
        for a range chosen from the scale of the data. `discover` finds their values; see `ConstantRange`.

    Examples
    --------
    >>> import numpy as np
    >>> library = Terms(["x^2 y", "sin(2 x)", ("x^1.5", lambda x: np.abs(x) ** 1.5)])
    >>> library.bind(("x", "y")).names
    ('x^2 y', 'sin(2 x)', 'x^1.5')
    >>> Terms(["sin(w*x)", "exp(-r*x)"], w=(0.5, 6), r=(0.3, 4)).is_open
    True
    """

    items: tuple[object, ...]
    most: int
    constants: tuple[tuple[str, ConstantRange], ...]

    def __init__(
        self, items: Iterable[object] | Mapping[str, Callable[..., Any]], *, most: int = 1, **constants: RangeLike
    ) -> None:
        if isinstance(items, str):
            raise ProblemError(f"Terms({items!r}): expected a list, e.g. Terms([{items!r}]).")
        if not isinstance(items, Iterable):
            raise ProblemError(f"Terms({items!r}): expected a list of terms, e.g. Terms(['x^2', 'sin(x)']).")
        self.items = tuple(items.items()) if isinstance(items, Mapping) else tuple(items)
        if not self.items:
            raise ProblemError("Terms([]): expected at least one term.")
        if not isinstance(most, int) or isinstance(most, bool) or most < 1:
            raise ProblemError(f"Terms(most={most!r}): expected a whole number >= 1.")
        self.most = most
        self.constants = constant_ranges(constants)
        for name, _ in self.constants:
            if not any(isinstance(item, str) and _stands_in(name, item) for item in self.items):
                raise ProblemError(
                    f"Terms({name}=...): no term has the constant {name!r}; write it into one, e.g. 'sin({name}*x)'."
                )

    @property
    def is_open(self) -> bool:
        """Return True if terms have inner constants."""
        return bool(self.constants)

    def candidates(self, variables: Variables) -> Iterable[Term]:
        """Yield the terms without inner constants, in the order of ``items``."""
        for item in self.items:
            if not self._is_family(item):
                yield _term(item, variables)

    def families(self, variables: Variables) -> Iterable[Family]:
        """Yield the terms with inner constants, in the order of ``items``."""
        names = [name for name, _ in self.constants]
        for item in self.items:
            if self._is_family(item):
                yield family(OpenTerm.parse(str(item), variables, names), self.constants, self.most)

    def _is_family(self, item: object) -> bool:
        return isinstance(item, str) and any(_stands_in(name, item) for name, _ in self.constants)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Terms) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[object, ...]:
        return (self.items, self.most, self.constants)

    def __repr__(self) -> str:
        most = f", most={self.most}" if self.most > 1 else ""
        ranges = "".join(f", {name}={where}" for name, where in self.constants)
        return f"Terms({list(self.items)!r}{most}{ranges})"


def _stands_in(constant: str, text: str) -> bool:
    """Return True if a written term has a constant: its name as a whole word."""
    return re.search(rf"(?<![^\W\d]){re.escape(constant)}(?!\w)", text) is not None


def _term(item: Any, variables: Variables) -> Term:
    if isinstance(item, str):
        return parse_term(item, variables)
    if isinstance(item, Term):
        return _checked(item, variables)
    if any(cls.__module__.startswith("sympy.") for cls in type(item).__mro__):  # sympy need not be installed
        return _from_sympy(item, variables)
    if isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], str) and callable(item[1]):
        return _custom(item[1], item[0], variables)
    if callable(item):
        return _custom(item, None, variables)
    expected = "expected a name, a function, a pair (name, function), a sympy expression or a Term."
    raise ProblemError(f"Terms([...]): got {item!r} of type {type(item).__name__}; {expected}")


def _checked(term: Term, variables: Variables) -> Term:
    for variable in term.variables():
        if variable.name not in variables.known or not set(variable.axes) <= set(variables.axes):
            known = f"which the data do not have; known are {', '.join(variables.known)}."
            raise ProblemError(f"Terms([...]): the term {term.name!r} uses {variable.name!r}, {known}")
    return term


def _from_sympy(item: Any, variables: Variables) -> Term:
    expression: Expression = grouped(_read_sympy(item, variables))
    coefficient, term = expression.parts[0] if expression.parts else (0.0, Term())
    if coefficient != 1.0:
        raise ProblemError(f"Terms([{item}]): a term carries no number in front, the fit finds it; pass {term.name!r}.")
    return term


def _custom(function: Callable[..., Any], name: str | None, variables: Variables) -> Term:
    label = name if name is not None else getattr(function, "__name__", type(function).__name__)
    if name is None and label == "<lambda>":
        raise ProblemError("Terms([...]): a lambda has no name; pass a pair ('name', lambda x: ...).")
    try:
        arguments = tuple(inspect.signature(function).parameters)
    except ValueError:
        arguments = ()
    inputs = tuple(variables.resolve(argument) for argument in arguments)
    bad = [a for a, v in zip(arguments, inputs, strict=True) if v is None]
    if bad or not inputs:
        seen = f"has the argument {bad[0]!r}" if bad else "has no named arguments"
        cure = f"name its arguments after the variables it uses ({', '.join(variables.known)})."
        raise ProblemError(f"Terms([...]): the function {label!r} {seen}; {cure}")
    used = tuple(variable for variable in inputs if variable is not None)
    written = name if name is not None else f"{label}({', '.join(arguments)})"
    return Term(((Custom(written, function, used), 1),))


def _read_sympy(expression: Any, variables: Variables) -> Expression:
    """Return a sympy expression as an `Expression`; symbols are looked up among the variables and derivatives."""
    if expression.is_Number or expression.is_NumberSymbol:
        return Expression.constant(float(expression))
    if expression.is_Add:
        return reduce(lambda a, b: a + b, (_read_sympy(part, variables) for part in expression.args))
    if expression.is_Mul:
        return reduce(lambda a, b: a * b, (grouped(_read_sympy(part, variables)) for part in expression.args))
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
        return call(ours, _read_sympy(expression.args[0], variables))
    return _named(kind, variables)


def _power(expression: Any, variables: Variables) -> Expression:
    base, exponent = _read_sympy(expression.base, variables), expression.exp
    if exponent.is_Integer:
        return power(base, int(exponent))
    if (2 * exponent).is_Integer:
        return power(call("sqrt", base), int(2 * exponent))
    reason = "neither a whole number nor a half; pass a Python function instead"
    raise ProblemError(f"Terms: the power in {expression} is {reason}.")


def _named(name: str, variables: Variables) -> Expression:
    variable = variables.resolve(name)
    if variable is None:
        raise variables.unknown(name, "Terms")
    return Expression(((1.0, Term(((variable, 1),))),))

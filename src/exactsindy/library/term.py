"""Candidate terms: products of integer powers of variables, derivatives and functions.

Everything a library can hold is a `Term`, a monomial in atoms. An atom is a `Variable` (a state, a control,
the time, a coordinate, or a spatial derivative of a state), a `Function` of an `Expression`, a `Group` (a
sum in parentheses) or a `Custom` callable. So products merge by adding powers, equal terms are equal
objects whatever the order they were written in, and one small program evaluates a whole library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from exactsindy._optional import optional
from exactsindy.library.printing import LATEX, NAME, PYTHON, Style, number, step_parts

# Functions that sympy spells differently.
SYMPY_NAMES = {"arctan": "atan", "abs": "Abs"}


@dataclass(frozen=True)
class Variable:
    """A measured quantity or its spatial derivative: ``Variable("u", ("x", "x"))`` is u_xx."""

    name: str
    axes: tuple[str, ...] = ()

    def text(self, style: Style) -> str:
        """Write the variable."""
        return style.leaf(self.name, self.axes)

    def to_sympy(self) -> Any:
        """Return a symbol of the same name; for a step of a map the function of k, x(k - 1) for ``x[k-1]``."""
        sympy, (stem, step) = _sympy(), step_parts(self.name)
        if step:
            return sympy.Function(stem)(sympy.Symbol("k") + int(step[1:] or 0))
        return sympy.Symbol(self.text(NAME))

    def variables(self) -> tuple[Variable, ...]:
        """Return the variables it is made of: itself."""
        return (self,)


@dataclass(frozen=True)
class Function:
    """A known function (a key of `calculus.FUNCTIONS`) of an expression, e.g. sin(2 x)."""

    kind: str
    argument: Expression

    def text(self, style: Style) -> str:
        """Write the call."""
        return style.call(self.kind, self.argument.text(style))

    def to_sympy(self) -> Any:
        """Return sympy's function of the argument."""
        return getattr(_sympy(), SYMPY_NAMES.get(self.kind, self.kind))(self.argument.to_sympy())

    def variables(self) -> tuple[Variable, ...]:
        """Return the variables of the argument."""
        return self.argument.variables()


@dataclass(frozen=True)
class Group:
    """A sum in parentheses, so that it can be a factor: (1 + y)."""

    content: Expression

    def text(self, style: Style) -> str:
        """Write the sum in parentheses."""
        return f"({self.content.text(style)})"

    def to_sympy(self) -> Any:
        """Return the sum."""
        return self.content.to_sympy()

    def variables(self) -> tuple[Variable, ...]:
        """Return the variables of the sum."""
        return self.content.variables()


@dataclass(frozen=True)
class Custom:
    """A user's function of some variables; ``name`` is how it is written, e.g. ``f(x, y)``.

    ``derivatives`` holds one function per input, or is ``None``: then central differences are used.
    """

    name: str
    function: Callable[..., Any]
    inputs: tuple[Variable, ...]
    derivatives: tuple[Callable[..., Any], ...] | None = None

    def text(self, style: Style) -> str:
        """Write the name."""
        return rf"\mathrm{{{self.name}}}" if style is LATEX else self.name

    def to_sympy(self) -> Any:
        """Return an undefined function of the inputs."""
        return _sympy().Function(self.name.partition("(")[0])(*(variable.to_sympy() for variable in self.inputs))

    def variables(self) -> tuple[Variable, ...]:
        """Return the inputs."""
        return self.inputs


Atom = Variable | Function | Group | Custom


@dataclass(frozen=True, eq=False, repr=False)
class Term:
    """A product of integer powers of atoms; without factors it is the constant 1.

    Two terms are equal when they have the same factors in any order; ``factors`` keeps the order in which the
    name is written.

    Examples
    --------
    >>> x, y = Term.variable("x"), Term.variable("y")
    >>> (x * y * x).name, x * y == y * x
    ('x^2 y', True)
    """

    factors: tuple[tuple[Atom, int], ...] = ()

    @classmethod
    def variable(cls, name: str, axes: tuple[str, ...] = ()) -> Term:
        """Return the term that is one variable, or one spatial derivative."""
        return cls(((Variable(name, axes), 1),))

    @classmethod
    def of(cls, powers: Mapping[Atom, int]) -> Term:
        """Return the product of ``atom ** power``, leaving out powers of 0."""
        return cls(tuple((atom, power) for atom, power in powers.items() if power))

    @cached_property
    def powers(self) -> dict[Atom, int]:
        """Return the factors as a mapping from atom to power."""
        return dict(self.factors)

    @cached_property
    def name(self) -> str:
        """Return how the term is written: ``x^2 y``, ``u u_x``, ``sin(2 x)``."""
        return self.text(NAME)

    @property
    def latex(self) -> str:
        """Return the term in LaTeX."""
        return self.text(LATEX)

    @property
    def python(self) -> str:
        """Return the term as Python, with ``np`` for NumPy and the variables under their own names."""
        return self.text(PYTHON)

    @cached_property
    def derivatives(self) -> tuple[Variable, ...]:
        """Return the spatial derivatives among the factors, each as often as its power says."""
        return tuple(atom for atom, n in self.factors for _ in range(n) if isinstance(atom, Variable) and atom.axes)

    @cached_property
    def coefficient(self) -> Term:
        """Return the term without its derivative factors: u^2 for u^2 u_x."""
        return Term(tuple((a, n) for a, n in self.factors if not (isinstance(a, Variable) and a.axes)))

    @property
    def polynomial(self) -> bool:
        """Return True if every factor is a variable to a positive power."""
        return all(isinstance(atom, Variable) and power > 0 for atom, power in self.factors)

    @property
    def degree(self) -> int:
        """Return the sum of the powers."""
        return sum(power for _, power in self.factors)

    @cached_property
    def complexity(self) -> int:
        """Return how much is written: factors, also below a fraction line; functions, and what stands inside them.

        Examples
        --------
        >>> x, half = Term.variable("x"), Expression.of([(0.5, Term.variable("x"))])
        >>> (x * x).complexity, Term(((Function("sin", half), 1),)).complexity
        (2, 3)
        """
        return sum(abs(power) * _complexity(atom) for atom, power in self.factors)

    def variables(self) -> tuple[Variable, ...]:
        """Return all variables and derivatives the term depends on, in order of appearance."""
        return tuple(dict.fromkeys(v for atom, _ in self.factors for v in atom.variables()))

    def text(self, style: Style) -> str:
        """Write the term in a `printing.Style`."""
        above = [_power(atom.text(style), n, style) for atom, n in self.factors if n > 0]
        below = [_power(atom.text(style), -n, style) for atom, n in self.factors if n < 0]
        product = style.times.join(above) or "1"
        if not below:
            return product
        bottom = style.times.join(below)
        if style.wraps_fraction:
            return style.fraction(product, f"({bottom})" if len(below) > 1 else bottom)
        return style.fraction(self._alone(1, style) or product, self._alone(-1, style) or bottom)

    def _alone(self, power: int, style: Style) -> str:
        """Return the sum that is the only factor above (1) or below (-1) a fraction line without its parentheses."""
        side = [(atom, n) for atom, n in self.factors if (n > 0) == (power > 0)]
        atom, n = side[0] if len(side) == 1 else (None, 0)
        return atom.content.text(style) if isinstance(atom, Group) and n == power else ""

    def to_sympy(self) -> Any:
        """Return the term as a sympy expression (needs sympy): variables and derivatives are symbols of their name."""
        return _sympy().Mul(*(atom.to_sympy() ** power for atom, power in self.factors))

    def __mul__(self, other: Term) -> Term:
        powers = dict(self.factors)
        for atom, power in other.factors:
            powers[atom] = powers.get(atom, 0) + power
        return Term.of(powers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Term) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"Term({self.name!r})"

    @cached_property
    def _key(self) -> frozenset[tuple[Atom, int]]:
        return frozenset(self.factors)


def _complexity(atom: Atom) -> int:
    """Return how much is written in an atom: 1 for a name, and 1 for a function beside its argument."""
    if isinstance(atom, Function):
        return 1 + atom.argument.complexity
    return atom.content.complexity if isinstance(atom, Group) else 1


def _sympy() -> Any:
    return optional("sympy", "sympy", "The sympy form of a term")


def _power(base: str, n: int, style: Style) -> str:
    return base if n == 1 else style.power(base, n)


@dataclass(frozen=True, eq=False, repr=False)
class Expression:
    """A sum of numbers times terms; what arguments of functions and derivatives of terms are."""

    parts: tuple[tuple[float, Term], ...] = ()

    @classmethod
    def of(cls, parts: Iterable[tuple[float, Term]]) -> Expression:
        """Return the sum with equal terms collected and zeros left out."""
        total: dict[Term, float] = {}
        for coefficient, term in parts:
            total[term] = total.get(term, 0.0) + float(coefficient)
        return cls(tuple((coefficient, term) for term, coefficient in total.items() if coefficient))

    @classmethod
    def constant(cls, value: float) -> Expression:
        """Return a number as an expression."""
        return cls.of([(value, Term())])

    @property
    def complexity(self) -> int:
        """Return how much is written: the terms, and the numbers other than 1 in front of them."""
        return sum(term.complexity + (abs(coefficient) != 1.0) for coefficient, term in self.parts)

    def variables(self) -> tuple[Variable, ...]:
        """Return all variables and derivatives it depends on."""
        return tuple(dict.fromkeys(v for _, term in self.parts for v in term.variables()))

    def text(self, style: Style) -> str:
        """Write the sum in a `printing.Style`."""
        text = ""
        for coefficient, term in self.parts:
            size = number(abs(coefficient))
            body = size if not term.factors else term.text(style)
            if term.factors and abs(coefficient) != 1:
                body = f"{size}{style.times}{body}"
            text += (" - " if coefficient < 0 else " + ") + body
        return ("-" + text[3:] if text.startswith(" - ") else text[3:]) or "0"

    def to_sympy(self) -> Any:
        """Return the sum as a sympy expression."""
        sympy = _sympy()
        return sympy.Add(*((int(v) if v.is_integer() else v) * term.to_sympy() for v, term in self.parts))

    def __add__(self, other: Expression) -> Expression:
        return Expression.of((*self.parts, *other.parts))

    def __mul__(self, other: Expression) -> Expression:
        return Expression.of((a * b, s * t) for a, s in self.parts for b, t in other.parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"Expression({self.text(NAME)!r})"

    @cached_property
    def _key(self) -> frozenset[tuple[float, Term]]:
        return frozenset(self.parts)

"""Terms with inner constants that the data decide, such as sin(w x) and x/(K + x)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite, prod

from exactsindy.errors import ProblemError
from exactsindy.library.calculus import differentiate
from exactsindy.library.parser import parse_term
from exactsindy.library.term import Atom, Custom, Expression, Function, Group, Term, Variable
from exactsindy.library.variables import Variables


@dataclass(frozen=True)
class OpenTerm:
    """A term in which constants stand as variables: with numbers for them it is an ordinary `Term`.

    Parameters
    ----------
    template
        The term; each constant is a `Variable` of that name.
    constants
        The names of the constants, each inside a function or a sum: a plain factor would be a coefficient. None for a
        term that has no inner constant.

    Examples
    --------
    >>> term = OpenTerm.parse("x/(K + x)", Variables(("x",)), ["K"])
    >>> term.at({"K": 0.5}).name, term.slope("K", {"K": 0.5})
    ('x/(0.5 + x)', Expression('-x/(0.5 + x)^2'))
    """

    template: Term
    constants: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        factors = [atom.name for atom, _ in self.template.factors if isinstance(atom, Variable)]
        outer = next((name for name in self.constants if name in factors), None)
        if outer is not None:
            raise ProblemError(
                f"Term {self.name!r}: the constant {outer!r} is a factor of the whole term, which the fit finds; leave "
                "it out."
            )
        used = {variable.name for variable in self.template.variables()}
        missing = next((name for name in self.constants if name not in used), None)
        if missing is not None:
            raise ProblemError(f"Term {self.name!r}: the constant {missing!r} does not stand in it.")

    @classmethod
    def parse(cls, text: str, variables: Variables, constants: Iterable[str]) -> OpenTerm:
        """Return the term written as ``text``, with those of the constants that stand in it."""
        names = tuple(constants)
        known = next((name for name in names if name in variables.known), None)
        if known is not None:
            raise ProblemError(
                f"Term {text!r}: {known!r} is a constant and a variable; give the constant another name."
            )
        wider = Variables(variables.states, (*variables.controls, *names), variables.time, variables.axes)
        template = parse_term(text, wider)
        used = {variable.name for variable in template.variables()}
        return cls(template, tuple(name for name in names if name in used))

    @property
    def name(self) -> str:
        """Return how the term is written, its constants by name."""
        return self.template.name

    def at(self, values: Mapping[str, float]) -> Term:
        """Return the term with numbers for its constants."""
        coefficient, term = substitute(self.template, {name: values[name] for name in self.constants})
        if coefficient != 1.0:
            raise ProblemError(f"Term {self.name!r}: with {dict(values)} a number comes out in front of it.")
        return term

    def partly(self, values: Mapping[str, float]) -> OpenTerm:
        """Return the term with numbers for some of its constants."""
        held = {name: values[name] for name in self.constants if name in values}
        coefficient, template = substitute(self.template, held)
        if coefficient != 1.0:
            raise ProblemError(f"Term {self.name!r}: with {held} a number comes out in front of it.")
        return OpenTerm(template, tuple(name for name in self.constants if name not in held))

    def renamed(self, names: Mapping[str, str]) -> OpenTerm:
        """Return the term with other names for some of its constants.

        Examples
        --------
        >>> OpenTerm.parse("sin(w*x)", Variables(("x",)), ["w"]).renamed({"w": "w2"}).name
        'sin(w2 x)'
        """
        template = _renamed(self.template, names)
        return OpenTerm(template, tuple(names.get(name, name) for name in self.constants))

    def slope(self, name: str, values: Mapping[str, float]) -> Expression:
        """Return its derivative by one constant, with numbers for all constants."""
        by_name = {constant: values[constant] for constant in self.constants}
        return substitute_all(differentiate(self.template, Variable(name)), by_name)


def substitute(term: Term, values: Mapping[str, float]) -> tuple[float, Term]:
    """Return a term with numbers in place of some variables, as a number times a term."""
    parts = [_power(_substituted(atom, values), n) for atom, n in term.factors]
    coefficient = prod(factor for factor, _ in parts)
    if not isfinite(coefficient):
        raise ProblemError(f"Term {term.name!r}: with {dict(values)} a factor of it is not a finite number.")
    return coefficient, prod((part for _, part in parts), start=Term())


def substitute_all(expression: Expression, values: Mapping[str, float]) -> Expression:
    """Return a sum of terms with numbers in place of some variables."""
    parts = [(coefficient, substitute(term, values)) for coefficient, term in expression.parts]
    return Expression.of((coefficient * factor, term) for coefficient, (factor, term) in parts)


def _renamed(term: Term, names: Mapping[str, str]) -> Term:
    return Term(tuple((_renamed_atom(atom, names), n) for atom, n in term.factors))


def _renamed_atom(atom: Atom, names: Mapping[str, str]) -> Atom:
    if isinstance(atom, Variable):
        return Variable(names.get(atom.name, atom.name), atom.axes)
    if isinstance(atom, Function):
        return Function(atom.kind, _renamed_sum(atom.argument, names))
    return Group(_renamed_sum(atom.content, names)) if isinstance(atom, Group) else atom


def _renamed_sum(expression: Expression, names: Mapping[str, str]) -> Expression:
    return Expression(tuple((coefficient, _renamed(term, names)) for coefficient, term in expression.parts))


def _substituted(atom: Atom, values: Mapping[str, float]) -> tuple[float, Term]:
    """Return an atom with numbers in place of variables, as a number times a term."""
    if isinstance(atom, Variable):
        return (float(values[atom.name]), Term()) if atom.name in values else (1.0, Term(((atom, 1),)))
    if isinstance(atom, Custom) or not any(variable.name in values for variable in atom.variables()):
        return 1.0, Term(((atom, 1),))
    if isinstance(atom, Function):
        return 1.0, Term(((Function(atom.kind, substitute_all(atom.argument, values)), 1),))
    content = substitute_all(atom.content, values)
    if len(content.parts) == 1:
        return content.parts[0]
    return (1.0, Term(((Group(content), 1),))) if content.parts else (0.0, Term())


def _power(part: tuple[float, Term], n: int) -> tuple[float, Term]:
    coefficient, term = part
    if coefficient == 0.0 and n < 0:
        return float("inf"), term
    return coefficient**n, Term(tuple((atom, m * n) for atom, m in term.factors))

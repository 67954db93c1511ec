"""A small parser for written terms: ``x^2 y``, ``sin(2 x)``, ``x/(1 + y)``. Nothing is executed."""

from __future__ import annotations

import math
import re

from exactsindy._files import shown
from exactsindy.errors import ProblemError, nearest
from exactsindy.library.calculus import FUNCTIONS, reciprocal
from exactsindy.library.term import Expression, Function, Group, Term
from exactsindy.library.variables import Variables

_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WORD = re.compile(r"[^\W\d]\w*")
# A sample of a map: now, or some steps before.
_LAG = re.compile(r"\[k(?:-(\d{1,4}))?\]")
# What a term may need at most; text beyond that comes from a mistake or a forged file.
_MOST_LETTERS = 10_000
_MOST_NESTED = 50
_MOST_POWER = 1000


def parse_term(text: str, variables: Variables) -> Term:
    """Return the term written as ``text``: products by spaces or ``*``, powers by ``^`` or ``**``."""
    expression = parse(text, variables)
    if len(expression.parts) != 1:
        return variables.ordered(_as_term(expression))
    coefficient, term = expression.parts[0]
    if coefficient != 1.0:
        raise ProblemError(
            f"Term {shown(text)!r}: a term carries no number in front, the fit finds it; write {shown(term.name)!r}."
        )
    return variables.ordered(term)


def parse(text: str, variables: Variables) -> Expression:
    """Return the expression written as ``text``."""
    if not isinstance(text, str):
        raise ProblemError(f"Term {text!r}: got {type(text).__name__}; expected text such as 'x^2 y'.")
    if len(text) > _MOST_LETTERS:
        raise ProblemError(f"Term {shown(text)!r}: it has {len(text)} letters; at most {_MOST_LETTERS} are read.")
    reader = _Reader(text, variables)
    expression = reader.sum()
    if reader.peek():
        raise reader.error(f"{reader.peek()!r} was not expected")
    if not expression.parts:
        raise ProblemError(f"Term {shown(text)!r}: this is zero for all data.")
    return expression


def power(base: Expression, n: int) -> Expression:
    """Return ``base ** n``; a sum stays in parentheses."""
    if n == 0:
        return Expression.constant(1.0)
    if len(base.parts) == 1:
        coefficient, term = base.parts[0]
        return Expression(((coefficient**n, Term(tuple((a, m * n) for a, m in term.factors))),))
    return Expression(((1.0, Term(((Group(base), n),))),))


def call(kind: str, argument: Expression) -> Expression:
    """Return a known function of an expression."""
    return Expression(((1.0, Term(((Function(kind, _unwrapped(argument)), 1),))),))


def grouped(expression: Expression) -> Expression:
    """Return the expression as one factor: sums in parentheses."""
    return expression if len(expression.parts) == 1 else Expression(((1.0, _as_term(expression)),))


def _as_term(expression: Expression) -> Term:
    return Term(((Group(expression), 1),))


def _unwrapped(expression: Expression) -> Expression:
    if len(expression.parts) == 1:
        coefficient, term = expression.parts[0]
        if coefficient == 1.0 and len(term.factors) == 1 and term.factors[0][1] == 1:
            atom = term.factors[0][0]
            if isinstance(atom, Group):
                return atom.content
    return expression


class _Reader:
    """Recursive descent over the text; ``at`` is the position of the next character."""

    def __init__(self, text: str, variables: Variables) -> None:
        self.text, self.variables, self.at, self.depth = text, variables, 0, 0
        # Longest first, so that "x10" is not read as "x1" followed by 0.
        self.names = sorted(variables.known, key=len, reverse=True)

    def peek(self) -> str:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.text[self.at : self.at + 1]

    def take(self, symbol: str) -> bool:
        self.peek()
        if self.text.startswith(symbol, self.at):
            self.at += len(symbol)
            return True
        return False

    def error(self, problem: str) -> ProblemError:
        advice = "Write terms like 'x^2 y', 'sin(2 x)', 'x/(1 + y)'."
        return ProblemError(f"Term {shown(self.text)!r}: {problem} at position {self.at}. {advice}")

    def sum(self) -> Expression:
        self.depth += 1
        if self.depth > _MOST_NESTED:
            raise self.error(f"parentheses are nested more than {_MOST_NESTED} deep")
        sign = -1.0 if self.take("-") else 1.0
        parts = list((Expression.constant(sign) * self.product()).parts)
        while self.peek() in {"+", "-"}:
            sign = 1.0 if self.peek() == "+" else -1.0
            self.at += 1
            parts += (Expression.constant(sign) * self.product()).parts
        self.depth -= 1
        total = Expression.of(parts)
        if not all(math.isfinite(coefficient) for coefficient, _ in total.parts):
            raise self.error("a number is above the largest double, 1.8e308,")
        return total

    def product(self) -> Expression:
        result = self.factor()
        while True:
            symbol = self.peek()
            if symbol == "/":
                self.at += 1
                try:
                    result = result * reciprocal(_unwrapped(self.factor()))
                except ZeroDivisionError:
                    raise self.error("a number is divided by zero") from None
            elif symbol == "*":
                self.at += 1
                result = result * self.factor()
            elif symbol and symbol not in "+-)^,":
                result = result * self.factor()
            else:
                return result

    def factor(self) -> Expression:
        base = self.atom()
        if not (self.take("**") or self.take("^")):
            return base
        closing = self.take("(")
        negative = self.take("-")
        self.peek()
        match = _NUMBER.match(self.text, self.at)
        if match is None or not match.group().isdigit():
            raise self.error("a power must be a whole number (use sqrt(...) for roots), which is missing")
        self.at = match.end()
        if len(match.group()) > 9 or int(match.group()) > _MOST_POWER:
            raise self.error(f"a power is above {_MOST_POWER}")
        if closing and not self.take(")"):
            raise self.error("a closing parenthesis is missing")
        try:
            return power(_unwrapped(base), -int(match.group()) if negative else int(match.group()))
        except ArithmeticError:
            raise self.error("a power of a number is not a finite number") from None

    def atom(self) -> Expression:
        symbol = self.peek()
        if symbol == "(":
            self.at += 1
            inside = grouped(self.sum())
            if not self.take(")"):
                raise self.error("a closing parenthesis is missing")
            return inside
        number = _NUMBER.match(self.text, self.at)
        if number:
            self.at = number.end()
            return Expression.constant(float(number.group()))
        return self.name()

    def lag(self) -> str:
        """Return the lag written behind a variable, ``[k-2]``; nothing for ``[k]``, which is the variable itself."""
        lag = _LAG.match(self.text, self.at)
        if lag is None:
            return ""
        self.at = lag.end()
        return f"[k-{int(lag.group(1))}]" if lag.group(1) and int(lag.group(1)) else ""

    def name(self) -> Expression:
        for name in self.names:
            end = self.at + len(name)
            if self.text.startswith(name, self.at) and not re.match(r"\w", self.text[end : end + 1]):
                if self.text[end : end + 1] == "'":
                    rate = f"{name}'"
                    raise ProblemError(
                        f"Term {shown(self.text)!r}: {rate} is no variable here. It is one where the equation for "
                        f"{rate}' is sought: pass targets=\"{rate}'\"."
                    )
                self.at = end
                return Expression(((1.0, Term.variable(name + self.lag())),))
        word = _WORD.match(self.text, self.at)
        if word is None:
            raise self.error("a variable, number or function is missing")
        variable = self.variables.resolve(word.group())
        if variable is not None:
            self.at = word.end()
            return Expression(((1.0, Term(((variable, 1),))),))
        if not self.text[word.end() :].lstrip().startswith("("):
            raise self.variables.unknown(word.group(), f"Term {shown(self.text)!r}")
        if word.group() not in FUNCTIONS:
            cure = f"{nearest(word.group(), FUNCTIONS)} Pass a Python function in Terms([...]) for any other."
            raise ProblemError(f"Term {shown(self.text)!r}: unknown function {shown(word.group())!r}. {cure}")
        self.at = word.end()
        self.take("(")
        argument = self.sum()
        if not self.take(")"):
            raise self.error("a closing parenthesis is missing")
        return call(word.group(), argument)

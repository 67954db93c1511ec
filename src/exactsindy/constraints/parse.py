"""Constraints from text, for the command line: names, numbers, + - *, ==, <=, >=. Nothing is evaluated."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from exactsindy._files import shown
from exactsindy.constraints.coefficients import Linear, Relation
from exactsindy.constraints.monomials import Polynomial, parse_monomial
from exactsindy.errors import ConstraintError

_NUMBER = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_SIGNS = re.compile(r"^[+\-\s]+")
# A number up to the sign of its exponent.
_EXPONENT = re.compile(r"(?<![\w.])(?:\d++(?:\.\d*+)?|\.\d++)[eE](?=[+-])")
_RELATIONS: tuple[Relation, ...] = ("==", "<=", ">=")


def parse_constraint(text: str) -> Linear:
    """Read a linear constraint: ``equation: sum of numbers times terms``, a relation, and a number or such a sum.

    Such as ``"y': x z == -1"``, ``"x': x + 2*x y <= 0"`` or ``"x': y == y': x"``; ``=`` is read as ``==``. The equation
    holds until the next ``equation:``. A number alone is a number; the constant term is written ``1*1``. Names are
    looked up when the constraint meets a problem; text that cannot be read raises a ConstraintError.

    Examples
    --------
    >>> parse_constraint("y': x z == -1")
    Linear(coefs={("y'", 'x z'): 1.0}, relation='==', rhs=-1.0)
    """
    if not isinstance(text, str):
        raise ConstraintError(f'parse_constraint: got {type(text).__name__}: expected text such as "x\': x + y == 0".')
    plain = not any(relation in text for relation in _RELATIONS)
    whole = text.replace("=", "==") if plain else text  # (people write x = 1, too)
    found = [relation for relation in _RELATIONS if relation in whole]
    if len(found) != 1 or whole.count(found[0]) != 1:
        raise _unreadable(text, "expected one of ==, <=, >= once")
    left, right = whole.split(found[0])
    coefs: dict[tuple[str, str], float] = {}
    constant, equation = _side(text, left, 1.0, "", coefs)
    more, _ = _side(text, right, -1.0, equation, coefs)
    if not coefs:
        raise _unreadable(text, "it names no coefficient")
    return Linear(coefs, found[0], -(constant + more) + 0.0)


def parse_polynomial(given: str | Mapping[str, float], speaker: str) -> Polynomial:
    """Return ``"x^2 + 2*y^2"`` or ``{"x^2": 1, "y^2": 2}`` as a polynomial."""
    if isinstance(given, str):
        parts = [_factor(sign, piece) for sign, piece in _pieces(given)]
    elif isinstance(given, Mapping):
        parts = [(float(value), str(name)) for name, value in given.items()]
    else:
        raise ConstraintError(f"{speaker}: quantity={given!r}: expected text such as 'x^2 + y^2' or a mapping.")
    result: Polynomial = {}
    for value, name in parts:
        powers = parse_monomial(name) if name else ()
        if powers is None:
            raise ConstraintError(f"{speaker}: {name!r} in the quantity is no product of powers such as 'x^2 y'.")
        result[powers] = result.get(powers, 0.0) + value
    return result


def _side(text: str, side: str, sign: float, equation: str, coefs: dict[tuple[str, str], float]) -> tuple[float, str]:
    """Add the coefficients of one side; return its number and the equation named last."""
    constant = 0.0
    pieces = list(_pieces(side))
    if not pieces:
        raise _unreadable(text, "one side is empty")
    for own, piece in pieces:
        name, colon, body = piece.rpartition(":")
        if colon:
            equation = name.strip()
        value, term = _factor(own, body.strip())
        if not term:
            constant += sign * value
        elif not equation:
            name = shown(term, 60)
            raise _unreadable(text, f'no equation is named before {name!r}, as in "x\': {name} == 0"')
        else:
            coefs[equation, term] = coefs.get((equation, term), 0.0) + sign * value
    return constant, equation


def _pieces(text: str) -> list[tuple[float, str]]:
    """Split a sum at + and - outside parentheses and brackets (and exponents of numbers), in linear time."""
    pieces: list[tuple[float, str]] = []
    exponents = {match.end() for match in _EXPONENT.finditer(text)}
    sign, depth, start, last = 1.0, 0, 0, ""  # last: the last letter of the piece that begins at start
    for i, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if depth < 0:
            break
        # In "x': -y" the sign belongs to what follows the colon.
        if letter in "+-" and not depth and i not in exponents and last != ":":
            if last:
                pieces.append((sign, text[start:i].strip()))
                sign = 1.0
            sign = -sign if letter == "-" else sign
            start, last = i + 1, ""
        elif not letter.isspace():
            last = letter
    if depth:
        raise _unreadable(text, "a parenthesis is missing")
    if start and not last:
        raise _unreadable(text, "nothing follows its last sign")
    return [*pieces, (sign, text[start:].strip())] if last else pieces


def _factor(sign: float, given: str) -> tuple[float, str]:
    """Return number and name of ``2*x y``, ``2 x y``, ``x y`` or ``2`` (then the name is empty)."""
    piece = _SIGNS.sub("", given, count=1)
    sign = -sign if given[: len(given) - len(piece)].count("-") % 2 else sign
    match = _NUMBER.match(piece)
    if match is None:
        if not piece:
            raise _unreadable(given, "nothing follows a sign or a colon")
        return sign, piece
    rest = piece[match.end() :].strip()
    if rest and not rest.startswith("*") and not piece[match.end()].isspace():
        return sign, piece  # a name that starts with a digit, or 1/x
    term = rest.removeprefix("*").strip()
    if rest and not term:
        raise _unreadable(given, "nothing follows its *")
    if math.isinf(float(match[0])):
        raise _unreadable(given, "its number is above the largest double, 1.8e308")
    return sign * float(match[0]), term


def _unreadable(text: str, why: str) -> ConstraintError:
    return ConstraintError(f'cannot read the constraint {shown(text)!r}: {why}. Write it as "x\': x + 2*x y == 0".')

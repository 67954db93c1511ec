"""Linear constraints written as text, read word by word: ``x': x + 2*x y <= 1``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from exactsindy.errors import ConstraintError

_SIGNED = re.compile(r"[+-]")
_START = re.compile(r"\s*(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)(\s*\*\s*|\s+|$)")


def read_text(text: str) -> tuple[list[tuple[str, str, float]], str, float]:
    """Return the parts (equation, term, number), the relation and the right side of a constraint given as text."""
    pieces = re.split(r"(==|<=|>=)", text)
    if len(pieces) != 3:
        raise ConstraintError(f"the constraint {text!r} cannot be read: expected one of ==, <=, >= once.")
    equation, right = "", 0.0
    parts: list[tuple[str, str, float]] = []
    for side, factor in ((pieces[0], 1.0), (pieces[2], -1.0)):
        for sign, body in _summands(side):
            if ":" in body:
                equation, _, body = body.rpartition(":")
                equation = equation.strip()
            number, term = _number(body.strip())
            value = factor * sign * number
            if not term:
                right -= value
            elif not equation:
                raise ConstraintError(f"the constraint {text!r} cannot be read: it names no equation.")
            else:
                parts.append((equation, term, value))
    if not parts:
        raise ConstraintError(f"the constraint {text!r} cannot be read: it names no coefficient.")
    return parts, pieces[1], right + 0.0


def _summands(side: str) -> Iterator[tuple[float, str]]:
    """Yield sign and text of each summand; signs inside parentheses and exponents do not separate."""
    sign, depth, body = 1.0, 0, ""
    for letter in side:
        depth += (letter == "(") - (letter == ")")
        exponent = re.fullmatch(r"(?:.*[^\w.])?(?:\d+\.?\d*|\.\d+)[eE]", body[-40:], re.DOTALL) is not None
        if not _SIGNED.match(letter) or depth > 0 or exponent:
            body += letter
            continue
        if body.strip().endswith(":") or not body.strip():
            sign = -sign if letter == "-" else sign  # the sign of what follows
            continue
        yield sign, body
        sign, body = (-1.0 if letter == "-" else 1.0), ""
    if body.strip():
        yield sign, body


def _number(body: str) -> tuple[float, str]:
    """Return number and name of ``2*x y``, ``2 x y``, ``x y`` or ``2`` (the name is then empty)."""
    match = _START.match(body)
    if match is None:
        return 1.0, body
    return float(match[1]), body[match.end() :].strip()


def split_sum(text: str) -> list[tuple[float, str]]:
    """Return numbers and names of a sum such as ``x^2 + 2*y^2``."""
    found = []
    for sign, body in _summands(text):
        number, name = _number(body.strip())
        found.append((sign * number, name))
    return found

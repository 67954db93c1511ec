"""The library that ``--library``, ``--degree`` and ``--order`` ask for."""

from __future__ import annotations

import re
from typing import Any

from exactsindy.cli.output import fail

#: What ``--library`` takes, for its help.
HELP = "Functions beside monomials: sin,exp,1/x; sin(w) has an inner constant; rational: quotients; polynomial: none."
# Words for the monomials alone, and for quotients.
_POLYNOMIALS, _RATIONAL = ("polynomial", "polynomials"), "rational"
# Degree of monomials unless --degree says another, and of numerators and denominators.
_DEGREE, _RATIONAL_DEGREE = 3, 2


def candidates(data: Any, text: str | None, degree: int | None, order: int) -> Any:
    """Return the library asked for, ``None`` for the default."""
    from exactsindy.data import Field
    from exactsindy.errors import ProblemError
    from exactsindy.library import Derivatives, Functions, Parameters, Polynomials, Rational

    if text is None and degree is None:
        return None
    words = [] if text is None else [word.strip() for word in text.split(",") if word.strip()]
    if isinstance(data, Field):
        if any(word not in _POLYNOMIALS for word in words):
            fail(f"--library {text!r}: fields take monomials and derivatives; expected --degree and --order alone.")
        most = _DEGREE if degree is None else degree
        return Polynomials(most, bias=False) + Polynomials(most) * Derivatives(order)
    kinds: list[str] = []
    constants: dict[str, Any] = {}
    for word in words:
        if word in (*_POLYNOMIALS, _RATIONAL):
            continue
        kind, constant = _function(word)
        kinds.append(kind)
        if constant is not None:
            constants[constant] = ...
    chosen: Any = Polynomials(_DEGREE if degree is None else degree)
    try:
        plain = Functions(kinds, **constants) if kinds else None
    except ProblemError as error:
        fail(f"--library {text!r}: {str(error).partition('): ')[2] or error}")
    closed = plain is None or not plain.is_open
    chosen = chosen if plain is None else chosen + plain
    own: Any = Polynomials(_RATIONAL_DEGREE if degree is None else degree)
    over = own
    if data.parameter_names:
        if not closed:
            fail(f"--library {text!r}: inner constants do not go together with --parameters.")
        chosen, over = chosen * Parameters(1), own * Parameters(1)
    if _RATIONAL in words:
        alone = plain is None and not any(word in _POLYNOMIALS for word in words)
        return Rational(over, own) if alone else chosen + Rational(over, own)
    return chosen


def _function(word: str) -> tuple[str, str | None]:
    """Return a kind of function and the name of its inner constant, from ``sin`` or ``sin(w)``."""
    match = re.fullmatch(r"(\w+)\((\w)\)", word)
    return (match.group(1), match.group(2)) if match else (word, None)

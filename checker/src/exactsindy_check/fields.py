"""Values of the footer of a proof file, each with its kind checked."""

from __future__ import annotations

import math
from typing import Any

MOST_COLUMNS = 100_000


def typed(value: Any, kind: type) -> Any:
    """Return a value of the given kind; refuse others."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"{value!r} where a {kind.__name__} was expected")
    return value


def real(value: Any) -> float:
    """Return a number written as `float.hex` does; infinite is allowed."""
    number = float.fromhex(typed(value, str))
    if math.isnan(number) or number == -math.inf:
        raise ValueError(f"{value} where a number was expected")
    return number


def finite(value: Any) -> float:
    """Return a finite number."""
    number = real(value)
    if math.isinf(number):
        raise ValueError("an infinite number where a finite one was expected")
    return number


def columns(values: Any) -> tuple[int, ...]:
    """Return distinct column numbers, sorted."""
    terms = tuple(typed(value, int) for value in typed(values, list))
    if len(set(terms)) != len(terms) or any(not 0 <= j < MOST_COLUMNS for j in terms):
        raise ValueError(f"{terms} where distinct columns were expected")
    return tuple(sorted(terms))


def bound(value: Any) -> float:
    """Return a lower bound: a number, or minus infinity."""
    return -math.inf if value == "-inf" else real(value)

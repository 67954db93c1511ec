"""Entries of records read from a file: a value of the right type, or a sentence on what is there instead."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from exactsindy._files import shown
from exactsindy.errors import DataError

#: How numbers that JSON does not have are written.
_SPECIAL = ("nan", "inf", "-inf")


def sequence(value: Any, entry: str) -> list[Any]:
    """Return a list.

    Examples
    --------
    >>> sequence(3, "terms")
    Traceback (most recent call last):
    ...
    exactsindy.errors.DataError: the entry 'terms' is not a list
    """
    if not isinstance(value, list):
        raise DataError(f"the entry {entry!r} is not a list")
    return value


def mapping(value: Any, entry: str) -> dict[str, Any]:
    """Return an object with named entries."""
    if not isinstance(value, Mapping):
        raise DataError(f"the entry {entry!r} holds {_short(value)} where named entries belong")
    return dict(value)


def text(value: Any, entry: str, *, least: int = 1) -> str:
    """Return a text, of one letter at least unless told otherwise."""
    if not isinstance(value, str) or len(value) < least:
        raise DataError(f"the entry {entry!r} holds {_short(value)} where a text belongs")
    return value


def texts(value: Any, entry: str) -> tuple[str, ...]:
    """Return several texts."""
    return tuple(text(item, entry) for item in sequence(value, entry))


def flag(value: Any, entry: str) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise DataError(f"the entry {entry!r} holds {_short(value)} where true or false belongs")
    return value


def whole(value: Any, entry: str, *, below: int = 2**63) -> int:
    """Return an integer >= 0."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < below:
        limit = "" if below == 2**63 else f" below {below}"
        raise DataError(f"the entry {entry!r} holds {_short(value)} where an integer >= 0{limit} belongs")
    return value


def wholes(value: Any, entry: str, *, below: int = 2**63) -> tuple[int, ...]:
    """Return several integers >= 0."""
    return tuple(whole(item, entry, below=below) for item in sequence(value, entry))


def real(value: Any, entry: str, *, finite: bool = True, least: float = -math.inf) -> float:
    """Return a number; ``"nan"`` and ``"inf"`` are numbers too unless it must be finite."""
    if (isinstance(value, int | float) and not isinstance(value, bool)) or (
        not finite and isinstance(value, str) and value in _SPECIAL
    ):
        number = float(value)
    else:
        raise DataError(f"the entry {entry!r} holds {_short(value)} where a number belongs")
    if (finite and not math.isfinite(number)) or (least > -math.inf and not number >= least):
        kind = ("finite " if finite else "") + "number"
        raise DataError(
            f"the entry {entry!r} is {number!r}: expected a {kind}{f' >= {least:g}' if least > -math.inf else ''}"
        )
    return number


def reals(value: Any, entry: str, *, finite: bool = True, least: float = -math.inf) -> tuple[float, ...]:
    """Return several numbers."""
    return tuple(real(item, entry, finite=finite, least=least) for item in sequence(value, entry))


def _short(value: Any) -> str:
    return shown(repr(value), 60)

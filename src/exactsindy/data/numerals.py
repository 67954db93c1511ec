"""Numbers as tables write them: missing ones, decimal commas, separators of thousands, words for true and false."""

from __future__ import annotations

import re
from collections.abc import Sequence

from exactsindy._files import shown
from exactsindy.data.notice import Notice

_MISSING = {"", "nan", "na", "n/a", "null", "none", "missing", "-"}
_TRUTH = {"true": 1.0, "false": 0.0}
# Fortran writes 1.5D-03; some programs write a minus sign that is no hyphen.
_FORTRAN, _MINUS = re.compile(r"([+-]?\d*\.?\d+)[dD]([+-]?\d+)"), "\u2212"
# A number with separators of thousands, and one that can be nothing else: of two groups, with decimals, or with blanks.
_THOUSANDS = re.compile(r"[+-]?\d{1,3}([, '\u00a0\u2009\u202f])\d{3}(?:\1\d{3})*(?:\.\d+)?")
_PLAIN_COMMA = re.compile(r"[+-]?\d{1,3},\d{3}")


def number(cell: str, decimal: str) -> float | None:
    """Return the number in a cell, NaN for a missing one, None for text."""
    text = cell.strip()
    if text.lower() in _MISSING:
        return float("nan")
    if _MINUS in text:
        text = text.replace(_MINUS, "-")
    try:
        return float(text if decimal == "." else text.replace(".", "").replace(decimal, "."))
    except ValueError:
        return float(f"{found[1]}e{found[2]}") if decimal == "." and (found := _FORTRAN.fullmatch(text)) else None


def column_of_words(
    label: str, cells: Sequence[str], values: Sequence[float | None], decimal: str
) -> tuple[list[float], tuple[Notice, ...]] | None:
    """Return a column in which ``values`` lacks some numbers, as numbers, and what was assumed; None if it is text."""
    odd = [cell.strip() for cell, value in zip(cells, values, strict=True) if value is None]
    if all(cell.lower() in _TRUTH for cell in odd) and not any(value == value for value in values if value is not None):
        return [_TRUTH[cells[i].strip().lower()] if v is None else v for i, v in enumerate(values)], ()
    if decimal != "." or not all(_THOUSANDS.fullmatch(cell) for cell in odd):
        return None
    if all(_PLAIN_COMMA.fullmatch(cell) for cell in odd):  # 1,234 may as well have a decimal comma
        return None
    plain = [float(re.sub(r"[^\d.+-]", "", cells[i])) if v is None else v for i, v in enumerate(values)]
    text = f"Column {shown(label)!r}: {shown(odd[0], 30)!r} was read as a number with separators of thousands."
    return plain, (Notice("thousands", text),)

"""Constants inside the terms of a model, such as w in sin(w x) or K in x/(K + x)."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, isfinite, log10

from exactsindy.model.equation import significant, with_error

# Inner constants are rounded to this fraction of their standard error, which changes nothing that the data can show and
# keeps the names of terms short; and to so many significant digits at most.
_ROUNDED, _DIGITS = 0.01, 12


@dataclass(frozen=True)
class InnerConstant:
    """A constant inside terms that was fitted to the data.

    Parameters
    ----------
    equation
        The equation, e.g. ``x'``.
    term
        The term with the constant by name, e.g. ``sin(w x)``.
    name, value, standard_error
        The constant; the error is nan where it is not known.
    within
        The term of the model it stands in, with its numbers, e.g. ``sin(2.3712 x)``; empty if that is not known.

    Examples
    --------
    >>> InnerConstant("x'", "sin(w x)", "w", 2.3712, 0.0014).text()
    'w = 2.3712 ± 0.0014 in sin(w x)'
    """

    equation: str
    term: str
    name: str
    value: float
    standard_error: float
    within: str = ""

    def text(self) -> str:
        """Write the constant with its standard error, if that is known, and where it stands."""
        pair = with_error(self.value, self.standard_error)
        number = significant(self.value, 6) if pair is None else f"{pair[0]} ± {pair[1]}"
        return f"{self.name} = {number} in {self.term}"


def rounded_to_error(value: float, error: float) -> float:
    """Return a number without the digits that are far below its standard error.

    Examples
    --------
    >>> rounded_to_error(0.50031234, 0.002), rounded_to_error(0.123456789123456, 0.0)
    (0.50031, 0.123456789123)
    """
    digits = _DIGITS
    if value and isfinite(error) and error > 0:
        digits = 1 + floor(log10(abs(value))) - floor(log10(_ROUNDED * error))
    return float(f"{value:.{min(max(digits, 1), _DIGITS)}g}")

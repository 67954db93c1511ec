"""What growth of a library gives, and what both ways to grow share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from exactsindy.data import Field, Notice
from exactsindy.discovery.attempt import Attempt
from exactsindy.discovery.read import Measurement
from exactsindy.discovery.request import Request
from exactsindy.model import InnerConstant
from exactsindy.selection import Choice

# Odds of an equation with a grown library, over those that its evidence gives within that library: other families that
# were not tried may hold the law.
GROWN_ODDS = 0.5
# More numbers (coefficients and inner constants) than this imitate laws of families that were not tried to within the
# noise, whatever the evidence says: of 7 such answers on drawn predators and genes with noise of 1 %, 6 of them with
# 91 % or more before, 1 was right. Their confidence is multiplied by the second number.
_SHORT, _LONG_SHARE = 4, 0.25


@dataclass(frozen=True, eq=False)
class Growth:
    """The answer after growth (the one before it if nothing was found), and what was tried."""

    answer: Attempt
    request: Request
    constants: tuple[InnerConstant, ...] = ()
    tried: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()


def may_grow(measured: Measurement, request: Request) -> bool:
    """Return True if the library was left open and nothing else was asked for that a larger one could break."""
    plain = request.library is None and request.form is None and not request.constraints
    return plain and request.allows_trajectory_fits and not isinstance(measured.used, Field)


def choice_of(answer: Attempt, name: str) -> Choice:
    """Return the choice of an equation."""
    return next(choice for choice in answer.selection.choices if choice.equation == name)


def lowered(choice: Choice, numbers: int, preferred: float) -> Choice:
    """Return a choice within a grown library, less sure because of the families that were not tried.

    ``numbers`` are its coefficients and inner constants, ``preferred`` is the probability of its family, and of its law
    in that, against the others that were tried.
    """
    if math.isnan(choice.confidence):
        return choice
    odds, share = GROWN_ODDS * choice.confidence, preferred * (_LONG_SHARE if numbers > _SHORT else 1.0)
    return replace(choice, confidence=share * odds / (odds + 1.0 - choice.confidence))


def unheld(names: Sequence[str], tried: Sequence[str]) -> list[Notice]:
    """Return notices on equations that no family explains."""
    found = []
    for name in names:
        count = sum(line.startswith(f"{name}:") for line in tried)
        what = f"none of {count} families of functions that were tried explains it" if count else "no other was tried"
        cure = "Give library=... if you know its terms"
        text = f"{name}: the library does not seem to hold this law, and {what}. {cure}."
        found.append(Notice("library", text, name))
    return found

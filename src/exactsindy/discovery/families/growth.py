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


def lowered(choice: Choice) -> Choice:
    """Return a choice within a grown library, less sure because of the families that were not tried."""
    if math.isnan(choice.confidence):
        return choice
    odds = GROWN_ODDS * choice.confidence
    return replace(choice, confidence=odds / (odds + 1.0 - choice.confidence))


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

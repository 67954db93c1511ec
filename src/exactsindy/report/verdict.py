"""The verdict on each equation: one sentence to quote, and the row of numbers behind it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from exactsindy.plots import DiscoveryLike
from exactsindy.selection import Choice, unexplained
from exactsindy.solver import Status

#: Confidence from which an equation is called identified; from a half on it is called likely.
SURE = 0.9
#: Notices on the whole record that put every equation in doubt.
_DOUBTS = frozenset({"short", "limit", "interrupted"})
# Residuals beyond this many times the noise put an equation in doubt whatever its confidence. Right laws reach 4.7
# times where the noise is strongly coloured (AR(1) with 0.9), because it is estimated too small then.
_EXCESS = 5.0
# Significant digits of coefficients in a sentence.
_DIGITS = 4
_LIBRARY = "the library does not seem to hold this law"


@dataclass(frozen=True)
class Verdict:
    """What can be said of one equation.

    Parameters
    ----------
    equation
        Its name.
    tone
        ``"good"``: identified and nothing speaks against it; ``"bad"``: not identified; ``"fair"``: all between.
        Colours of pages follow it.
    label
        The verdict in two or three words.
    claim, text, remark
        The sentence in three parts: what is said of the equation, the equation (empty if there is none), the rest.
    """

    equation: str
    tone: str
    label: str
    claim: str
    text: str = ""
    remark: str = ""

    @property
    def sentence(self) -> str:
        """The verdict with the equation: the sentence to quote."""
        return f"{self.claim}{f': {self.text}' if self.text else ''}.{f' {self.remark}' if self.remark else ''}"


def verdicts(result: DiscoveryLike) -> tuple[Verdict, ...]:
    """Return the verdict on each equation, in the order of the model."""
    return tuple(_verdict(result, i) for i in range(len(result.model.rows)))


def choice_of(result: DiscoveryLike, i: int) -> Choice | None:
    """Return the choice that an equation comes from; None if other terms than those selected are shown."""
    shown, selected, choices = result.solution.support, result.selection.solution.support, result.selection.choices
    if len(choices) < len(shown):  # a shared budget: one choice for all equations
        return choices[0] if shown == selected else None
    return choices[i] if shown[i] == selected[i] else None


def is_proved(result: DiscoveryLike, i: int) -> bool:
    """Return True if no other combination of as many terms fits an equation better, and that is proved."""
    return result.solution.status[0 if result.solution.joint else i] is Status.OPTIMAL


def _verdict(result: DiscoveryLike, i: int) -> Verdict:
    row, choice = result.model.rows[i], choice_of(result, i)
    text = row.text(_DIGITS)
    if choice is None:
        remark = "Nothing is said about how likely they are right."
        return Verdict(row.name, "fair", "chosen by hand", "Not the terms that were selected", text, remark)
    if choice.withheld:
        outside = choice.withheld.startswith(_LIBRARY)
        reason = (
            f"{choice.withheld[0].upper()}{choice.withheld[1:]}" if outside else f"Not identified: {choice.withheld}"
        )
        label = "not in the library" if outside else "not identified"
        return Verdict(row.name, "bad", label, f"{reason}. Best fit, not to be taken for the law", text)
    if not row.terms and _is_constant(result, row.target.state):
        return Verdict(row.name, "fair", "constant", f"{row.target.state} never changes in these data", text)
    if not row.terms:
        sure = "" if math.isnan(choice.confidence) else f", {percentage(choice.confidence)}"
        claim = f"No law found{sure}: no term of the library explains {row.name}, which looks like noise or a constant"
        return Verdict(row.name, "bad", "no term found", claim)
    if math.isnan(choice.confidence):
        remark = "How likely it is right is not known."
        return Verdict(row.name, "fair", "not rated", "Best by the rule asked for", text, remark)
    shown = percentage(choice.confidence) + (" beyond the terms required" if choice.required else "")
    residual = result.residuals.get(row.name, 0.0)
    if not choice.identified and replace(choice, confidence=choice.confidence / unexplained(residual)).identified:
        claim = f"Not identified, {shown}, because residuals are {residual:.2g} times the noise"
        return Verdict(row.name, "bad", "not identified", claim, text)
    if not choice.identified:
        other = "" if choice.rival is None else f"As plausible: {choice.rival_words()}."
        claim = f"Not identified, {shown}, because other laws fit about as well as this one"
        return Verdict(row.name, "bad", "not identified", claim, text, other)
    if residual > _EXCESS:
        claim = f"Doubtful, {shown} at best, because residuals are {residual:.2g} times the noise"
        return Verdict(row.name, "bad", "doubtful", claim, text)
    doubts = list(_doubts(result, i))
    word = "Identified" if choice.confidence >= SURE else "Likely"
    but = f" ({'; '.join(doubts)})" if doubts else ""
    tone = "good" if word == "Identified" and not doubts else "fair"
    label = word.lower() + (", with warnings" if doubts else "")
    return Verdict(row.name, tone, label, f"{word}, {shown}{but}", text)


def _is_constant(result: DiscoveryLike, state: str) -> bool:
    """Return True if a warning says that a state never changes."""
    return any(n.kind == "constant" and n.message.startswith(repr(state)) for n in result.warnings)


def _doubts(result: DiscoveryLike, i: int) -> Iterator[str]:
    """Yield in a few words what speaks against an equation that is identified."""
    name = result.model.rows[i].name
    status = result.solution.status[0 if result.solution.joint else i]
    if status not in (Status.OPTIMAL, Status.REFITTED):
        yield "the search did not end, so better terms may exist"
    count = sum(notice.equation == name or notice.kind in _DOUBTS for notice in result.warnings)
    if count:
        yield f"see {count} warning{'' if count == 1 else 's'}"


def percentage(confidence: float) -> str:
    """Return a probability in words: never 100 %."""
    return "over 99 %" if confidence > 0.99 else f"{100 * confidence:.0f} %"

"""The outcome of checking a solution: records that read well."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from exactsindy._files import printable

Optimality = Literal["enumerated", "not checked"]
Claimed = Literal["optimal", "infeasible", "bound", "nothing"]
#: Why supports were not looked at, said by `EquationCheck.reason`.
TOO_MANY = "too many supports to look at all of them"
_ABOUT_ALL = {"optimal": "optimality", "infeasible": "infeasibility", "bound": "the lower bound"}


@dataclass(frozen=True)
class EquationCheck:
    """What was found for one equation, or for all that share one budget: True, False, or None where not checked.

    ``claimed`` is what is said about all supports: ``"optimal"`` or ``"infeasible"`` if the status says so; ``"bound"``
    if a search was stopped, but has a lower bound; ``"nothing"`` if the support was given. ``optimal`` says that no
    support is better than this one, whatever gap or bound is claimed; False is a failure only if the status says
    optimal. Of an equation called infeasible it says that no support satisfies the constraints.
    """

    target: str  # its name, or the names of all that share the budget
    claimed: Claimed
    failures: tuple[str, ...]  # one sentence for each claim that does not hold
    feasible: bool | None = None  # <= k independent terms of the library, no coefficient elsewhere, constraints hold
    objective: bool | None = None  # the claimed objective is that of the coefficients
    objective_error: float | None = None  # relative, recomputed in exact arithmetic
    stationary: bool | None = None  # the coefficients are the least-squares fit on their support
    gradient: float | None = None  # largest relative one, about 1e-16 of a good fit
    bound: bool | None = None  # the lower bound exceeds neither the objective nor that of any support looked at
    optimality: Optimality = "not checked"  # "enumerated" if all supports were looked at
    optimal: bool | None = None
    margin: bool | None = None  # the next-best support of the same size is as far as claimed (None also: not claimed)
    margin_claimed: bool = False
    also_unchecked: tuple[str, ...] = ()  # other claims that were not checked, such as "the conflict"
    answered: bool = True  # False if a search ended before it found a support
    reason: str = ""  # why something was not checked: too many supports, or some that could not be told apart
    scope: str = ""  # what is asked of supports and coefficients beside the number of terms; empty: nothing

    @property
    def ok(self) -> bool:
        """True if every claim that was checked holds."""
        return not self.failures

    @property
    def unchecked(self) -> tuple[str, ...]:
        """What is claimed but was not checked: "optimality", "infeasibility", "the lower bound" ..."""
        about_all = [] if self.optimality == "enumerated" or self.claimed == "nothing" else [_ABOUT_ALL[self.claimed]]
        about_all += self.also_unchecked
        if self.claimed == "infeasible" or not self.answered:
            return tuple(about_all)
        own = [("feasibility", self.feasible), ("stationarity", self.stationary)]
        if self.margin_claimed:
            own.append(("the margin", self.margin))
        return tuple([*about_all, *(name for name, value in own if value is None)])

    def __str__(self) -> str:
        about = f" ({self.scope})" if self.scope else ""
        lines = [f"{self.target}{about}: {self._line()}", *(f"  - {failure}" for failure in self.failures)]
        return "\n".join(map(printable, lines))

    def _line(self) -> str:
        optimal = _word(self.optimal)
        if self.optimality == "enumerated":
            optimal += " (enumerated)"
        if self.claimed == "infeasible":
            return f"infeasible {optimal}"
        if not self.answered:
            return f"no support was found; bound {_word(self.bound)}"
        if self.claimed in ("bound", "nothing") and self.optimal is False:
            optimal = "not claimed (enumerated: a better support exists)"
        error = "" if self.objective_error is None else f" (relative error {_shown(self.objective_error)})"
        gradient = "" if self.gradient is None else f" ({_shown(self.gradient)})"
        return (
            f"feasible {_word(self.feasible)}; objective {_word(self.objective)}{error}; "
            f"stationary {_word(self.stationary)}{gradient}; bound {_word(self.bound)}; optimal {optimal}; "
            f"margin {_word(self.margin)}"
        )


@dataclass(frozen=True)
class Verification:
    """The outcome of `verify`: one record per claim, and what they say together.

    ``same_problem`` is False if the solution was found for other doubles than those it was checked on.
    """

    checks: tuple[EquationCheck, ...]
    same_problem: bool

    @property
    def ok(self) -> bool:
        """True if every claim that was checked holds; see `unchecked` for what was not."""
        return self.same_problem and all(check.ok for check in self.checks)

    @property
    def feasible(self) -> bool | None:
        """True if all supports and coefficients keep the rules (None: not all were checked)."""
        return _together(check.feasible for check in self.checks)

    @property
    def objective(self) -> bool | None:
        """True if all claimed objectives are those of the coefficients (None: not all were checked)."""
        return _together(check.objective for check in self.checks)

    @property
    def stationary(self) -> bool | None:
        """True if all coefficients are least-squares fits on their supports (None: not all were checked)."""
        return _together(check.stationary for check in self.checks)

    @property
    def optimality(self) -> Optimality:
        """``"enumerated"`` if all supports of all equations were looked at, else ``"not checked"``."""
        return "enumerated" if all(c.optimality == "enumerated" for c in self.checks) else "not checked"

    @property
    def failures(self) -> tuple[str, ...]:
        """One sentence for each claim that does not hold."""
        other = "the solution was found for another problem (the fingerprints differ)."
        own = tuple(f"{check.target}: {text}" for check in self.checks for text in check.failures)
        return own if self.same_problem else (other, *own)

    @property
    def unchecked(self) -> tuple[str, ...]:
        """What is claimed but was not checked, in words such as "optimality"; empty if everything was checked."""
        return tuple(dict.fromkeys(name for check in self.checks for name in check.unchecked))

    def __repr__(self) -> str:
        return f"<Verification {'holds' if self.ok else 'FAILS'}; optimality {self.optimality}>"

    def __str__(self) -> str:
        unchecked = self.unchecked
        if not self.ok:
            head = "NOT verified: a claim does not hold for these data."
        elif not unchecked and self.optimality == "enumerated":
            head = "Verified: every claim holds, and every support was looked at."
        elif not unchecked:
            head = "Verified: every claim holds; nothing is claimed about other supports."
        else:
            named = " and ".join(filter(None, [", ".join(unchecked[:-1]), unchecked[-1]]))
            reasons = dict.fromkeys(check.reason for check in self.checks if check.reason)
            head = f"Verified, except {named}: {'; '.join(reasons)}."
        other = () if self.same_problem else (f"  - {self.failures[0]}",)
        return "\n".join([head, *other, *map(str, self.checks)])


def _together(findings: Iterable[bool | None]) -> bool | None:
    known = list(findings)
    return False if False in known else None if None in known else True


def _word(finding: bool | None) -> str:
    return "not checked" if finding is None else "yes" if finding else "NO"


def _shown(error: float) -> str:
    """Errors below the rounding of a double are noise: their digits differ from machine to machine."""
    return "below 1e-15" if error < 1e-15 else f"{error:.1e}"

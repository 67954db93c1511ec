"""The outcome of checking a solution: records that read well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Optimality = Literal["enumerated", "not checked"]


@dataclass(frozen=True)
class EquationCheck:
    """What was found for one equation, or for all equations that share one budget.

    Parameters
    ----------
    target
        Its name, or the names of all that share the budget.
    feasible
        Not more than k terms, linearly independent, of the equation's library, and no coefficient elsewhere.
    objective, objective_error
        The claimed objective is that of the coefficients; relative difference, recomputed in exact
        arithmetic.
    stationary, gradient
        The coefficients are the least-squares fit on their support; largest relative gradient, about 1e-16.
    bound
        The claimed lower bound does not exceed the objective.
    optimality
        ``"enumerated"`` if all supports were looked at.
    optimal
        No support lies below the claimed bound, nor below the objective if the status says optimal (None: not
        checked).
    margin
        The next-best support of the same size is as far as claimed (None: not claimed or not checked).
    failures
        One sentence for each claim that does not hold.
    """

    target: str
    feasible: bool
    objective: bool
    objective_error: float
    stationary: bool
    gradient: float
    bound: bool
    optimality: Optimality
    optimal: bool | None
    margin: bool | None
    failures: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether every claim that was checked holds."""
        return not self.failures

    def __str__(self) -> str:
        words = {True: "yes", False: "NO", None: "not checked"}
        optimal = f"{words[self.optimal]} (enumerated)" if self.optimality == "enumerated" else "not checked"
        line = (
            f"{self.target}: feasible {words[self.feasible]}; objective {words[self.objective]} "
            f"(relative error {_shown(self.objective_error)}); stationary {words[self.stationary]} "
            f"({_shown(self.gradient)}); bound {words[self.bound]}; optimal {optimal}; "
            f"margin {words[self.margin]}"
        )
        return "\n".join([line, *(f"  - {failure}" for failure in self.failures)])


@dataclass(frozen=True)
class Verification:
    """The outcome of `verify`: one record per claim, and what they say together.

    ``same_problem`` is False if the solution was found for other doubles than those it was checked on.
    """

    checks: tuple[EquationCheck, ...]
    same_problem: bool

    @property
    def ok(self) -> bool:
        """Whether every claim that was checked holds; see `optimality` for what was checked."""
        return self.same_problem and all(check.ok for check in self.checks)

    @property
    def feasible(self) -> bool:
        """Whether all supports and coefficients keep the rules."""
        return all(check.feasible for check in self.checks)

    @property
    def objective(self) -> bool:
        """Whether all claimed objectives are those of the coefficients."""
        return all(check.objective for check in self.checks)

    @property
    def stationary(self) -> bool:
        """Whether all coefficients are least-squares fits on their supports."""
        return all(check.stationary for check in self.checks)

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

    def __repr__(self) -> str:
        return f"<Verification {'holds' if self.ok else 'FAILS'}; optimality {self.optimality}>"

    def __str__(self) -> str:
        if not self.ok:
            head = "NOT verified: a claim does not hold for these data."
        elif self.optimality == "enumerated":
            head = "Verified: every claim holds, and every support was looked at."
        else:
            head = "Verified, except optimality: too many supports to look at all of them."
        other = () if self.same_problem else (f"  - {self.failures[0]}",)
        return "\n".join([head, *other, *map(str, self.checks)])


def _shown(error: float) -> str:
    """Errors below the rounding of a double are noise: their digits differ from machine to machine."""
    return "below 1e-15" if error < 1e-15 else f"{error:.1e}"

"""Check which constraints are said to be unable to hold together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from exactsindy.certificate.claim_reading import Claim
from exactsindy.certificate.conditions import read_conditions
from exactsindy.certificate.constraint_checks import constrained_findings
from exactsindy.certificate.verification import EquationCheck
from exactsindy.problem import Problem

_BUDGET = "k = "


def with_conflict(
    problem: Problem, solution: Any, claims: Sequence[Claim], checks: Sequence[EquationCheck]
) -> tuple[EquationCheck, ...]:
    """Return the checks with what is found about the conflict of an infeasible problem, if one is named."""
    named = tuple(getattr(solution, "conflict", ()))
    if not named:
        return tuple(checks)
    at = next((i for i, claim in enumerate(claims) if claim.claimed == "infeasible"), None)
    if at is None:
        text = "a conflict of constraints is named, but no equation is called infeasible."
        return (replace(checks[0], failures=(*checks[0].failures, text)), *checks[1:])
    holds = _holds(problem, solution, claims, named)
    failures, missing = checks[at].failures, checks[at].also_unchecked
    if holds is None:
        missing = (*missing, "the conflict")
    elif not holds:
        failures = (*failures, f"these can hold together: {'; '.join(named)}.")
    own = replace(checks[at], failures=failures, also_unchecked=missing)
    return (*checks[:at], own, *checks[at + 1 :])


def _holds(problem: Problem, solution: Any, claims: Sequence[Claim], named: Sequence[str]) -> bool | None:
    """Return whether some equations cannot satisfy the constraints named; None if that was not looked at."""
    texts = [str(constraint) for constraint in solution.constraints]
    budget = [name for name in named if name.startswith(_BUDGET) and name not in texts]
    if any(name not in texts and name not in budget for name in named) or len(budget) > 1:
        return False
    if budget and budget[0] != f"{_BUDGET}{_size(solution)}":
        return False
    kept = [constraint for constraint, text in zip(solution.constraints, texts, strict=True) if text in named]
    conditions, unknown = read_conditions(problem, kept), False
    for claim in claims:
        caps = claim.caps if budget else tuple(len(equation.columns) for equation in claim.equations)
        total = claim.budget if budget else sum(caps)
        asked = replace(claim, claimed="infeasible", caps=caps, budget=total)
        least = constrained_findings(asked, conditions).least
        if least is None:
            unknown = True
        elif least.high == math.inf:
            return True
    return None if unknown else False


def _size(solution: Any) -> Any:
    """Return the budget as it is written: one number if all equations have the same."""
    if not isinstance(solution.k, Sequence):
        return solution.k.k
    return solution.k[0] if len(set(solution.k)) == 1 else tuple(solution.k)

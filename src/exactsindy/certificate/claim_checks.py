"""Check one claim: what is true of its coefficients, and what enumeration says about all other supports."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from exactsindy.certificate.claim_reading import Claim
from exactsindy.certificate.exact import GRADIENT, RELATIVE, tolerance
from exactsindy.certificate.ranking import Interval, Rankings, combine
from exactsindy.certificate.verification import TOO_MANY, EquationCheck

_TOO_CLOSE = "too many supports are too close to tell apart"
_NONE_FEASIBLE = "enumeration found no support that satisfies the constraints"


@dataclass(frozen=True)
class Findings:
    """What was found out about a claim without believing any of its numbers."""

    wrong: tuple[str, ...] = ()  # one sentence for each thing that is wrong with supports or constraints
    gradient: float | None = None  # relative, on the support (None: not computed)
    steep: float = GRADIENT  # a larger gradient says that the fit is not the best
    least: Interval | None = None  # where the least objective of all supports lies (infinite: there is none)
    reason: str = ""  # why `least` is not known
    rivals: tuple[Interval, ...] | None = None  # the least objectives of exactly as many terms (None: not known)
    relative: float = RELATIVE  # error allowed to a claimed objective or bound
    partly: bool = False  # True if not all that makes a support feasible was looked at


def plain_findings(claim: Claim, rankings: Rankings) -> Findings:
    """Look at a claim without constraints."""
    gradient = max(e.gradient(x.tolist(), np.flatnonzero(x).tolist()) for e, x in claim.fits)
    wrong = (*claim.misplaced(), *claim.dependent())
    known = [rankings.of(equation, cap) for equation, cap in zip(claim.equations, claim.caps, strict=True)]
    complete = [ranking for ranking in known if ranking is not None]
    if len(complete) < len(known):
        return Findings(wrong, gradient, reason=TOO_MANY)
    ranking = combine(complete, claim.budget)
    firsts = [intervals[0] for intervals in ranking if intervals]
    least = Interval(min(i.low for i in firsts), min(i.high for i in firsts))
    return Findings(wrong, gradient, least=least, rivals=ranking[claim.size] if claim.size < len(ranking) else ())


def not_finite(claim: Claim) -> EquationCheck:
    """Return the check of coefficients that cannot be computed with."""
    failures = (*claim.misplaced(), "not all coefficients are finite numbers.")
    return EquationCheck(claim.name, claim.claimed, failures, feasible=False)


def check_claim(claim: Claim, findings: Findings) -> EquationCheck:
    """Compare a claim with what was found."""
    value, floor, least = claim.value, claim.floor, findings.least
    wrong = []
    if not (abs(claim.objective - value) <= tolerance(value, floor, findings.relative) or claim.objective == value):
        wrong.append(f"the objective is claimed to be {claim.objective!r}, but the coefficients give {value!r}.")
    steep, gradient = [], findings.gradient
    if gradient is not None and gradient > findings.steep:
        steep = [f"the coefficients are not the least-squares fit on their support (relative gradient {gradient:.1e})."]
    loose = _bound_failures(claim, findings)
    optimal, reason = _optimal(claim, findings)
    beaten = []
    if claim.claimed == "optimal" and optimal is False and least is not None:
        beaten = [f"the status says optimal at {claim.objective!r}, but a support has the objective {least.high!r}."]
    near = _margin_failures(claim, findings)
    return EquationCheck(
        target=claim.name,
        claimed=claim.claimed,
        failures=(*findings.wrong, *wrong, *steep, *loose, *beaten, *(near or ())),
        feasible=False if findings.wrong else None if findings.partly else True,
        objective=not wrong,
        objective_error=abs(claim.objective - value) / value if value else float(claim.objective != 0),
        stationary=None if gradient is None else not steep,
        gradient=gradient,
        bound=not loose,
        optimality="not checked" if reason else "enumerated",
        optimal=optimal,
        margin=None if near is None else not near,
        reason=reason,
    )


def check_infeasible(claim: Claim, findings: Findings) -> EquationCheck:
    """Check the claim that no support satisfies the constraints: there are no coefficients to look at."""
    beaten = []
    if findings.least is not None and findings.least.high < math.inf:
        beaten.append(f"infeasible is claimed, but a support has the objective {findings.least.high!r}.")
    return EquationCheck(
        target=claim.name,
        claimed="infeasible",
        failures=tuple(beaten),
        optimality="not checked" if findings.least is None else "enumerated",
        optimal=None if findings.least is None else not beaten,
        reason=findings.reason,
    )


def _bound_failures(claim: Claim, findings: Findings) -> list[str]:
    """Return what is wrong with the bound and its gap."""
    objective, bound, floor = claim.objective, claim.lower_bound, claim.floor
    failures = []
    if not bound <= objective + tolerance(abs(objective), floor, findings.relative):
        failures.append(f"the lower bound {bound!r} exceeds the objective {objective!r}.")
    gap = (objective - bound) / max(objective, floor**2) if objective > bound else 0.0
    if claim.gap < gap - RELATIVE * max(1.0, gap):
        failures.append(f"the gap is claimed to be {claim.gap:.3g}, but objective and bound give {gap:.3g}.")
    least = findings.least
    if least is not None and bound > least.high + tolerance(least.high, floor, findings.relative):
        failures.append(f"the lower bound is {bound!r}, but a support has the objective {least.high!r}.")
    return failures


def _optimal(claim: Claim, findings: Findings) -> tuple[bool | None, str]:
    """Return whether no support is better than this one, or None and why enumeration cannot say."""
    least = findings.least
    if least is None:
        return None, findings.reason
    if least.high == math.inf:
        return None, _NONE_FEASIBLE
    slack, objective = tolerance(least.high, claim.floor, findings.relative), max(claim.objective, claim.value)
    if not objective <= least.high + slack:
        return False, ""
    if max(objective, claim.lower_bound) > least.low + slack:
        return None, _TOO_CLOSE
    return True, ""


def _margin_failures(claim: Claim, findings: Findings) -> list[str] | None:
    """Return what is wrong with the margin, None if it is not claimed or cannot be checked."""
    rivals, floor = findings.rivals, claim.floor
    if rivals is None or math.isnan(claim.margin) or not claim.objective > floor**2:
        return None
    if len(rivals) < 2:
        text = f"the margin is claimed to be {claim.margin!r}, but there is no rival."
        return [] if claim.margin == math.inf else [text]
    claimed, rival = claim.objective * (1 + claim.margin), rivals[1]
    slack = 2 * tolerance(rival.high, floor)
    if rival.low - slack <= claimed <= rival.high + slack:
        return []
    margin = rival.high / claim.objective - 1
    return [f"the margin is claimed to be {claim.margin!r}, but the next-best support gives {margin:.6g}."]

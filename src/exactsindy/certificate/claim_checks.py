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
#: Objectives below the square of this many times the rounding of the residual norm are exact fits.
_EXACT_FIT = 16.0

# Share of the rounding of the target in doubles (16 eps |y|) that the arithmetic of 106 bits behind claimed objectives
# may lose in supports whose columns are far from orthogonal: an exact fit may be claimed where 2^-66 |y| is left. It
# does not depend on the coefficients claimed.
_FINE = 2.0**-18


@dataclass(frozen=True)
class Findings:
    """What was found out about a claim without believing any of its numbers."""

    value: float  # the objective that the claim should have
    floor: float  # rounding of the residual norm allowed to claimed objectives
    wrong: tuple[str, ...] = ()  # one sentence for each thing that is wrong with supports or constraints
    misfits: tuple[str, ...] = ()  # one sentence for each coefficient that is not that of the best fit
    gradient: float | None = None  # relative, on the support (None: not computed)
    steep: float = GRADIENT  # a larger gradient says that the fit is not the best
    least: Interval | None = None  # where the least objective of all supports lies (infinite: there is none)
    reason: str = ""  # why `least` is not known, or not for sure
    rivals: tuple[Interval, ...] | None = None  # the least objectives of exactly as many terms (None: not known)
    relative: float = RELATIVE  # error allowed to a claimed objective or bound
    unseen: tuple[tuple[str, str], ...] = ()  # what else is claimed but not looked at, each with the reason


def plain_findings(claim: Claim, rankings: Rankings) -> Findings:
    """Look at a claim without constraints."""
    gradient = max(e.gradient(x.tolist(), np.flatnonzero(x).tolist()) for e, x in claim.fits)
    wrong, misfits = (*claim.misplaced(), *claim.inadmissible()), tuple(claim.misfits())
    value, floor = (claim.shown, claim.floor) if claim.value is None else (claim.value, claim.blur)
    pairs = zip(claim.equations, claim.caps, strict=True)
    known = [rankings.of(equation, cap, claim.limit) for equation, cap in pairs]
    complete = [ranking for ranking in known if ranking is not None]
    if len(complete) < len(known):
        return Findings(value, floor, wrong, misfits, gradient, reason=TOO_MANY)
    ranking = combine(complete, claim.budget)
    firsts = [intervals[0] for intervals in ranking.sizes if intervals]
    least = Interval(min(i.low for i in firsts), min(i.high for i in firsts))
    return Findings(
        value,
        max(floor, ranking.blur),
        wrong,
        misfits,
        gradient,
        least=least,
        reason="" if ranking.decided else _TOO_CLOSE,
        rivals=ranking.sizes[claim.size] if claim.size < len(ranking.sizes) and ranking.decided else None,
    )


def not_finite(claim: Claim) -> EquationCheck:
    """Return the check of coefficients that cannot be computed with."""
    failures = (*claim.misplaced(), "not all coefficients are finite numbers.")
    return EquationCheck(claim.name, claim.claimed, failures, feasible=False)


def check_claim(claim: Claim, findings: Findings) -> EquationCheck:
    """Compare a claim with what was found."""
    value, least, gradient = findings.value, findings.least, findings.gradient
    wrong = _objective_failures(claim, findings)
    steep = list(findings.misfits)
    if gradient is not None and gradient > findings.steep:
        steep = [f"the coefficients are not the least-squares fit on their support (relative gradient {gradient:.1e})."]
    loose = _bound_failures(claim, findings)
    optimal, reason = _optimal(claim, findings)
    beaten = []
    if claim.claimed == "optimal" and optimal is False and least is not None:
        beaten = [f"the status says optimal at {claim.objective!r}, but a support has the objective {least.high!r}."]
    near = _margin_failures(claim, findings)
    unseen = dict(findings.unseen)
    return EquationCheck(
        target=claim.name,
        claimed=claim.claimed,
        failures=(*findings.wrong, *wrong, *steep, *loose, *beaten, *(near or ())),
        feasible=False if findings.wrong else None if "feasibility" in unseen else True,
        objective=not wrong,
        objective_error=abs(claim.objective - value) / value if value else float(claim.objective != 0),
        stationary=None if gradient is None else not steep,
        gradient=gradient,
        bound=not loose,
        optimality="not checked" if reason else "enumerated",
        optimal=optimal,
        margin=None if near is None else not near,
        margin_claimed=not math.isnan(claim.margin),
        reason="; ".join(dict.fromkeys(filter(None, [reason, *unseen.values()]))),
    )


def check_infeasible(claim: Claim, findings: Findings) -> EquationCheck:
    """Check the claim that no support satisfies the constraints, or that none was found: there are no coefficients."""
    beaten = []
    if claim.claimed != "infeasible":
        if findings.least is not None and not claim.lower_bound <= findings.least.high * (1 + findings.relative):
            beaten = [f"the lower bound is {claim.lower_bound!r}, but a support has {findings.least.high!r}."]
    elif claim.coef.any() or claim.size or claim.objective != math.inf or not math.isnan(claim.margin):
        beaten = ["infeasible is claimed, but there are coefficients, terms, an objective or a margin."]
    elif findings.least is not None and findings.least.high < math.inf:
        beaten.append(f"infeasible is claimed, but a support has the objective {findings.least.high!r}.")
    return EquationCheck(
        target=claim.name,
        claimed=claim.claimed,
        failures=tuple(beaten),
        optimality="not checked" if findings.least is None else "enumerated",
        optimal=None if findings.least is None or claim.claimed != "infeasible" else not beaten,
        bound=None if findings.least is None or claim.claimed == "infeasible" else not beaten,
        answered=claim.claimed == "infeasible",
        reason=findings.reason,
    )


def _objective_failures(claim: Claim, findings: Findings) -> list[str]:
    """Return what is wrong with the objective: it must be that of the coefficients and that of the support."""
    for value, floor, whose in (
        (claim.shown, claim.floor, "the coefficients give"),
        (findings.value, max(findings.floor, _FINE * claim.target_floor), "the best fit on the support has"),
    ):
        close = abs(claim.objective - value) <= tolerance(value, floor, findings.relative)
        if not (close or claim.objective == value):
            return [f"the objective is claimed to be {claim.objective!r}, but {whose} {value!r}."]
    return []


def _bound_failures(claim: Claim, findings: Findings) -> list[str]:
    """Return what is wrong with the bound and its gap."""
    objective, bound, floor = claim.objective, claim.lower_bound, findings.floor
    failures = []
    if not bound <= objective + tolerance(abs(objective), floor, findings.relative):
        failures.append(f"the lower bound {bound!r} exceeds the objective {objective!r}.")
    if text := _gap_failure(claim):
        failures.append(text)
    least = findings.least
    if least is not None and bound > least.high + tolerance(least.high, floor, findings.relative):
        failures.append(f"the lower bound is {bound!r}, but a support has the objective {least.high!r}.")
    return failures


def _gap_failure(claim: Claim) -> str:
    """Return what is wrong with the gap: (objective - bound) / objective, or less below the rounding of doubles."""
    distance = claim.objective - claim.lower_bound
    if not math.isfinite(claim.objective) or not distance > 0:
        least = most = 0.0
    else:
        least = distance / max(claim.objective, claim.floor**2)
        most = distance / claim.objective if claim.objective > 0 else math.inf
    if least * (1 - 1e-6) - RELATIVE <= claim.gap <= most * (1 + 1e-6) + RELATIVE or not math.isfinite(claim.objective):
        return ""
    return f"the gap is claimed to be {claim.gap:.3g}, but objective and bound give {most:.3g}."


def _optimal(claim: Claim, findings: Findings) -> tuple[bool | None, str]:
    """Return whether no support is better than this one, or None and why enumeration cannot say."""
    least = findings.least
    if least is None:
        return None, findings.reason
    if least.high == math.inf and findings.value < math.inf:
        return None, _NONE_FEASIBLE
    floor, objective = max(findings.floor, _FINE * claim.target_floor), max(claim.objective, findings.value)
    slack = tolerance(least.high, floor, findings.relative)
    if not objective <= least.high + slack:
        return False, ""
    return (None, findings.reason) if findings.reason else (True, "")


def _margin_failures(claim: Claim, findings: Findings) -> list[str] | None:
    """Return what is wrong with the margin, None if it is not claimed or cannot be checked."""
    rivals, floor = findings.rivals, findings.floor
    if claim.margin < 0:
        return [f"the margin is claimed to be {claim.margin!r}: no support would be better than the best."]
    if rivals is None or math.isnan(claim.margin):
        return None
    exact = (_EXACT_FIT * floor) ** 2
    if not claim.objective > exact:
        # Of an exact fit only the least possible margin is known.
        least = rivals[1].low / exact - 1 if len(rivals) > 1 and exact > 0 else 0.0
        text = f"the margin is claimed to be {claim.margin!r}, but the next-best support gives at least {least:.3g}."
        return [] if claim.margin >= min(least * (1 - 1e-6), 1e300) or claim.margin == 0.0 >= least else [text]
    if len(rivals) < 2:
        text = f"the margin is claimed to be {claim.margin!r}, but there is no rival."
        return [] if claim.margin == math.inf else [text]
    claimed, rival = claim.objective * (1 + claim.margin), rivals[1]
    slack = 2 * tolerance(max(rival.low, 0.0), floor, findings.relative)
    if rival.low - slack <= claimed <= rival.high + slack:
        return []
    margin = rival.high / claim.objective - 1
    return [f"the margin is claimed to be {claim.margin!r}, but the next-best support gives {margin:.6g}."]

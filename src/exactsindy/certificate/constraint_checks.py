"""Checking a solution under constraints: satisfaction, objective, stationarity and, where few, all other supports."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from exactsindy.certificate.claim_checks import Findings
from exactsindy.certificate.claim_reading import Claim
from exactsindy.certificate.coefficient_limits import coefficient_limits
from exactsindy.certificate.condition_records import Meaning
from exactsindy.certificate.conditions import Conditions
from exactsindy.certificate.constrained_fit import ACCURACY, Fitter
from exactsindy.certificate.contenders import MOST_FITTED, contenders
from exactsindy.certificate.exact import tolerance
from exactsindy.certificate.multipliers import excess, outside, unexplained_gradient
from exactsindy.certificate.ranking import Interval
from exactsindy.certificate.verification import TOO_MANY

#: Constraints hold to this share of what they add up.
SATISFIED = 1e-9
#: A coefficient below this share of |y| / |column| cannot be told from 0.
_NOTHING = 1e-15
#: Relative gradient that no multipliers of active constraints explain; where forms are not linear, a larger one.
_GRADIENT, _GRADIENT_FORM = 1e-12, 1e-5
#: Relative error of a fit under constraints in doubles.
_RELATIVE = 1e-8
#: Ratio of the numbers in a row above which margins are not checked.
_UNEVEN = 1e8
_FORMS = "other supports under Quadratic and semidefinite constraints are not looked at"
_APART = "Significant is checked only for equations that are solved apart"
#: Within this share of its limit either answer about a coefficient is accepted.
_BAND = 1e-6
#: Fits in doubles are surely within a limit, or beyond it, by this factor.
_CLEAR = 2.0
_ROUGH = "the fit is as good as fits under constraints can be computed here"


@dataclass(frozen=True)
class _Fitted:
    """The best fit of a support under constraints; ``sure``: its coefficients are within their limits beyond doubt."""

    value: float
    chosen: frozenset[int]
    x: dict[int, float]
    sure: bool


def constrained_findings(claim: Claim, everything: Conditions) -> Findings:
    """Look at a claim about equations under constraints."""
    conditions = everything.of(claim.rows)
    x, present = _coefficients(claim, conditions), _present(claim, conditions)
    fitter, natural = Fitter.of(conditions, claim.equations, claim.rows), _natural(claim, conditions)
    wrong: list[str] = []
    unseen: list[tuple[str, str]] = []
    if claim.claimed != "infeasible" and not claim.empty:
        wrong = [*claim.misplaced(), *violations(conditions, x, present, natural), *_large(claim, conditions, x)]
        if _torn(claim, conditions):
            wrong.append("constraints bind this equation to others, but claims are made for each of them apart.")
        if not wrong and conditions.t_level:
            few, reason = _insignificant(claim, fitter, conditions, present)
            wrong += few
            unseen += [("feasibility", reason)] if reason else []
    if conditions.unknown:
        reason = f"constraints of the kind {', '.join(conditions.unknown)} are not read by verify"
        unseen.append(("feasibility", reason))
        least, rivals = None, None
    else:
        least, rivals, reason = _least(claim, conditions, fitter, feasible=not wrong)
    if claim.claimed == "infeasible" or claim.empty:
        return Findings(math.inf, 0.0, least=least, reason=reason)
    gradient, why = None, reason
    if not conditions.unknown:
        gradient, why = unexplained_gradient(conditions, claim.equations, claim.rows, x, natural)
    return Findings(
        claim.shown,
        claim.floor,
        tuple(wrong),
        gradient=gradient,
        steep=_GRADIENT_FORM if conditions.forms else _GRADIENT,
        least=least,
        reason=reason,
        rivals=rivals,
        relative=_RELATIVE,
        unseen=(*unseen, *([("stationarity", why)] if gradient is None else [])),
    )


def violations(
    conditions: Conditions, x: Mapping[int, float], present: frozenset[int], natural: Mapping[int, float]
) -> list[str]:
    """Return one sentence for each constraint that coefficients and supports do not satisfy.

    ``natural`` is the size |y| / |column| of each coefficient, to tell 0 from rounding.
    """
    failures = []
    for source, meaning in zip(conditions.sources, conditions.meanings, strict=True):
        label = f"the constraint {source}"
        if text := _violation(meaning, x, natural, conditions):
            failures.append(f"{label} does not hold: {text}.")
        if meaning.present is not None and not meaning.present(present):
            failures.append(f"{label} does not hold for these supports.")
        for v, (least, most) in meaning.sizes.items():
            if v in present and not least * (1 - SATISFIED) <= abs(x.get(v, 0.0)) <= most * (1 + SATISFIED):
                failures.append(f"{label} does not hold: {conditions.names.label(v)} is {x.get(v, 0.0):.6g}.")
    return failures


def _violation(meaning: Meaning, x: Mapping[int, float], natural: Mapping[int, float], conditions: Conditions) -> str:
    for row in meaning.rows:
        over, size = excess(row, x)
        slack = SATISFIED * size + _NOTHING * sum(
            abs(c) * natural.get(v, 0.0) for v, c in row.numbers.items() if v in x
        )
        if (abs(over) if row.equal else over) > slack:
            named = ", ".join(f"{conditions.names.label(v)} is {x.get(v, 0.0):.6g}" for v in list(row.numbers)[:3])
            return f"off by {over:.3g} ({named})"
    return next((f"off by {outside(form, x):.3g}" for form in meaning.forms if outside(form, x) > SATISFIED), "")


def _large(claim: Claim, conditions: Conditions, x: Mapping[int, float]) -> list[str]:
    """Return which coefficients are above the limit; of supports that were given, that is no fault."""
    if claim.claimed == "nothing" or conditions.forms:
        return []
    limits = coefficient_limits(conditions, claim.equations, claim.rows, claim.limit)
    return [
        f"{conditions.names.label(v)} is {value:.6g}, above the coefficient limit."
        for v, value in x.items()
        if abs(value) > limits.get(v, math.inf) * (1 + _BAND)
    ]


def _torn(claim: Claim, conditions: Conditions) -> bool:
    """Whether a row also asks something of an equation that this claim is not about."""
    own = {v for e in claim.rows for v in conditions.names.library[e]}
    return any((meaning.rows or meaning.forms) and not meaning.variables <= own for meaning in conditions.meanings)


def _coefficients(claim: Claim, conditions: Conditions) -> dict[int, float]:
    width = conditions.names.width
    rows = zip(claim.rows, claim.coef, strict=True)
    return {e * width + j: float(value) for e, row in rows for j, value in enumerate(row) if value}


def _present(claim: Claim, conditions: Conditions) -> frozenset[int]:
    width = conditions.names.width
    return frozenset(e * width + j for e, chosen in zip(claim.rows, claim.support, strict=True) for j in chosen)


def _natural(claim: Claim, conditions: Conditions) -> dict[int, float]:
    width, sizes = conditions.names.width, {}
    for e, equation in zip(claim.rows, claim.equations, strict=True):
        scale = math.sqrt(equation.weight) * equation.target_norm
        for j, norm in zip(equation.columns, equation.norms, strict=True):
            sizes[e * width + j] = scale / norm if norm else 0.0
    return sizes


def _least(
    claim: Claim, conditions: Conditions, fitter: Fitter, *, feasible: bool
) -> tuple[Interval | None, tuple[Interval, ...] | None, str]:
    """Return the least objective under the constraints, the least ones of as many terms, or why they are not known."""
    if conditions.forms:
        return None, None, _FORMS
    if conditions.t_level and len(claim.rows) > 1:
        return None, None, _APART
    objective = claim.shown if feasible and claim.claimed != "infeasible" and not claim.empty else math.inf
    if objective <= (10 * ACCURACY * fitter.scale) ** 2:
        return None, None, _ROUGH
    better = _fitted(claim, conditions, fitter, objective)
    if better is None:
        return None, None, TOO_MANY
    accuracy = ACCURACY * fitter.scale
    least = min([objective, *(fit.value + tolerance(fit.value, accuracy, 0.0) for fit in better if fit.sure)])
    return Interval(least, least), _rivals(claim, conditions, fitter, objective), ""


def _rivals(claim: Claim, conditions: Conditions, fitter: Fitter, objective: float) -> tuple[Interval, ...] | None:
    """Return the least objectives of as many terms up to the claimed rival; None if they are not known."""
    natural = _natural(claim, conditions)
    if not claim.margin >= 0 or objective == math.inf or conditions.t_level or _uneven(conditions, natural):
        return None
    fitted = _fitted(claim, conditions, fitter, objective * (1 + claim.margin) * (1 + 1e-6))
    if fitted is None:
        return None
    present = _present(claim, conditions)
    known = [Interval(objective, objective)]
    for fit in fitted:
        if len(fit.chosen) == claim.size and fit.chosen != present:
            # Where a coefficient is 0, a smaller support may be meant.
            small = any(abs(c) <= 1e-7 * natural[v] for v, c in fit.x.items())
            slack = tolerance(fit.value, ACCURACY * fitter.scale, _RELATIVE)
            known.append(Interval(fit.value - slack, fit.value + slack if fit.sure and not small else math.inf))
    lows, highs = sorted(i.low for i in known), sorted(i.high for i in known)
    return tuple(Interval(low, high) for low, high in zip(lows[:2], highs[:2], strict=True))


def _uneven(conditions: Conditions, natural: Mapping[int, float]) -> bool:
    """Whether a row holds numbers so different that a fit in doubles may miss what satisfies it."""
    for row in (row for meaning in conditions.meanings for row in meaning.rows):
        sizes = [abs(c) * natural[v] for v, c in row.numbers.items() if natural.get(v)]
        if sizes and max(sizes) > _UNEVEN * min(sizes):
            return True
    return False


def _fitted(claim: Claim, conditions: Conditions, fitter: Fitter, level: float) -> list[_Fitted] | None:
    """Return the fits of all supports that may be below a level; None if they are too many."""
    accuracy = ACCURACY * fitter.scale
    limits = coefficient_limits(conditions, claim.equations, claim.rows, claim.limit)
    candidates = contenders(claim.normals, claim.caps, claim.budget, level + tolerance(level, accuracy, _RELATIVE))
    if candidates is None:
        return None
    found = []
    for count, supports in enumerate(candidates):
        if count >= MOST_FITTED:
            return None
        chosen = _placed(claim, conditions, supports)
        value, x = fitter.fit(chosen) if conditions.allows(chosen) else (math.inf, {})
        if value < math.inf and _all_significant(claim, fitter, conditions, chosen, 1e-6):
            share = max((abs(c) / limits[v] if limits[v] else math.inf for v, c in x.items() if c), default=0.0)
            if share <= _CLEAR:
                found.append(_Fitted(value, chosen, x, sure=share <= 1 / _CLEAR))
    return found


def _placed(claim: Claim, conditions: Conditions, supports: Iterable[tuple[int, ...]]) -> frozenset[int]:
    """Return columns of each equation as coefficients."""
    width = conditions.names.width
    groups = zip(claim.rows, claim.equations, supports, strict=True)
    return frozenset(e * width + equation.columns[j] for e, equation, chosen in groups for j in chosen)


def _insignificant(
    claim: Claim, fitter: Fitter, conditions: Conditions, present: frozenset[int]
) -> tuple[list[str], str]:
    if len(claim.rows) > 1:
        return [], _APART
    if _all_significant(claim, fitter, conditions, present, -1e-6):
        return [], ""
    return [f"not every term has a t-statistic of at least {conditions.t_level:g}."], ""


def _all_significant(
    claim: Claim, fitter: Fitter, conditions: Conditions, present: frozenset[int], more: float
) -> bool:
    """Return True if t^2 = (rise of the objective without a term) (n - terms) / objective is large for all terms."""
    if not conditions.t_level:
        return True
    freedom = conditions.names.problem.n_samples_of(claim.rows[0]) - len(present)
    value, _ = fitter.fit(present)
    for v in present:
        without, _ = fitter.fit(present - {v}, sizes=False)
        if without == math.inf or value == 0:
            continue  # the constraints need the term, or nothing is left to explain
        t_square = Fraction(without - value) * freedom / Fraction(value) if freedom > 0 else Fraction(0)
        if t_square < conditions.t_level**2 * (1 + more):
            return False
    return True

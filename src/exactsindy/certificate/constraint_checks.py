"""Checking a solution under constraints: satisfaction, objective, stationarity and, where few, all supports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from exactsindy.certificate.claim_checks import Findings
from exactsindy.certificate.claim_reading import Claim
from exactsindy.certificate.constrained_supports import count_supports, support_value, supports
from exactsindy.certificate.exact import CheckedEquation
from exactsindy.certificate.ranking import Interval
from exactsindy.certificate.verification import TOO_MANY
from exactsindy.constraints import Cone, Row, Rules, Stacked

#: Constraints hold to this share of what they add up.
SATISFIED = 1e-9
#: Relative gradient that no multipliers of active constraints explain.
_GRADIENT = 1e-9
#: More supports are not enumerated: each takes about 0.1 ms.
_MOST_SUPPORTS = 20_000
#: Relative error of a fit under constraints in doubles.
_RELATIVE = 1e-8


def violations(
    rules: Rules, coef: NDArray[np.float64], support: Sequence[Sequence[int]], indices: Sequence[int]
) -> list[str]:
    """Return one sentence for each constraint on some equations that coefficients and supports do not satisfy."""
    x = coef.ravel()
    variables = [v for v in range(len(x)) if v // rules.width in indices]
    present = {e * rules.width + j for e, chosen in enumerate(support) for j in chosen}
    failures = []
    for kind, rows in (("==", rules.equalities), ("<=", rules.inequalities)):
        for row in (row for row in rows if row.variables[0] in variables):
            excess, size = _excess(row, x)
            if (abs(excess) if kind == "==" else excess) > SATISFIED * size:
                failures.append(f"{_source(rules, row.source)} does not hold: off by {excess:.3g}.")
    for row in (row for row in rules.presence if row.variables[0] in variables):
        if sum(c for v, c in zip(row.variables, row.coefs, strict=True) if v in present) > row.rhs:
            failures.append(f"{_source(rules, row.source)} does not hold for these supports.")
    for cone in (cone for cone in rules.convex if cone.variables[0] in variables):
        if outside_cone(cone, x) > SATISFIED:
            failures.append(f"{_source(rules, cone.source)} does not hold.")
    for v in variables:
        slack = SATISFIED * abs(x[v])
        low = rules.lower[v] - SATISFIED * abs(rules.lower[v]) - slack
        high = rules.upper[v] + SATISFIED * abs(rules.upper[v]) + slack
        small, large = rules.least[v] * (1 - SATISFIED), rules.most[v] * (1 + SATISFIED)
        if not low <= x[v] <= high or (v in present and not small <= abs(x[v]) <= large):
            source = _source(rules, int(rules.bound_source[v]))
            failures.append(f"{source} does not hold: {rules.label(v)} is {x[v]:.6g}.")
    return failures


def outside_cone(cone: Cone, x: NDArray[np.float64]) -> float:
    """Return how far a point is outside a cone, relative to what is added up there."""
    parts = cone.matrix * x[list(cone.variables)]
    point, size = cone.offset - parts.sum(axis=1), float(np.abs(cone.offset).max() + np.abs(parts).sum())
    if cone.kind == "second-order":
        return float(np.linalg.norm(point[1:]) - point[0]) / (size or 1.0)
    side = round((math.sqrt(8 * len(point) + 1) - 1) / 2)
    matrix, at = np.zeros((side, side)), 0
    for column in range(side):
        for row in range(column + 1):
            matrix[row, column] = matrix[column, row] = point[at] / (1.0 if row == column else math.sqrt(2.0))
            at += 1
    return -float(np.linalg.eigvalsh(matrix)[0]) / (size or 1.0)


def _source(rules: Rules, index: int) -> str:
    return f"constraints[{index}] ({rules.sources[index]})"


def _excess(row: Row, x: NDArray[np.float64]) -> tuple[float, float]:
    parts = [Fraction(c) * Fraction(float(x[v])) for v, c in zip(row.variables, row.coefs, strict=True)]
    size = float(sum((abs(p) for p in parts), Fraction(0))) + abs(row.rhs)
    return float(sum(parts, Fraction(0)) - Fraction(row.rhs)), size


def unexplained_gradient(
    rules: Rules, equations: Sequence[CheckedEquation], indices: Sequence[int], coef: Any
) -> float:
    """Return the largest relative gradient on the nonzero coefficients that no multipliers explain.

    At a constrained optimum the gradient is a combination of the rows of the constraints, with multipliers >= 0 for the
    active inequalities and bounds.
    """
    from scipy.optimize import nnls

    slopes: dict[int, float] = {}
    norms: dict[int, float] = {}
    for equation, e in zip(equations, indices, strict=True):
        own = coef[e, list(equation.columns)]
        size = equation.size(own)
        for j in np.flatnonzero(own).tolist():
            v = e * rules.width + equation.columns[j]
            slopes[v], norms[v] = equation.slope(own, j), equation.norms[j] * size
    if not slopes:
        return 0.0
    order = sorted(slopes)
    target = np.array([slopes[v] / norms[v] for v in order])
    x = coef.ravel()
    columns = [sign * _column(row, order, norms) for row in rules.equalities for sign in (1.0, -1.0)]
    columns += [_column(row, order, norms) for row in rules.inequalities if _active(row, x)]
    for i, v in enumerate(order):
        unit = np.zeros(len(order))
        unit[i] = 1.0
        ends = [(rules.upper[v], 1.0), (rules.lower[v], -1.0)]
        sizes = ((rules.least[v], -1.0), (rules.most[v], 1.0))
        ends += [(s * limit, s * t) for s in (1, -1) for limit, t in sizes if limit]
        columns += [sign * unit for end, sign in ends if np.isfinite(end) and abs(x[v] - end) <= 1e-7 * abs(end)]
    kept = [c / np.abs(c).max() for c in columns if np.any(c)]
    if not kept:
        return float(np.abs(target).max())
    matrix = np.column_stack(kept)
    multipliers, _ = nnls(matrix, target, maxiter=1000 + 100 * matrix.shape[1])
    return float(np.abs(target - matrix @ multipliers).max())


def _column(row: Row, order: Sequence[int], norms: dict[int, float]) -> NDArray[np.float64]:
    coefs = dict(zip(row.variables, row.coefs, strict=True))
    return np.array([coefs.get(v, 0.0) / norms[v] for v in order])


def _active(row: Row, x: NDArray[np.float64]) -> bool:
    excess, size = _excess(row, x)
    return excess > -1e-7 * size


def constrained_findings(claim: Claim, rules: Rules) -> Findings:
    """Look at a claim about equations under constraints."""
    least, reason = _least(claim, rules)
    if claim.claimed == "infeasible":
        return Findings(least=least, reason=reason)
    coef = np.zeros((len(rules.problem.target_names), rules.width))
    coef[list(claim.rows)] = claim.coef
    support: list[tuple[int, ...]] = [()] * len(coef)
    for row, chosen in zip(claim.rows, claim.support, strict=True):
        support[row] = chosen
    return Findings(
        wrong=(*claim.misplaced(), *violations(rules, coef, support, claim.rows)),
        # Multipliers of cones are not looked for: there the gradient stays unchecked.
        gradient=None if rules.convex else unexplained_gradient(rules, claim.equations, claim.rows, coef),
        steep=_GRADIENT,
        least=least,
        reason=reason,
        relative=_RELATIVE,
        partly=rules.t_level > 0,  # nothing here recomputes the t-values of Significant
    )


def _least(claim: Claim, rules: Rules) -> tuple[Interval | None, str]:
    """Return the least objective of all supports that satisfy the constraints, or None and why it is not known."""
    if rules.convex:
        return None, "supports under Quadratic and semidefinite constraints are not looked at"
    if rules.t_level:
        return None, "supports under Significant are not looked at"
    per_equation = [
        [e * rules.width + j for j in eq.columns] for e, eq in zip(claim.rows, claim.equations, strict=True)
    ]
    everything = [v for variables in per_equation for v in variables]
    budgets = [(everything, claim.budget), *zip(per_equation, claim.caps, strict=True)]
    ridge = np.zeros((len(rules.problem.target_names), rules.width))
    for row, equation in zip(claim.rows, claim.equations, strict=True):
        ridge[row, list(equation.columns)] = equation.ridge
    stacked = Stacked.of(rules, claim.rows, ridge, [equation.weight for equation in claim.equations], budgets)
    if count_supports(stacked) > _MOST_SUPPORTS:
        return None, TOO_MANY
    best = min((support_value(stacked, s)[0] for s in supports(stacked)), default=math.inf) + stacked.constant
    return Interval(best, best * (1 + _RELATIVE)), ""

"""Checking a solution under constraints: satisfaction, objective, stationarity and, where few, all supports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from exactsindy.certificate.counting import count_supports, support_value, supports
from exactsindy.certificate.exact import Equation, as_float
from exactsindy.certificate.verification import TOO_MANY, EquationCheck
from exactsindy.constraints import Cone, Row, Rules, Stacked

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Constraints hold to this share of what they add up.
SATISFIED = 1e-9
#: Relative gradient that no multipliers of active constraints explain.
_GRADIENT = 1e-9
#: More supports are not enumerated: each takes about 0.1 ms.
_MOST_SUPPORTS = 20_000
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


def unexplained_gradient(rules: Rules, equations: Sequence[Equation], indices: Sequence[int], coef: Any) -> float:
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


def check(
    rules: Rules,
    equations: Sequence[Equation],
    indices: Sequence[int],
    coef: NDArray[np.float64],
    ridge: NDArray[np.float64],
    budgets: Sequence[tuple[Sequence[int], int]],
    claim: Any,
    feasibility: Sequence[str],
) -> EquationCheck:
    """Check the claim about equations that belong together; ``feasibility`` holds what was found wrong already."""
    name = ", ".join(equation.name for equation in equations)
    pairs = [(eq, coef[e, list(eq.columns)].tolist()) for eq, e in zip(equations, indices, strict=True)]
    best, reason = _least(rules, equations, indices, ridge, budgets)
    if claim.infeasible:
        return _infeasible(name, best, reason)
    value = as_float(sum((equation.objective(x) for equation, x in pairs), Fraction(0)))
    floor = math.hypot(*(equation.floor(x) for equation, x in pairs))
    tolerance = _RELATIVE * value + 2 * math.sqrt(value) * floor + floor**2
    wrong = []
    if not abs(claim.objective - value) <= tolerance:
        wrong.append(f"the objective is claimed to be {claim.objective!r}, but the coefficients give {value!r}.")
    # Multipliers of cones are not looked for: there the gradient stays unchecked.
    gradient = None if rules.convex else unexplained_gradient(rules, equations, indices, coef)
    steep = []
    if gradient is not None and gradient > _GRADIENT:
        steep.append(f"the coefficients are not optimal on their support (relative gradient {gradient:.1e}).")
    loose = _loose(claim, best, tolerance)
    optimal = None if best is None else bool(max(claim.objective, value) <= best + tolerance + _RELATIVE * best)
    beaten = []
    if claim.optimal and optimal is False:
        beaten.append(f"the status says optimal at {claim.objective!r}, but a support has the objective {best!r}.")
    return EquationCheck(
        target=name,
        claimed=claim.claimed,
        # Nothing here recomputes the t-values of Significant.
        feasible=False if feasibility else None if rules.t_level else True,
        objective=not wrong,
        objective_error=abs(claim.objective - value) / value if value else float(claim.objective != 0),
        stationary=None if gradient is None else not steep,
        gradient=gradient,
        bound=not loose,
        optimality="not checked" if best is None else "enumerated",
        optimal=optimal,
        margin=None,
        failures=(*feasibility, *wrong, *steep, *loose, *beaten),
        reason=reason,
    )


def _infeasible(name: str, best: float | None, reason: str) -> EquationCheck:
    """Check the claim that no support satisfies the constraints: there are no coefficients to look at."""
    beaten = [] if best in (None, math.inf) else [f"infeasible is claimed, but a support has the objective {best!r}."]
    return EquationCheck(
        target=name,
        claimed="infeasible",
        feasible=None,
        objective=None,
        objective_error=None,
        stationary=None,
        gradient=None,
        bound=None,
        optimality="not checked" if best is None else "enumerated",
        optimal=None if best is None else not beaten,
        margin=None,
        failures=tuple(beaten),
        reason=reason,
    )


def _loose(claim: Any, best: float | None, tolerance: float) -> list[str]:
    """Return what is wrong with the lower bound; ``best`` is the least objective of all supports, where known."""
    failures = []
    if not claim.lower_bound <= claim.objective + tolerance:
        failures.append(f"the lower bound {claim.lower_bound!r} exceeds the objective {claim.objective!r}.")
    if best is not None and claim.lower_bound > best + tolerance + _RELATIVE * best:
        failures.append(f"the lower bound is {claim.lower_bound!r}, but a support has the objective {best!r}.")
    return failures


def _least(
    rules: Rules,
    equations: Sequence[Equation],
    indices: Sequence[int],
    ridge: NDArray[np.float64],
    budgets: Sequence[tuple[Sequence[int], int]],
) -> tuple[float | None, str]:
    """Return the least objective of all supports that satisfy the constraints, or None and why it is not known."""
    if rules.convex:
        return None, "supports under Quadratic and semidefinite constraints are not looked at"
    if rules.t_level:
        return None, "supports under Significant are not looked at"
    stacked = Stacked.of(rules, indices, ridge, [eq.weight for eq in equations], budgets)
    if count_supports(stacked) > _MOST_SUPPORTS:
        return None, TOO_MANY
    best = min((support_value(stacked, s)[0] for s in supports(stacked)), default=math.inf) + stacked.constant
    return best, ""

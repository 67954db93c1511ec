"""Check the claims of a solution from its problem alone; shares no code with the solvers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from exactsindy.certificate import constrained
from exactsindy.certificate.exact import GRADIENT, RELATIVE, Equation, NormalEquations, as_float, tolerance
from exactsindy.certificate.ranking import Ranking, combine, countable, rank
from exactsindy.certificate.record import Claims
from exactsindy.certificate.verification import TOO_MANY, Claimed, EquationCheck, Verification
from exactsindy.constraints import compile_rules
from exactsindy.errors import ProblemError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from exactsindy.problem import Problem


def verify(problem: Problem, solution: Claims) -> Verification:
    """Recompute what a solution claims, independently of the solver that found it.

    Supports, objective, stationarity and bound are checked in exact arithmetic. Where there are at most 1e6
    supports of the size asked for, all are looked at: none may have an objective below the claimed lower
    bound, and none a better one than an answer called optimal, whatever gap is claimed: one found with a coarse
    ``Settings.gap`` passes only if it is the best all the same.

    A claimed value v passes if it is right to 1e-9 v plus the rounding of a residual norm computed in
    doubles, 64 sqrt(D + 1) eps (|y| + sum |xi_j| |theta_j|). At that level (an exact fit) margins are not
    checked.

    Parameters
    ----------
    problem
        The problem the solution is meant for.
    solution
        The claims: a `Solution`, or anything with its attributes.

    Returns
    -------
    Verification
        Its ``ok`` says whether all holds, its text what was found.

    Raises
    ------
    ProblemError
        The shapes of the claims do not fit the problem.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from exactsindy.problem import Problem
    >>> problem = Problem.from_arrays(np.eye(3), np.array([3.0, 2.0, 1.0]), target_names=["x'"])
    >>> claims = SimpleNamespace(
    ...     coef=np.array([[3.0, 0.0, 0.0]]), support=((0,),), objective=[5.0], lower_bound=[5.0], gap=[0.0],
    ...     margin=[1.0], status=("optimal",), problem=problem, ridge=np.zeros((1, 3)), k=(1,))
    >>> verify(problem, claims).ok
    True
    """
    coef, ridge = np.asarray(solution.coef, dtype=np.float64), np.asarray(solution.ridge, dtype=np.float64)
    joint = not isinstance(solution.k, Sequence)
    if getattr(solution, "constraints", ()):
        return _verify_constrained(problem, solution, coef, ridge)
    _check_shapes(problem, solution, coef, ridge, joint=joint)
    count = len(problem.target_names)
    weights = _weights(problem, solution.k.weights) if joint else [1.0] * count
    equations = [Equation.of(problem, j, ridge[j], weights[j]) for j in range(count)]
    if joint:
        caps = _caps(problem, getattr(solution.k, "caps", None), int(solution.k.k))
        checks = [_check(_claim(solution, 0, range(count), solution.k.k, caps), equations, coef)]
    else:
        checks = [
            _check(
                _claim(solution, j, range(j, j + 1), solution.k[j], [solution.k[j]]), [equations[j]], coef[j : j + 1]
            )
            for j in range(count)
        ]
    return Verification(tuple(checks), solution.problem.fingerprint == problem.fingerprint)


def _verify_constrained(
    problem: Problem, solution: Claims, coef: NDArray[np.float64], ridge: NDArray[np.float64]
) -> Verification:
    """Check a solution under constraints, one entry of its arrays after the other."""
    shared = not isinstance(solution.k, Sequence)
    count, entries = len(problem.target_names), len(solution.status)
    _check_shapes(problem, solution, coef, ridge, joint=shared or entries < count)
    rules = compile_rules(problem, solution.constraints)  # type: ignore[attr-defined]
    weights = _weights(problem, solution.k.weights) if shared else [1.0] * count
    everything = [Equation.of(problem, j, ridge[j], weights[j]) for j in range(count)]
    sizes = [count * len(problem.names)] * count if shared else [int(size) for size in solution.k]
    checks = []
    for i in range(entries):
        rows = range(count) if entries < count or shared else range(i, i + 1)
        own = [[e * rules.width + j for j in everything[e].columns] for e in rows]
        budgets = [(vs, sizes[e]) for vs, e in zip(own, rows, strict=True)]
        if shared:
            caps = _caps(problem, getattr(solution.k, "caps", None), int(solution.k.k))
            budgets = [([v for vs in own for v in vs], int(solution.k.k)), *zip(own, caps, strict=True)]
        allowed = solution.k.k if shared else sum(sizes[e] for e in rows)
        claim = _claim(solution, i, rows, allowed, [allowed] * len(rows))
        equations = [everything[e] for e in rows]
        wrong: list[str] = []
        if not np.isfinite(coef[list(rows)]).all():
            checks.append(_not_finite(claim, ", ".join(equation.name for equation in equations), wrong))
            continue
        if not claim.infeasible:
            wrong += _misplaced(claim, equations, coef[list(rows)], budgets, rules.width, rows)
            wrong += constrained.violations(rules, coef, solution.support, rows)
        checks.append(constrained.check(rules, equations, rows, coef, ridge, budgets, claim, wrong))
    return Verification(tuple(checks), solution.problem.fingerprint == problem.fingerprint)


def _misplaced(
    claim: _Claim,
    equations: Sequence[Equation],
    coef: NDArray[np.float64],
    budgets: Sequence[tuple[Sequence[int], int]],
    width: int,
    rows: range,
) -> Iterator[str]:
    """Yield what is wrong with supports: too many terms, terms that do not exist, coefficients elsewhere."""
    present = {e * width + j for e, support in zip(rows, claim.support, strict=True) for j in support}
    for variables, limit in budgets:
        used = len(present & set(variables))
        if used > limit:
            yield f"{used} terms are claimed where k = {limit} are allowed."
    for equation, support, row in zip(equations, claim.support, coef, strict=True):
        if sorted(set(support)) != list(support) or not set(support) <= set(equation.columns):
            yield f"{support} is no increasing list of terms of the library of {equation.name}."
        outside = sorted(set(np.flatnonzero(row).tolist()) - set(support))
        if outside:
            yield f"terms {outside} have coefficients in {equation.name} but are not in its support."


def _check_shapes(
    problem: Problem, solution: Claims, coef: NDArray[np.float64], ridge: NDArray[np.float64], *, joint: bool
) -> None:
    shape = (len(problem.target_names), len(problem.names))
    for name, array in (("coef", coef), ("ridge", ridge)):
        if array.shape != shape:
            raise ProblemError(
                f"solution.{name} has shape {array.shape}, but the problem has {shape[0]} equations and "
                f"{shape[1]} terms: expected {shape}. Was it found for another problem?"
            )
    lengths = {name: 1 if joint else shape[0] for name in ("objective", "lower_bound", "gap", "margin", "status")}
    lengths["support"] = shape[0]
    if isinstance(solution.k, Sequence):
        lengths["k"] = shape[0]
    for name, expected in lengths.items():
        length = len(getattr(solution, name))
        if length != expected:
            raise ProblemError(f"solution.{name} has {length} entries: expected {expected}.")


def _weights(problem: Problem, weights: Sequence[float] | Mapping[str, float] | None) -> list[float]:
    count = len(problem.target_names)
    if weights is None:
        return [1.0] * count
    if not isinstance(weights, Mapping):
        return [float(weight) for weight in weights]
    named = _by_row(problem, weights)
    return [float(named.get(j, 1.0)) for j in range(count)]


def _caps(problem: Problem, caps: int | Sequence[int] | Mapping[str, int] | None, budget: int) -> list[int]:
    """Return the most terms of each equation that shares a budget."""
    count = len(problem.target_names)
    if isinstance(caps, Mapping):
        named = _by_row(problem, caps)
        return [int(named.get(j, budget)) for j in range(count)]
    if caps is None or not isinstance(caps, Sequence | np.ndarray):
        return [budget if caps is None else int(caps)] * count
    return [int(cap) for cap in caps]


def _by_row(problem: Problem, given: Mapping[str, Any]) -> dict[int, Any]:
    """Return what is given for target names by the number of the target."""
    places = [problem.locate(j) for j in range(len(problem.target_names))]
    rows = {}
    for name, value in given.items():
        block, column = problem.locate(name)
        rows[next(j for j, place in enumerate(places) if place[0] is block and place[1] == column)] = value
    return rows


@dataclass(frozen=True)
class _Claim:
    """One claim: what is said about one equation, or about all that share a budget."""

    support: tuple[tuple[int, ...], ...]
    objective: float
    lower_bound: float
    gap: float
    margin: float
    claimed: Claimed
    budget: int
    caps: tuple[int, ...]

    @property
    def optimal(self) -> bool:
        """Whether the status says optimal."""
        return self.claimed == "optimal"

    @property
    def infeasible(self) -> bool:
        """Whether the status says infeasible."""
        return self.claimed == "infeasible"


def _claim(solution: Claims, i: int, rows: range, budget: int, caps: Sequence[int]) -> _Claim:
    status, bound = solution.status[i], float(solution.lower_bound[i])
    unproved: Claimed = "nothing" if bound == -math.inf else "bound"
    said: dict[str, Claimed] = {"OPTIMAL": "optimal", "INFEASIBLE": "infeasible"}
    return _Claim(
        support=tuple(tuple(int(j) for j in solution.support[row]) for row in rows),
        objective=float(solution.objective[i]),
        lower_bound=bound,
        gap=float(solution.gap[i]),
        margin=float(solution.margin[i]),
        claimed=said.get(str(getattr(status, "name", status)).upper(), unproved),
        budget=int(budget),
        caps=tuple(min(int(budget), int(cap)) for cap in caps),
    )


def _check(claim: _Claim, equations: Sequence[Equation], coef: NDArray[np.float64]) -> EquationCheck:
    own = [row[list(equation.columns)] for equation, row in zip(equations, coef, strict=True)]
    pairs = list(zip(equations, own, strict=True))
    name = ", ".join(equation.name for equation in equations)
    infeasible = _infeasibilities(claim, equations, coef)
    if not np.isfinite(coef).all():
        return _not_finite(claim, name, infeasible)
    value = as_float(sum((equation.objective(x) for equation, x in pairs), Fraction(0)))
    floor = math.hypot(*(equation.floor(x) for equation, x in pairs))
    gradient = max(e.gradient(x, np.flatnonzero(x).tolist()) for e, x in pairs)
    wrong = _objective_failures(claim, value, floor)
    steep = [] if gradient <= GRADIENT else [_STEEP.format(gradient)]
    ranking = _ranking(equations, claim)
    loose = _bound_failures(claim, ranking, floor)
    optimal, reason = _optimal(claim, ranking, value, floor)
    beaten = _optimality_failures(claim, ranking, optimal)
    near = _margin_failures(claim, ranking, floor)
    return EquationCheck(
        target=name,
        claimed=claim.claimed,
        feasible=not infeasible,
        objective=not wrong,
        objective_error=abs(claim.objective - value) / value if value else float(claim.objective != 0),
        stationary=not steep,
        gradient=gradient,
        bound=not loose,
        optimality="not checked" if reason else "enumerated",
        optimal=False if beaten else optimal,
        margin=None if near is None else not near,
        failures=(*infeasible, *wrong, *steep, *loose, *beaten, *(near or ())),
        reason=reason,
    )


def _not_finite(claim: _Claim, name: str, failures: Sequence[str]) -> EquationCheck:
    """Return the check of coefficients that cannot be computed with."""
    return EquationCheck(
        target=name,
        claimed=claim.claimed,
        feasible=False,
        objective=None,
        objective_error=None,
        stationary=None,
        gradient=None,
        bound=None,
        optimality="not checked",
        optimal=None,
        margin=None,
        failures=(*failures, "not all coefficients are finite numbers."),
    )


_STEEP = "the coefficients are not the least-squares fit on their support (relative gradient {:.1e})."


def _infeasibilities(claim: _Claim, equations: Sequence[Equation], coef: NDArray[np.float64]) -> list[str]:
    failures = []
    total = sum(len(support) for support in claim.support)
    if total > claim.budget:
        failures.append(f"{total} terms are claimed where k = {claim.budget} are allowed.")
    for equation, support, row, cap in zip(equations, claim.support, coef, claim.caps, strict=True):
        if len(support) > cap and len(equations) > 1:
            failures.append(f"{len(support)} terms are claimed for {equation.name}, whose cap is {cap}.")
        if sorted(set(support)) != list(support) or not set(support) <= set(equation.columns):
            failures.append(f"{support} is no increasing list of terms of the library of {equation.name}.")
        elif not NormalEquations(equation).independent([equation.columns.index(j) for j in support]):
            failures.append(f"columns {support} of {equation.name} are dependent: fewer terms do the same.")
        outside = sorted(set(np.flatnonzero(row).tolist()) - set(support))
        if outside:
            failures.append(f"terms {outside} have coefficients in {equation.name} but are not in its support.")
    return failures


def _objective_failures(claim: _Claim, value: float, floor: float) -> list[str]:
    if abs(claim.objective - value) <= tolerance(value, floor) or claim.objective == value:
        return []
    return [f"the objective is claimed to be {claim.objective!r}, but the coefficients give {value!r}."]


def _bound_failures(claim: _Claim, ranking: Ranking | None, floor: float) -> list[str]:
    """Return what is wrong with the bound and its gap."""
    objective, bound = claim.objective, claim.lower_bound
    failures = []
    if not bound <= objective + tolerance(abs(objective), floor):
        failures.append(f"the lower bound {bound!r} exceeds the objective {objective!r}.")
    gap = (objective - bound) / max(objective, floor**2) if objective > bound else 0.0
    if claim.gap < gap - RELATIVE * max(1.0, gap):
        failures.append(f"the gap is claimed to be {claim.gap:.3g}, but objective and bound give {gap:.3g}.")
    if ranking is not None:
        high = _least(ranking)[1]
        if bound > high + tolerance(high, floor):
            failures.append(f"the lower bound is {bound!r}, but a support has the objective {high!r}.")
    return failures


def _ranking(equations: Sequence[Equation], claim: _Claim) -> Ranking | None:
    capped = list(zip(equations, claim.caps, strict=True))
    if not all(countable(equation, cap) for equation, cap in capped):
        return None
    return combine([rank(equation, cap) for equation, cap in capped], claim.budget)


def _least(ranking: Ranking) -> tuple[float, float]:
    """Return between which numbers the least objective of all supports lies; they are nearly always equal."""
    least = [intervals[0] for intervals in ranking if intervals]
    return min(interval.low for interval in least), min(interval.high for interval in least)


def _optimal(claim: _Claim, ranking: Ranking | None, value: float, floor: float) -> tuple[bool | None, str]:
    """Return whether no support is better than one of this value, or None and why enumeration cannot say."""
    if ranking is None:
        return None, TOO_MANY
    low, high = _least(ranking)
    slack, objective = tolerance(high, floor), max(claim.objective, value)
    if not objective <= high + slack:
        return False, ""
    if max(objective, claim.lower_bound) > low + slack:
        return None, "too many supports are too close to tell apart"
    return True, ""


def _optimality_failures(claim: _Claim, ranking: Ranking | None, optimal: bool | None) -> list[str]:
    """Return why this is not the optimum it is said to be: a gap proves nothing, however it was asked for."""
    if claim.infeasible:
        return ["infeasible is claimed, but there are no constraints: the empty support is always there."]
    if ranking is None or not claim.optimal or optimal is not False:
        return []
    high = _least(ranking)[1]
    return [f"the status says optimal at {claim.objective!r}, but a support has the objective {high!r}."]


def _margin_failures(claim: _Claim, ranking: Ranking | None, floor: float) -> list[str] | None:
    if ranking is None or math.isnan(claim.margin) or not claim.objective > floor**2:
        return None
    size = sum(len(support) for support in claim.support)
    rivals = ranking[size] if size < len(ranking) else ()
    if len(rivals) < 2:
        right = claim.margin == math.inf
        return [] if right else [f"the margin is claimed to be {claim.margin!r}, but there is no rival."]
    claimed, rival = claim.objective * (1 + claim.margin), rivals[1]
    slack = 2 * tolerance(rival.high, floor)
    if rival.low - slack <= claimed <= rival.high + slack:
        return []
    true = rival.high / claim.objective - 1
    return [f"the margin is claimed to be {claim.margin!r}, but the next-best support gives {true:.6g}."]

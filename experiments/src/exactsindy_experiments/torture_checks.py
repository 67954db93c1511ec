"""What the solver says about one small equation against the exact values of all its supports.

Each function returns sentences on what is wrong; none: everything is right. Where the statement itself leaves
two answers open (a threshold within 1e-6, residual norms closer than the promised resolution), both are accepted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cmp_to_key
from itertools import islice, pairwise, product

import numpy as np

from exactsindy.solver import Member, Solution
from exactsindy_experiments.exact_values import ZERO, Array, ExactValues, Support, Value

EPS = float(np.finfo(np.float64).eps)
TIE = 2.0**-78  # values this close (relative) may count as equal: the solver compares 80 bits


def told_apart(exact: ExactValues, better: Value, worse: Value) -> bool:
    """Return True if the solver promises to tell two values apart: their residual norms differ by enough."""
    if exact.counts_as_zero(worse):
        return False
    blur = exact.resolution(better) + exact.resolution(worse)
    return exact.distance(better, worse) > blur + TIE * math.sqrt(better.share)


def objective_range(exact: ExactValues, value: Value) -> tuple[float, float]:
    """Return bounds of what the solver may say the objective is: exact to the last bits, but for the resolution."""
    blur = exact.resolution(value)
    off = (2 * math.sqrt(value.share) + blur) * blur * _double(exact.square * exact.unit)
    middle = _double(exact.exact(value))
    if exact.counts_as_zero(value):
        off = ZERO**2 * 4 * _double(exact.square * exact.unit) + off
    return max(middle * (1 - 4 * EPS) - off - 5e-324, 0.0), middle * (1 + 4 * EPS) + off + 5e-324


def counted(exact: ExactValues, sizes: Sequence[int]) -> list[Value]:
    """Return the supports of some sizes that may be called best: of those that count, all not told apart from the best.

    Supports within a threshold's band may count or not: those better than the best sure one are listed as well.
    """
    found: list[Value] = []
    for size in sizes:
        for value in exact.ascending(size):
            state = exact.admissible(value)
            if state != "no":
                found.append(value)
            if state == "yes":
                break
    sure = min((v for v in found if exact.admissible(v) == "yes"), key=cmp_to_key(Value.compare))
    near = []
    for size in sizes:
        for value in exact.ascending(size):
            if value.compare(sure) > 0 and exact.distance(sure, value) > exact.worst_resolution:
                break
            if exact.admissible(value) != "no" and not (value.compare(sure) > 0 and told_apart(exact, sure, value)):
                near.append(value)
    return near


def check_solution(exact: ExactValues, solution: Solution, size: int, row: int = 0) -> Iterator[str]:
    """Check support, objective, coefficients, bound and margin of one equation called optimal."""
    support = solution.support[row]
    value = exact.find(support)
    objective, bound = float(solution.objective[row]), float(solution.lower_bound[row])
    if value is None or exact.admissible(value) == "no":
        yield f"support {support} is not admissible"
        return
    best = counted(exact, range(size + 1))
    sure = [v for v in best if exact.admissible(v) == "yes"]
    if support not in [v.support for v in best]:
        yield f"support {support} has {_show(exact, value)}, but {best[0].support} has {_show(exact, best[0])}"
    elif len(sure) == len(best) and all(v.ties(best[0]) for v in best):
        first = min((v.support for v in best), key=lambda s: (len(s), s))
        if support != first:
            yield f"support {support} is called best, but {first} has exactly the same value and comes first"
    if sure:
        least = min(exact.exact(v) for v in sure)
        if Fraction(bound) > least:
            yield f"lower_bound {bound!r} is above the optimum {_double(least)!r}"
    low, high = objective_range(exact, value)
    if not low <= objective <= high:
        yield f"objective {objective!r} of {support} should be {_double(exact.exact(value))!r}"
    yield from _coefficients(exact, value, solution.coef[row])
    yield from _margin(exact, value, objective, float(solution.margin[row]))


def _coefficients(exact: ExactValues, value: Value, coef: Array) -> Iterator[str]:
    support = list(value.support)
    others = np.delete(np.arange(len(coef)), support)
    if np.any(coef[others] != 0):
        yield "a coefficient off the support is not 0"
    # Double-double leaves 2^-96 of the largest coefficient that the columns allow, relative to |z| / |a_j|.
    slack = 2.0**-90 * 1.7 / value.volume**2
    for j, true in zip(support, exact.coefficients(value.support), strict=True):
        allowed = 4 * EPS * abs(true) + Fraction(slack) * exact.reach(j) + Fraction(5e-324)
        if not math.isfinite(coef[j]) or abs(Fraction(float(coef[j])) - true) > allowed:
            yield f"coefficient {j} of {value.support} is {float(coef[j])!r}, but should be {_double(true)!r}"


def _margin(exact: ExactValues, value: Value, objective: float, margin: float) -> Iterator[str]:
    """Check (next-best support of the same size) / objective - 1."""
    if math.isnan(margin):
        yield "the margin of an optimal answer is nan"
        return
    low = high = math.inf
    for other in exact.ascending(len(value.support)):
        if other.support == value.support or exact.admissible(other) == "no":
            continue
        bounds = objective_range(exact, other)
        if bounds[0] > high:
            break
        low = min(low, bounds[0])
        if exact.admissible(other) == "yes":
            high = min(high, bounds[1])
    own_low, own_high = objective_range(exact, value)
    smallest = low / own_high - 1 if own_high > 0 else 0.0
    largest = high / own_low - 1 if own_low > 0 else math.inf
    slack = 8 * EPS * (1 + abs(margin)) if math.isfinite(margin) else 0.0
    if margin < 0 or not smallest - slack <= margin <= largest + slack:
        yield f"margin {margin!r} is outside [{smallest!r}, {largest!r}]"


def check_pool(
    exact: ExactValues, members: Sequence[Member], size: int, complete: bool, count: int | None, within: float | None
) -> Iterator[str]:
    """Check that a pool called complete holds the supports that were asked for, and nothing else, in order."""
    listed = [member.support for member in members]
    if len(set(listed)) != len(listed):
        yield "a support is listed twice"
    values: list[Value] = []
    for member in members:
        value = exact.find(member.support)
        if value is None or len(member.support) != size or exact.admissible(value) == "no":
            yield f"member {member.support} is not admissible"
            return
        values.append(value)
        low, high = objective_range(exact, value)
        if not low <= member.objective <= high:
            yield f"objective {member.objective!r} of {member.support} should be {_double(exact.exact(value))!r}"
    for a, b in pairwise(values):
        wrong = a.compare(b) > 0 and (
            told_apart(exact, b, a) or (a.ties(b) and (not a.top or not exact.counts_as_zero(a)))
        )
        if wrong:
            yield f"members {a.support} and {b.support} are in the wrong order"
    if complete:
        yield from _missing(exact, values, size, count, within)


def _missing(
    exact: ExactValues, values: list[Value], size: int, count: int | None, within: float | None
) -> Iterator[str]:
    """Yield what a complete pool lacks, or holds beyond what was asked for."""
    listed = {value.support for value in values}
    rivals = [v for v in exact.ascending(size) if v.support not in listed and exact.admissible(v) == "yes"]
    if within is not None:
        sure = next((v for v in exact.ascending(size) if exact.admissible(v) == "yes"), None)
        best = counted(exact, [size]) if sure else []
        most = (1 + within) * (objective_range(exact, sure)[1] if sure else math.inf) * (1 + 4 * EPS)
        least = (1 + within) * min((objective_range(exact, v)[0] for v in best), default=math.inf) * (1 - 4 * EPS)
        lacking = next((v for v in rivals if objective_range(exact, v)[1] < least), None)
        # Exact equals of the best belong to every pool, however small its numbers are.
        lacking = lacking or next((v for v in rivals if values and v.ties(values[0])), None)
        beyond = [v for v in values if objective_range(exact, v)[0] > most]
        yield from (f"member {v.support} is outside the share asked for" for v in beyond)
    else:
        count = count or 0
        full = len(values) >= count
        lacking = rivals[0] if rivals and (not full or told_apart(exact, rivals[0], values[-1])) else None
        lacking = lacking if not full or lacking is None or lacking.compare(values[-1]) < 0 else None
        if len(values) > count:
            yield f"{len(values)} members, but {count} were asked for"
    if lacking is not None:
        yield f"{lacking.support} with {_show(exact, lacking)} is missing from a pool called complete"


def check_total(
    parts: Sequence[ExactValues], weights: Sequence[float], solution: Solution, budget: int
) -> Iterator[str]:
    """Check support, objective and bound of a shared budget over several equations."""
    exact_weights = [Fraction(w) for w in weights]
    tables = [[_least(part, size) for size in range(part.size + 1)] for part in parts]
    best: dict[int, Fraction] = {0: Fraction(0)}
    for weight, table in zip(exact_weights, tables, strict=True):
        sums: dict[int, Fraction] = {}
        for used, value in best.items():
            for size, least in enumerate(table):
                if least is not None and used + size <= budget:
                    total = value + weight * least
                    sums[used + size] = min(sums.get(used + size, total), total)
        best = sums
    optimum = min(best.values())
    own, slack = Fraction(0), 0.0
    for part, weight, support in zip(parts, exact_weights, solution.support, strict=True):
        chosen = part.find(support)
        if chosen is None or part.admissible(chosen) == "no":
            yield f"support {support} is not admissible"
            return
        own += weight * part.exact(chosen)
        low, high = objective_range(part, chosen)
        slack += float(weight) * (high - low)
    objective, bound = float(solution.objective[0]), float(solution.lower_bound[0])
    if sum(len(support) for support in solution.support) > budget:
        yield "more terms than the budget"
    if _double(own - optimum) > 8 * EPS * _double(optimum) + 2 * slack:
        yield f"supports {solution.support} have {_double(own)!r}, but {_double(optimum)!r} is possible"
    if abs(_double(Fraction(objective) - own)) > 8 * EPS * _double(own) + slack:
        yield f"objective {objective!r} should be {_double(own)!r}"
    if Fraction(bound) > optimum:
        yield f"lower_bound {bound!r} is above the optimum {_double(optimum)!r}"
    margin, rival = float(solution.margin[0]), _next_best(parts, exact_weights, solution.support)
    if own and rival is not None and not math.isnan(margin):  # (a margin that costs too much is nan)
        true = _double(rival / own) - 1 if rival >= 0 else math.inf
        if not math.isclose(1 + margin, 1 + true, rel_tol=1e-12 + 4 * slack / _double(own)):
            yield f"margin {margin!r} should be {true!r}"


def _next_best(parts: Sequence[ExactValues], weights: Sequence[Fraction], chosen: Sequence[Support]) -> Fraction | None:
    """Return the least sum of values over other supports with as many terms in all; -1: none, None: left open."""
    total, two = sum(map(len, chosen)), []
    for part in parts:
        listed: list[Value] = []
        for size in range(min(part.size, total) + 1):
            listed += islice((v for v in part.ascending(size) if part.admissible(v) != "no"), 2)
        if any(part.admissible(v) == "either" for v in listed):
            return None
        two.append(listed)
    sums = [
        sum((w * part.exact(v) for w, part, v in zip(weights, parts, pick, strict=True)), Fraction(0))
        for pick in product(*two)
        if sum(len(v.support) for v in pick) == total and tuple(v.support for v in pick) != tuple(chosen)
    ]
    return min(sums, default=Fraction(-1))


def fuzzy(exact: ExactValues, size: int) -> bool:
    """Return True if a threshold leaves the best support of an equation open."""
    return any(exact.admissible(value) == "either" for value in counted(exact, range(size + 1)))


def _least(exact: ExactValues, size: int) -> Fraction | None:
    sure = (exact.exact(v) for v in exact.ascending(size) if exact.admissible(v) == "yes")
    return next(sure, None)


def _show(exact: ExactValues, value: Value) -> str:
    return f"{_double(exact.exact(value))!r}"


def _double(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf

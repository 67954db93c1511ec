"""Whether a changed answer is still true: the question is asked again, without any code of verify."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import exactsindy as es
from exactsindy.discovery import Discovery
from exactsindy.errors import ExactSindyError
from exactsindy.solver import Member

#: What `verify` documents to let pass: relative errors of objectives, and of what is computed under constraints.
_PLAIN, _CONSTRAINED = 2e-9, 3e-8


def still_true(forged: es.Solution) -> bool:
    """Return True if all claims of a solution hold, by solving its problem again."""
    problem, tolerance = forged.problem, _CONSTRAINED if forged.constraints else _PLAIN
    try:
        limits = es.Settings(coefficient_limit=forged.coefficient_limit)
        right = es.solve(problem, forged.k, ridge=forged.ridge, constraints=forged.constraints, settings=limits)
    except ExactSindyError:
        return False
    if len(right.status) != len(forged.status):
        return False
    if forged.conflict not in ((), right.conflict):
        return False
    # Where nothing is feasible, a search that says that it found nothing is right too.
    infeasible = [_nothing(forged, right, i) for i in range(len(forged.status))]
    if infeasible != [status is es.Status.INFEASIBLE for status in right.status]:
        return False
    if not all(infeasible) and not _fitted(forged, infeasible, tolerance):
        return False
    for i, status in enumerate(forged.status):
        if infeasible[i]:
            rows = range(len(forged.coef)) if forged.joint else [i]
            if any(forged.support[row] or forged.coef[row].any() for row in rows):
                return False
            if forged.objective[i] != math.inf or not math.isnan(forged.margin[i]):
                return False
            continue
        best, objective = float(right.objective[i]), float(forged.objective[i])
        if not forged.lower_bound[i] <= min(best, objective) * (1 + tolerance) + 1e-28:
            return False
        if status is es.Status.OPTIMAL and not objective <= best * (1 + tolerance) + 1e-28:
            return False
        if not math.isnan(forged.margin[i]) and not _same_margin(forged, right, i, tolerance):
            return False
    return True


def _nothing(forged: es.Solution, right: es.Solution, i: int) -> bool:
    if forged.status[i] is es.Status.INFEASIBLE:
        return True
    silent = forged.status[i] not in (es.Status.OPTIMAL, es.Status.REFITTED) and forged.objective[i] == math.inf
    return silent and right.status[i] is es.Status.INFEASIBLE and not forged.coef.any() and math.isnan(forged.margin[i])


def _same_margin(forged: es.Solution, right: es.Solution, i: int, tolerance: float) -> bool:
    claimed, true = float(forged.margin[i]), float(right.margin[i])
    if not forged.joint and not forged.constraints:
        size = len(forged.support[i])  # the margin is about supports of the same size
        two = es.solve_pool(forged.problem, size, count=2, ridge=forged.ridge)[i]
        true = two[1].objective / float(forged.objective[i]) - 1 if len(two) > 1 else math.inf
    if right.exact_fit[i]:
        return claimed > 1e6  # next to an exact fit only "much worse" has a meaning
    if sum(map(len, forged.support)) != sum(map(len, right.support)) and forged.joint:
        return False
    return claimed == true or abs(claimed - true) <= 4 * tolerance * (1 + abs(true))


def _fitted(forged: es.Solution, infeasible: Sequence[bool], tolerance: float) -> bool:
    """Return True if the coefficients are the best fit on the support, with the objective claimed."""
    if isinstance(forged.k, es.Total):
        if sum(map(len, forged.support)) > forged.k.k or any(
            len(chosen) > cap for chosen, cap in zip(forged.support, forged.caps, strict=False)
        ):
            return False
    elif any(len(chosen) > size for chosen, size in zip(forged.support, forged.k, strict=True)):
        return False
    off = np.array(forged.coef, dtype=float)
    for row, chosen in enumerate(forged.support):
        off[row, list(chosen)] = 0.0
    if not np.isfinite(forged.coef).all() or off.any():
        return False
    if any(isinstance(constraint, es.constraints.Significant) for constraint in forged.constraints):
        return _same_as(forged, es.solve(forged.problem, forged.k, constraints=forged.constraints))
    supports = [list(chosen) for chosen in forged.support]
    presence = [
        constraint
        for e, chosen in enumerate(supports)
        for j in range(len(forged.problem.names))
        for constraint in [(es.constraints.Require if j in chosen else es.constraints.Forbid)(e, j)]
    ]
    if forged.constraints:
        asked = [*forged.constraints, *presence]
        try:
            right = es.solve(forged.problem, forged.k, ridge=forged.ridge, constraints=asked)
        except ExactSindyError:
            return False
    else:
        right = es.refit(forged.problem, supports, ridge=forged.ridge)
    return _same_as(forged, right, infeasible, tolerance)


def _same_as(
    forged: es.Solution, right: es.Solution, infeasible: Sequence[bool] = (), tolerance: float = _CONSTRAINED
) -> bool:
    value = np.asarray(right.objective, dtype=float)
    if isinstance(forged.k, es.Total) and len(value) != len(forged.objective):
        weights = np.ones(len(value)) if forged.k.weights is None else np.array(list(forged.k.weights), dtype=float)
        penalty = np.sum(forged.ridge * right.coef**2, axis=1)
        value = np.array([float(np.sum(weights * (value - penalty) + penalty))])
    skip = list(infeasible) or [False] * len(value)
    rows = [row for row in range(len(forged.coef)) if len(skip) < len(forged.coef) or not skip[row]]
    same = [np.abs(forged.coef[row] - right.coef[row]) <= _allowed(forged, right.coef[row], row) for row in rows]
    close = np.isclose(forged.objective, value, rtol=tolerance, atol=1e-28)
    return all(map(np.all, same)) and all(ok or skip[i] for i, ok in enumerate(close))


def _allowed(forged: es.Solution, coef: Any, row: int) -> Any:
    """Return by how much coefficients may be off: what rounding in doubles does to them on this support."""
    block, _ = forged.problem.locate(row)
    columns = forged.problem.columns(block)
    norms = np.where(block.column_norms > 0, block.column_norms, 1.0)
    chosen = [i for i, j in enumerate(columns) if j in forged.support[row]]
    least = float(np.linalg.svd((block.theta_factor / norms)[:, chosen], compute_uv=False)[-1]) if chosen else 1.0
    size = float(np.sqrt(forged.problem.rss(np.zeros_like(forged.coef))[row]) + np.sum(np.abs(coef[columns]) * norms))
    share = 1e-11 if forged.constraints else 1e-13
    allowed = 2e-12 * np.abs(coef)
    allowed[columns] += share * size / norms / max(least, 1e-12)
    return allowed


def same_members(forged: list[Member], right: list[Member]) -> bool:
    """Return True if two lists of rivals are the same, to the accuracy that is asked of them."""
    if [m.support for m in forged] != [m.support for m in right]:
        return False
    return all(
        np.allclose([a.objective, *a.terms.values()], [b.objective, *b.terms.values()], rtol=2e-9, atol=0.0)
        and abs(a.excess - b.excess) <= 4e-9 * (1 + b.excess)
        for a, b in zip(forged, right, strict=True)
    )


def shown_rows(found: Discovery) -> list[str]:
    """Return the rows of the table that show the path, without the values of the criterion."""
    chosen = [(choice.equation, choice.variant, choice.ridge) for choice in found.selection.choices]
    rows = [row for row in found.selection.table if (row.equation, row.variant, row.ridge) in chosen]
    return [repr(replace(row, value=0.0)) for row in rows]


def same_claims(forged: Discovery, right: Discovery) -> bool:
    """Return True if everything beside the solutions says the same, to the accuracy of what is computed again."""
    if forged.about != right.about or (forged.pool is None) != (right.pool is None):
        return False
    if repr(forged.selection.table) != repr(right.selection.table):
        return False
    if repr((forged.constants, forged.tried)) != repr((right.constants, right.tried)):
        return False
    if (forged.selection.choices, forged.selection.rule) != (right.selection.choices, right.selection.rule):
        return False
    if forged.pool is not None and right.pool is not None:
        if forged.pool.complete != right.pool.complete and any(
            claimed and not known
            for claimed, known in zip(forged.pool.complete.values(), right.pool.complete.values(), strict=True)
        ):
            return False
        if any(not same_members(list(forged.pool[e]), list(right.pool[e])) for e in right.pool.members):
            return False
    for row, other in zip(forged.model.rows, right.model.rows, strict=True):
        if row.text(None) != other.text(None) or len(row.standard_errors or ()) != len(other.standard_errors or ()):
            return False
        mine, its = np.array(row.standard_errors or ()), np.array(other.standard_errors or ())
        if not np.allclose(mine, its, rtol=2e-6, atol=0.0, equal_nan=True):
            return False
    for claim, known in zip(forged.model.certificates, right.model.certificates, strict=True):
        if replace(claim, gap=0.0).to_json() != replace(known, gap=0.0).to_json():
            return False
        if abs(claim.gap - known.gap) > 2e-6 * abs(known.gap) + 1e-14:
            return False
    return forged.selection.inclusion == right.selection.inclusion

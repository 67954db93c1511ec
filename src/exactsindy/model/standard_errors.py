"""Standard errors of coefficients, given the support and what constraints leave free."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from exactsindy._types import Array
from exactsindy.constraints import Rules, compile_rules
from exactsindy.problem import Problem
from exactsindy.solver import Total, total

if TYPE_CHECKING:
    from exactsindy.solver import Solution

# An inequality is met with equality if it is off by at most this share of its largest part: constrained fits meet
# their bounds to rounding, and free coefficients do not come so near by chance.
_MET = 1e-9
# A coefficient that varies by less than this share of its natural size is decided by the constraints.
_DECIDED = 1e-9

Errors = tuple[float, ...] | None


def standard_errors(solution: Solution) -> list[Errors]:
    r"""Return the standard errors of the coefficients of each equation, ``None`` where they do not exist.

    With R_S the columns of the support, sigma^2 = RSS / (n - k) and Lambda the ridge, the covariance is
    sigma^2 (R_S'R_S + Lambda)^-1 R_S'R_S (R_S'R_S + Lambda)^-1, which is sigma^2 (R_S'R_S)^-1 without ridge.
    It assumes that the support is the right one and that residuals are white: independent, of one variance.
    Overlapping weak windows and noise that enters through the library break that, and make the true errors
    larger. There are none for n <= k or dependent columns.

    Linear constraints leave the coefficients only the null space of their rows: of equalities, and of inequalities,
    bounds and sizes that are met. The covariance is that of the fit within it, for all equations that they bind
    together, each with a sigma of its own; k is then the number of freely fitted directions that the equation takes.
    A coefficient that constraints decide has no standard error (nan). Quadratic and semidefinite constraints are
    treated as if they were not met.
    """
    problem, coef = solution.problem, np.asarray(solution.coef, dtype=float)
    ridge = np.broadcast_to(np.asarray(solution.ridge, dtype=float), coef.shape)
    count = len(problem.target_names)
    weights = total(problem, solution.k)[1] if isinstance(solution.k, Total) else np.ones(count)
    rules = compile_rules(problem, solution.constraints) if solution.constraints else None
    groups = [(i,) for i in range(count)] if rules is None else rules.components()
    results: list[Errors] = [None] * count
    for group in groups:
        supports = [[int(j) for j in solution.support[i]] for i in group]
        fixed = None if rules is None else _rows_met(rules, group, supports, coef)
        for i, errors in zip(group, _of_group(problem, group, supports, coef, ridge, weights, fixed), strict=True):
            results[i] = errors
    return results


def _of_group(
    problem: Problem,
    group: Sequence[int],
    supports: Sequence[Sequence[int]],
    coef: Array,
    ridge: Array,
    weights: Array,
    fixed: Array | None,
) -> list[Errors]:
    """Return the standard errors of equations that are fitted together, ``fixed @ coefficients`` being given."""
    sizes = [len(support) for support in supports]
    none: list[Errors] = [None] * len(group)
    parts = [_columns(problem, i, support) for i, support in zip(group, supports, strict=True)]
    penalty = np.concatenate([ridge[i, support] for i, support in zip(group, supports, strict=True)])
    square = [np.einsum("ij,ij->j", part, part) * weights[i] for i, part in zip(group, parts, strict=True)]
    # Columns of size one: the rank decision must not depend on units.
    scale = np.sqrt(np.concatenate(square) + penalty)
    if not sum(sizes) or not (scale > 0).all():
        return none
    free = np.eye(sum(sizes)) if fixed is None or not len(fixed) else _null_space(fixed / scale)
    # Blocks of rows, one per equation, over the free directions; the rows of the ridge stand below them.
    spans = [slice(int(a), int(b)) for a, b in pairwise(np.cumsum([0, *sizes]))]
    blocks = [
        np.sqrt(weights[i]) * part / scale[span] @ free[span] for i, part, span in zip(group, parts, spans, strict=True)
    ]
    if not free.shape[1]:
        return [(np.nan,) * size if size else None for size in sizes]
    triangle = np.linalg.qr(np.vstack([*blocks, (np.sqrt(penalty) / scale)[:, None] * free]), mode="r")
    singular = np.linalg.svd(triangle, compute_uv=False)
    if len(singular) < free.shape[1] or singular[-1] <= free.shape[1] * np.finfo(float).eps * singular[0]:
        return none
    inverse = np.linalg.inv(triangle)
    variance = np.zeros(sum(sizes))
    for i, size, block in zip(group, sizes, blocks, strict=True):
        if not size:
            continue
        projected = block @ inverse
        # Without ridge this is the number of directions that the equation takes: k if nothing binds it to others.
        taken = float((projected**2).sum()) if fixed is not None and len(fixed) else size
        owner, j = problem.locate(i)
        freedom = owner.n_samples - taken
        if freedom <= 0:
            return none
        sigma = np.sqrt(weights[i] * owner.rss(j, coef[i, problem.columns(owner)]) / freedom)
        variance += (sigma * np.linalg.norm(free @ (projected @ inverse.T).T, axis=1)) ** 2
    spread = np.where(np.linalg.norm(free, axis=1) > _DECIDED, np.sqrt(variance) / scale, np.nan)
    return [tuple(map(float, spread[span])) if size else None for size, span in zip(sizes, spans, strict=True)]


def _columns(problem: Problem, target: int, support: Sequence[int]) -> Array:
    """Return the columns of a support in the triangular factor of an equation's regression."""
    block, _ = problem.locate(target)
    position = {int(column): i for i, column in enumerate(problem.columns(block))}
    return np.asarray(block.theta_factor[:, [position[index] for index in support]])


def _null_space(rows: Array) -> Array:
    """Return an orthonormal basis of the directions that the rows leave free."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = (rows / np.where(length > 0, length, 1.0))[length[:, 0] > 0]
    if not len(rows):
        return np.eye(rows.shape[1])
    _, singular, right = np.linalg.svd(rows, full_matrices=True)
    rank = int((singular > max(rows.shape) * np.finfo(float).eps * singular[0]).sum())
    return np.asarray(right[rank:].T)


def _rows_met(rules: Rules, group: Sequence[int], supports: Sequence[Sequence[int]], coef: Array) -> Array:
    """Return the rows over the present coefficients of some equations that these meet with equality."""
    present = [i * rules.width + j for i, support in zip(group, supports, strict=True) for j in support]
    position, flat = {v: n for n, v in enumerate(present)}, coef.ravel()
    met = list(rules.equalities)
    for row in rules.inequalities:
        parts = np.array(row.coefs) * flat[list(row.variables)]
        if abs(parts.sum() - row.rhs) <= _MET * max(float(np.abs(parts).max()), abs(row.rhs)):
            met.append(row)
    lines = []
    for row in met:
        line = np.zeros(len(present))
        for v, value in zip(row.variables, row.coefs, strict=True):
            if v in position:
                line[position[v]] = value
        if line.any():
            lines.append(line)
    for v, n in position.items():
        limits = (rules.lower[v], rules.upper[v], rules.least[v], -rules.least[v], rules.most[v], -rules.most[v])
        if any(np.isfinite(limit) and abs(flat[v] - limit) <= _MET * abs(limit) for limit in limits):
            lines.append(np.eye(len(present))[n])
    return np.array(lines).reshape(len(lines), len(present))

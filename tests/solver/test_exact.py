"""The native search against plain enumeration: thousands of random and adversarial problems.

Three references, none sharing code with the search: `oracle.best_supports` (doubles, every size at once),
the enumeration backend (decides in exact integer arithmetic) and `oracle.exact_best` (rationals).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import oracle
from exactsindy.problem import Problem
from exactsindy.solver import Settings, Status, ridge_matrix, solve, solve_path, solve_pool
from exactsindy.solver.backends import enumeration
from exactsindy.solver.equations import equations_of
from slices import first

ONE = Settings(threads=1)
EPS = np.finfo(float).eps


def ordinary(rng, n_terms):
    """Independent or mildly correlated columns, few true terms, noise from 1e-3 to 3 of the signal."""
    n = int(rng.integers(n_terms + 2, 4 * n_terms))
    mixing = np.eye(n_terms) + rng.uniform(0, 1) * rng.standard_normal((n_terms, n_terms))
    theta = rng.standard_normal((n, n_terms)) @ mixing
    true = rng.choice(n_terms, size=min(3, n_terms), replace=False)
    return theta, theta[:, true].sum(axis=1) + 10 ** rng.uniform(-3, 0.5) * rng.standard_normal(n)


def collinear(rng, n_terms):
    theta, y = ordinary(rng, n_terms)
    common = rng.standard_normal((len(y), 1))
    return common + 10 ** rng.uniform(-7, -1) * theta, y


def duplicates(rng, n_terms):
    theta, y = ordinary(rng, n_terms)
    copies = rng.integers(0, n_terms, size=n_terms)
    chosen = rng.random(n_terms) < 0.4
    theta[:, chosen] = theta[:, copies[chosen]] * rng.choice([1.0, -1.0, 2.0, 0.3], size=chosen.sum())
    return theta, y


def near_duplicates(rng, n_terms):
    theta, y = ordinary(rng, n_terms)
    half = n_terms // 2
    theta[:, half : 2 * half] = theta[:, :half] * (1 + 1e-12 * rng.standard_normal((len(y), half)))
    return theta, y


def threshold(rng, n_terms):
    """Columns 1e-11 to 1e-15 apart: whether one counts as dependent changes from support to support."""
    theta, y = ordinary(rng, n_terms)
    for j in range(1, n_terms):
        if rng.random() < 0.5:
            apart = 10 ** rng.uniform(-15.5, -11) * rng.standard_normal(len(y))
            theta[:, j] = theta[:, rng.integers(j)] + apart
    if rng.random() < 0.7:
        true = rng.choice(n_terms, size=3, replace=False)
        y = theta[:, true] @ rng.standard_normal(3) + 10 ** rng.uniform(-16, 0) * rng.standard_normal(len(y))
    return theta, y


def few_rows(rng, n_terms):
    theta, y = ordinary(rng, n_terms)
    n = int(rng.integers(1, n_terms))
    return theta[:n], y[:n]


def zero_target(rng, n_terms):
    theta, y = ordinary(rng, n_terms)
    return theta, np.zeros_like(y)


def exact_fit(rng, n_terms):
    theta, _ = ordinary(rng, n_terms)
    true = rng.choice(n_terms, size=min(3, n_terms), replace=False)
    return theta, theta[:, true] @ rng.integers(1, 4, size=len(true))


def scaled(rng, n_terms):
    theta, y = ordinary(rng, n_terms)
    return theta * 10.0 ** rng.uniform(-8, 8, size=n_terms), y * 10.0 ** rng.uniform(-8, 8)


def integers(rng, n_terms):
    n = int(rng.integers(2, 2 * n_terms))
    return rng.integers(-1, 2, size=(n, n_terms)).astype(float), rng.integers(-2, 3, size=n).astype(float)


def zero_columns(rng, n_terms):
    theta, y = ordinary(rng, n_terms)
    theta[:, rng.random(n_terms) < 0.3] = 0.0
    return theta, y


ADVERSARIAL = [
    collinear,
    duplicates,
    near_duplicates,
    threshold,
    few_rows,
    zero_target,
    exact_fit,
    scaled,
    integers,
    zero_columns,
]


def ridge_of(rng, theta):
    kind = rng.integers(3)
    if kind == 0:
        return 0.0
    scale = float(np.mean(theta**2)) * len(theta) or 1.0
    return 10 ** rng.uniform(-8, -1) * scale * (1.0 if kind == 1 else rng.uniform(0, 1, size=theta.shape[1]))


def exact_value(theta, y, ridge, support):
    """Least objective on a support over the rationals, without the part of the target off all columns."""
    columns = list(support)
    values = oracle.exact_supports(theta[:, columns], y, len(columns), ridge[columns])
    return values[tuple(range(len(columns)))]


def resolution(problem, solution, row):
    """What the canonical fit can tell apart: residual norms to 2^-96 of |y| + sum |xi_j| |theta_j|."""
    norms = problem.blocks[0].column_norms
    size = np.sqrt(problem.rss(np.zeros_like(solution.coef))[row]) + np.abs(solution.coef[row]) @ norms
    return float(size) * 2.0**-94


def check_equation(problem, row, size, ridge, solution):
    """One equation of a solution against the enumeration backend on the same stored doubles."""
    block, j = problem.locate(row)
    z, _ = block.target(j)
    weights = np.broadcast_to(np.asarray(ridge, dtype=float), len(block.names)).copy()
    equation = equations_of(problem, ridge_matrix(problem, ridge))[row]
    want = enumeration.solve_equation(equation, size, Settings())
    support = want.answers[0].support
    assert solution.status[row] is Status.OPTIMAL
    assert want.stop is None
    label = f"want {support} {want.objective!r}, got {solution.support[row]} {solution.objective[row]!r}"
    if solution.support[row] != support:
        # Supports closer than 2^-79 (or below the resolution of the residual norm) are a tie for the search, decided
        # by size and order; the enumeration compares rationals. Nothing farther apart may be swapped.
        ours, theirs = (exact_value(block.theta_factor, z, weights, s) for s in (solution.support[row], support))
        blur = resolution(problem, solution, row)
        assert abs(float(ours) ** 0.5 - float(theirs) ** 0.5) <= blur + 2.0**-79 * float(theirs) ** 0.5, label
        return
    assert solution.objective[row] == pytest.approx(want.objective, rel=1e-13, abs=0), label
    assert solution.lower_bound[row] <= want.objective, label
    if math.isfinite(want.margin):
        # An objective at the rounding level of its constant leaves nothing to compare margins by.
        assert solution.margin[row] == pytest.approx(want.margin, rel=1e-6, abs=1e-12), label
    else:
        assert solution.margin[row] == want.margin


@pytest.mark.parametrize("seed", first(10, range(25)))
def test_every_size_of_ordinary_problems(seed):
    """100 problems a seed, all sizes at once from one path, several targets, weights, ridge."""
    rng = np.random.default_rng([1, seed])
    for i in range(100):
        n_terms = 14 if i % 10 == 0 else int(rng.integers(8, 11))
        theta, y = ordinary(rng, n_terms)
        targets = np.column_stack([y, rng.standard_normal(len(y))]) if i % 4 == 0 else y[:, None]
        weights = rng.uniform(0.1, 2.0, len(y)) if i % 3 == 0 else np.ones(len(y))
        ridge = ridge_of(rng, theta)
        largest = 4 if n_terms == 14 else n_terms
        path = solve_path(Problem.from_arrays(theta, targets, weights=weights), largest, ridge=ridge, settings=ONE)
        root = np.sqrt(weights)
        for row in range(targets.shape[1]):
            best = float(np.sum((root * targets[:, row]) ** 2))
            for size in range(1, largest + 1):
                found = oracle.best_supports(root[:, None] * theta, root * targets[:, row], size, ridge)
                order = np.argsort(found.values)
                best = min(best, float(found.values[order[0]]))
                got = path[size]
                assert got.status[row] is Status.OPTIMAL
                assert got.objective[row] == pytest.approx(best, rel=1e-10), (i, size)
                assert got.lower_bound[row] <= best * (1 + 1e-10)
                clear = len(order) > 1 and found.values[order[1]] > found.values[order[0]] * (1 + 1e-8)
                if clear and found.values[order[0]] < best * (1 + 1e-12) and len(got.support[row]) == size:
                    assert got.support[row] == tuple(found.supports[order[0]])
                    assert got.margin[row] == pytest.approx(
                        found.values[order[1]] / found.values[order[0]] - 1, rel=1e-6, abs=1e-8
                    )


@pytest.mark.parametrize("family", ADVERSARIAL, ids=lambda f: f.__name__)
@pytest.mark.parametrize("seed", range(4))
def test_adversarial_problems(family, seed):
    """Support, objective and margin equal those of exact enumeration on the stored doubles: 70 problems a case."""
    rng = np.random.default_rng([2, seed, ADVERSARIAL.index(family)])
    for i in range(70):
        n_terms = 14 if i % 35 == 0 else int(rng.integers(8, 11))
        theta, y = family(rng, n_terms)
        ridge = ridge_of(rng, theta) if i % 2 else 0.0
        size = int(rng.integers(1, 5 if n_terms == 14 else 7))
        problem = Problem.from_arrays(theta, y)
        check_equation(problem, 0, size, ridge, solve(problem, size, ridge=ridge, settings=ONE))


@pytest.mark.parametrize("seed", range(10))
def test_rationals_decide_ties(seed):
    """Integer data given as a triangular factor: the exact optimum with its tie rule, over the rationals."""
    rng = np.random.default_rng([3, seed])
    for _ in range(6):
        n_terms = int(rng.integers(3, 8))
        factor = np.triu(rng.integers(-2, 3, size=(n_terms + 1, n_terms + 1))).astype(float)
        # A factor with this diagonal is stored as it is: the problem is these integers.
        np.fill_diagonal(factor, rng.integers(1, 3, size=n_terms + 1))
        theta, y = factor[:, :n_terms], factor[:, n_terms]
        problem = Problem.from_arrays(theta, y)
        np.testing.assert_array_equal(problem.blocks[0].factor, factor)
        for size in range(n_terms + 1):
            want = oracle.exact_best(theta, y, size)
            got = solve(problem, size, settings=ONE)
            assert got.support[0] == want.support
            assert Fraction(got.objective[0]) == pytest.approx(want.value, rel=4 * EPS, abs=0)
            if want.rival is not None and want.value > 0:
                assert got.margin[0] == pytest.approx(float(want.rival / want.value) - 1, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("family", [ordinary, *ADVERSARIAL], ids=lambda f: f.__name__)
def test_pools_miss_nothing(family):
    rng = np.random.default_rng([4, ADVERSARIAL.index(family) if family in ADVERSARIAL else 99])
    for _ in range(12):
        theta, y = family(rng, int(rng.integers(6, 9)))
        if family in (zero_target, few_rows, exact_fit):  # values at rounding level: nothing to compare in doubles
            y = y + rng.standard_normal(len(y))
        problem = Problem.from_arrays(theta, y)
        block = problem.blocks[0]
        z, rest = block.target(0)
        size = int(rng.integers(1, 4))
        data = np.vstack([block.theta_factor, np.zeros(len(block.names))])
        found = oracle.best_supports(data, np.append(z, np.linalg.norm(rest)), size)
        values, supports = found.values[found.admissible], found.supports[found.admissible]
        if not len(values) or values.min() < 1e-12 * (y @ y) or family is near_duplicates:
            continue
        pool = solve_pool(problem, size, within=0.05, settings=ONE)
        got = {member.support for member in pool[0]}
        assert pool.complete[problem.target_names[0]]
        inside = {tuple(s) for s in supports[values < values.min() * 1.05 * (1 - 1e-9)]}
        outside = {tuple(s) for s in supports[values > values.min() * 1.05 * (1 + 1e-9)]}
        assert inside <= got
        assert not got & outside
        count = min(5, len(values))
        listed = solve_pool(problem, size, count=count, settings=ONE)[0]
        np.testing.assert_allclose([m.objective for m in listed], np.sort(values)[:count], rtol=1e-9)


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(20))
def test_long_campaign(seed):
    """More of the adversarial problems, with larger libraries and sizes."""
    rng = np.random.default_rng([5, seed])
    for _ in range(150):
        family = ADVERSARIAL[int(rng.integers(len(ADVERSARIAL)))]
        n_terms = int(rng.integers(4, 15))
        theta, y = family(rng, n_terms)
        size = int(rng.integers(0, min(n_terms, 6) + 1))
        ridge = ridge_of(rng, theta)
        problem = Problem.from_arrays(theta, y)
        check_equation(problem, 0, size, ridge, solve(problem, size, ridge=ridge, settings=ONE))

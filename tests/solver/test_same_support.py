"""Equations with the same terms: the search in which values add up, against enumeration."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import exactsindy as es
from exactsindy.constraints import compile_rules
from exactsindy.solver.backends.component import Component
from exactsindy.solver.equations import equations_of
from exactsindy.solver.same_support import Alike

SAME = [es.constraints.SameSupport()]


def instance(rng, *, equations=None, width=None, integers=False):
    """Return regressions of several trajectories: equal terms, other numbers; sizes and noise are drawn."""
    count = int(rng.integers(2, 5)) if equations is None else equations
    terms = int(rng.integers(3, 8)) if width is None else width
    true = rng.random(terms) < 0.4
    parts = []
    for _ in range(count):
        rows = terms + int(rng.integers(1, 12))
        theta = rng.integers(-3, 4, (rows, terms)).astype(float) if integers else rng.normal(size=(rows, terms))
        theta = theta + rng.uniform(0, 2) * rng.normal(size=(rows, 1)) if not integers else theta
        y = theta @ (true * rng.normal(size=terms)) + 10.0 ** rng.uniform(-8, 1) * rng.normal(size=rows)
        parts.append((theta, np.round(y) if integers else y * 10.0 ** rng.integers(-3, 4)))
    return parts


def joint(parts):
    problems = [es.Problem.from_arrays(a, y, target_names=[f"y{r}'"]) for r, (a, y) in enumerate(parts)]
    return es.Problem(tuple(block for problem in problems for block in problem.blocks))


def value(parts, support):
    return sum(
        float(np.sum((y - a[:, support] @ np.linalg.lstsq(a[:, support], y, rcond=None)[0]) ** 2)) for a, y in parts
    )


def enumerated(parts, size):
    """Return the values of all supports of a size, best first."""
    terms = parts[0][0].shape[1]
    every = [(value(parts, list(support)), support) for support in combinations(range(terms), size)]
    return sorted(every)


def alike(problem, size):
    rules = compile_rules(problem, SAME)
    count = len(problem.target_names)
    ridge = np.zeros((count, len(problem.terms)))
    component = Component(rules, tuple(equations_of(problem, ridge)), tuple(range(count)), (1.0,) * count)
    found = Alike.of(component, (size,) * count, None)
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(8))
def test_the_best_supports_are_those_of_enumeration(seed):
    rng = np.random.default_rng(seed)
    for _ in range(60):
        parts = instance(rng)
        problem = joint(parts)
        size = int(rng.integers(1, len(problem.terms)))
        best = enumerated(parts, size)
        scale = value(parts, [])
        outcome = alike(problem, size).run(size, 3, [], es.Settings())
        assert outcome.stop is None
        assert not outcome.dependent
        for answer, (expected, support) in zip(outcome.answers, best, strict=False):
            assert answer.objective == pytest.approx(expected, rel=1e-7, abs=1e-13 * scale)
            gap = min((abs(v - expected) for v, s in best if s != support), default=np.inf)
            if gap > 1e-9 * scale:
                width = len(problem.terms)
                assert tuple(v for v in answer.support if v < width) == support
        assert outcome.lower_bound <= outcome.answers[0].objective
        assert len(outcome.answers) == min(3, len(best))


@pytest.mark.parametrize("seed", range(3))
def test_solve_agrees_with_the_enumeration_in_exact_arithmetic(seed):
    rng = np.random.default_rng(100 + seed)
    for _ in range(6):
        problem = joint(instance(rng, equations=2, width=4, integers=True))
        for k in (1, 2):
            native = es.solve(problem, k, constraints=SAME)
            exact = es.solve(problem, k, constraints=SAME, backend="enumerate")
            assert native.optimal
            assert native.objective == pytest.approx(exact.objective, rel=1e-9, abs=1e-9)
            assert es.verify(problem, native).ok


def test_paths_and_pools_use_it_and_limits_leave_a_true_bound():
    rng = np.random.default_rng(5)
    problem = joint(instance(rng, equations=6, width=18))
    path = es.solve_path(problem, 5, constraints=SAME)
    assert all(solution.optimal for solution in path)
    assert all(len({frozenset(s) for s in solution.support}) == 1 for solution in path)
    pool = es.solve_pool(problem, 3, count=4, constraints=SAME)
    members = next(iter(pool.members.values()))
    assert members[0].objective == pytest.approx(path[3].objective[0])
    assert [m.objective for m in members] == sorted(m.objective for m in members)
    short = es.solve(problem, 5, constraints=SAME, settings=es.Settings(nodes=3))
    assert short.lower_bound[0] <= path[5].objective[0] * (1 + 1e-12)
    assert not short.optimal or short.support == path[5].support


def test_the_same_bits_in_any_order_of_trajectories_and_of_terms():
    rng = np.random.default_rng(7)
    parts = instance(rng, equations=3, width=7)
    first = es.solve(joint(parts), 3, constraints=SAME)
    turned = es.solve(joint(parts[::-1]), 3, constraints=SAME)
    assert set(first.support[0]) == set(turned.support[0])
    order = rng.permutation(7)
    moved = es.solve(joint([(a[:, order], y) for a, y in parts]), 3, constraints=SAME)
    assert {int(order[j]) for j in moved.support[0]} == set(first.support[0])


def test_exact_fits_take_the_fewest_terms():
    upper = [np.triu(np.full((6, 6), float(r))) + np.eye(6) for r in range(1, 4)]  # factors that rounding leaves alone
    problem = joint([(a, 2 * a[:, 1] - a[:, 4]) for a in upper])
    assert es.solve(problem, 4, constraints=SAME).support == ((1, 4),) * 3
    assert es.solve_path(problem, 5, constraints=SAME)[5].support == ((1, 4),) * 3


def test_dependent_columns_and_other_constraints_are_left_to_the_general_search():
    rng = np.random.default_rng(9)
    parts = instance(rng, equations=2, width=4)
    doubled = [(np.column_stack([a, a[:, 0]]), y) for a, y in parts]
    known = es.solve(joint(parts), 2, constraints=SAME)
    assert es.solve(joint(doubled), 2, constraints=SAME).objective == pytest.approx(known.objective)
    bounded = [*SAME, es.constraints.Bounds("y0'", 0, 0.0, 1e-3)]
    rules = compile_rules(joint(parts), bounded)
    equations = tuple(equations_of(joint(parts), np.zeros((2, 4))))
    assert Alike.of(Component(rules, equations, (0, 1), (1.0, 1.0)), (2, 2), None) is None

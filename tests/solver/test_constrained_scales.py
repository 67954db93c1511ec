"""Constraints whose rows are written in very different units: the answer must not depend on the units."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import exactsindy as es
from exactsindy.constraints import Equal, Linear, Sign


def problem_of(rng):
    """One or two equations with some true terms, as a problem and the names of its coefficients."""
    width, count = int(rng.integers(4, 7)), int(rng.integers(1, 3))
    rows = int(rng.integers(width + 2, 20))
    names, equations = [f"t{j}" for j in range(width)], ["x'", "y'"][:count]
    parts = []
    for equation in equations:
        theta = rng.normal(size=(rows, width))
        y = theta @ (rng.normal(size=width) * (rng.random(width) < 0.5)) + 0.5 * rng.normal(size=rows)
        parts.append(es.Problem.from_arrays(theta, y, names=names, target_names=[equation]))
    return es.Problem.from_blocks(parts), list(itertools.product(equations, names))


@pytest.mark.parametrize("batch", range(10))
def test_units_of_a_row_do_not_matter(batch):
    """Rows times 1e-12 to 1e12 (powers of two: nothing is rounded) have the same answer, to the bit."""
    rng = np.random.default_rng([31, batch])
    for _ in range(20):
        problem, names = problem_of(rng)
        plain, scaled = [], []
        for _ in range(int(rng.integers(1, 4))):
            chosen = [names[i] for i in rng.choice(len(names), size=int(rng.integers(2, 4)), replace=False)]
            coefs = {name: float(rng.choice([1.0, -1.0, 2.0, 0.5])) for name in chosen}
            relation, rhs = str(rng.choice(["==", "<=", ">="])), float(rng.choice([0.0, rng.normal()]))
            factor = 2.0 ** int(rng.integers(-40, 41))
            plain.append(Linear(coefs, relation, rhs))
            scaled.append(Linear({name: factor * c for name, c in coefs.items()}, relation, factor * rhs))
        size, ridge = int(rng.integers(1, 4)), float(rng.choice([0.0, 0.3]))
        want, got = (es.solve(problem, size, ridge=ridge, constraints=rows) for rows in (plain, scaled))
        assert set(want.status) <= {es.Status.OPTIMAL, es.Status.INFEASIBLE}
        assert got.status == want.status
        assert got.support == want.support
        np.testing.assert_array_equal(got.objective, want.objective)
        np.testing.assert_array_equal(got.coef, want.coef)


@pytest.mark.parametrize("batch", range(10))
def test_coefficients_of_very_different_size_are_tied(batch):
    """Equal(ratio up to 1e11): proved, and not worse than any support that leaves the tied terms out."""
    rng = np.random.default_rng([32, batch])
    for _ in range(60):
        problem, names = problem_of(rng)
        first, second, signed = (names[i] for i in rng.choice(len(names), size=3, replace=False))
        ratio = float(rng.choice([1.0, -1.0]) * 10.0 ** rng.uniform(-11, 11))
        constraints = [Equal(first, second, ratio), Sign(*signed, str(rng.choice(["+", "-"])))]
        size, ridge = int(rng.integers(1, 4)), float(rng.choice([0.0, 0.3]))
        got = es.solve(problem, size, ridge=ridge, constraints=constraints)
        assert got.optimal, (first, second, ratio)
        free = es.solve(problem, size, ridge=ridge)
        left_out = [es.constraints.Forbid(*name) for name in {first, second, signed}]
        least = es.solve(problem, size, ridge=ridge, constraints=left_out)
        assert free.objective.sum() * (1 - 1e-12) <= got.objective.sum() <= least.objective.sum() * (1 + 1e-12)
        tied = [got.coef[problem.target_names.index(e), problem.names.index(t)] for e, t in (first, second)]
        assert tied[0] == pytest.approx(ratio * tied[1], rel=1e-12, abs=0)

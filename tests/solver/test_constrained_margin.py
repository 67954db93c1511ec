"""The next-best support under constraints."""

from __future__ import annotations

import numpy as np
import pytest

from exactsindy.constraints import Linear, SemiContinuous, Sign
from exactsindy.problem import Problem
from exactsindy.solver import refit, solve


def test_rival_with_a_term_that_must_not_be_small():
    """At the best fit the term has no coefficient; present it needs one, which makes other supports of the size."""
    rng = np.random.default_rng(5)
    theta = rng.standard_normal((20, 4))
    problem = Problem.from_arrays(theta, theta[:, 1] - theta[:, 3], names=["a", "b", "c", "d"], target_names=["x'"])
    constraints = [
        Sign("x'", "c", "+"),
        SemiContinuous("x'", "c", 0.65, 1.65),
        Linear({("x'", "c"): 2.0, ("x'", "a"): 0.5}, "==", 0.0),
    ]
    solution = solve(problem, 2, ridge=0.3, constraints=constraints)
    best = refit(problem, [[1, 3]], ridge=0.3).objective[0]
    # The only other pair: c needs a, at -4 c, and both are worst for these data, so c has its least size.
    at_least = np.array([[-4 * 0.65, 0.0, 0.65, 0.0]])
    rival = problem.rss(at_least)[0] + 0.3 * np.sum(at_least**2)
    assert solution.support == ((1, 3),)
    assert solution.objective[0] == pytest.approx(best)
    assert solution.margin[0] == pytest.approx(rival / best - 1)

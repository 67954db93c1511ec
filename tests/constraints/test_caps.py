"""Caps of single equations beside a shared budget hold under constraints, too."""

from __future__ import annotations

import itertools

import numpy as np

from exactsindy.certificate import verify
from exactsindy.constraints import Require
from exactsindy.problem import Problem
from exactsindy.solver import Total, refit, solve


def test_caps_and_constraints_hold_together():
    rng = np.random.default_rng(3)
    for _ in range(20):
        theta = rng.standard_normal((30, 4))
        problem = Problem.from_arrays(
            theta, rng.standard_normal((30, 2)), names=list("abcd"), target_names=["x'", "y'"]
        )
        solution = solve(problem, Total(4, caps=(1, 3)), constraints=[Require("y'", "b")])
        least = min(
            refit(problem, [list(first), list(second)]).objective.sum()
            for first in itertools.chain.from_iterable(itertools.combinations(range(4), n) for n in range(2))
            for second in itertools.chain.from_iterable(itertools.combinations(range(4), n) for n in range(4))
            if 1 in second
        )
        assert solution.optimal
        assert abs(solution.objective[0] / least - 1) < 1e-12
        assert len(solution.support[0]) <= 1
        assert len(solution.support[1]) <= 3
        assert verify(problem, solution).ok

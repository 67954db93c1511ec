"""A solver that stands in for ours, so that the benchmark is tested by itself."""

import numpy as np
import pytest

from exactsindy.solver.backends import enumeration
from exactsindy.solver.equations import Equation
from exactsindy.solver.settings import Settings
from exactsindy_experiments import Answer


@pytest.fixture
def stand_in():
    def solve(equation, seconds):
        width = len(equation.z)
        record = Equation(
            "x'",
            equation.theta_factor,
            equation.z,
            np.array([np.sqrt(equation.rest_square)]),
            np.full(width, equation.ridge),
            np.arange(width),
            tuple(f"theta{j}" for j in range(width)),
        )
        outcome = enumeration.solve_equation(record, equation.size, Settings(seconds=seconds))
        status = "optimal" if outcome.stop is None else outcome.stop.name.lower().replace("_", " ")
        support, spent = outcome.answers[0].support, outcome.seconds
        return Answer(support, status, spent, spent, outcome.bound, outcome.nodes)

    return solve

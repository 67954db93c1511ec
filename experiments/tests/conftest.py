"""A solver that stands in for ours, so that the benchmark is tested by itself."""

import numpy as np
import pytest

from exactsindy.solver.backends import enumeration
from exactsindy.solver.settings import Settings
from exactsindy_experiments import Answer


@pytest.fixture
def stand_in():
    def solve(equation, seconds):
        ridge = np.full(len(equation.z), equation.ridge)
        found = enumeration.solve_equation(
            equation.theta_factor,
            equation.z,
            equation.rest_square,
            ridge,
            equation.size,
            settings=Settings(seconds=seconds),
        )
        status = found.status.name.lower().replace("_", " ")
        return Answer(found.support, status, found.seconds, found.seconds, found.lower_bound, found.nodes)

    return solve

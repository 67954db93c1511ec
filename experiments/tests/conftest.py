"""A solver that stands in for ours, so that the benchmark is tested by itself."""

import pytest

from exactsindy import Settings, solve
from exactsindy_experiments.solver_rows import Answer


@pytest.fixture
def stand_in():
    def enumerated(equation, seconds):
        settings = Settings(seconds=seconds)
        solution = solve(equation.problem, equation.size, ridge=equation.ridge, settings=settings, backend="enumerate")
        status, spent = solution.status[0].name.lower().replace("_", " "), float(solution.seconds[0])
        bound, nodes = float(solution.lower_bound[0]), int(solution.nodes[0])
        return Answer(tuple(solution.support[0]), status, spent, spent, bound, nodes)

    return enumerated

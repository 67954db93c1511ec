"""The benchmark with our own search."""

import pytest

from exactsindy_experiments.solver_benchmark import measure, measure_path
from exactsindy_experiments.solver_rows import Case, Limits, Task


@pytest.mark.parametrize(("system", "equation", "size"), [("hopf", "x'", 4), ("lorenz", "y'", 3)])
def test_our_answer_is_that_of_enumeration(system, equation, size, stand_in):
    case = Case(Task(system, 3, 2.0, 1, equation, size, 0.01), "exactsindy")
    ours, expected = measure(case), measure(case, reference=stand_in)
    assert ours.support == expected.support
    assert (ours.status, ours.truly_optimal) == ("optimal", True)
    assert ours.lower_bound == pytest.approx(expected.objective, rel=1e-9)
    assert 0 < ours.seconds <= ours.wall_seconds


def test_a_path_and_its_sizes():
    row = measure_path(Task("lorenz", 3, 2.0, 1, "y'", 4, 0.01), limits=Limits(repeats=2))
    assert row.proved
    assert 1 <= row.costliest_size <= 4
    assert row.ratio == pytest.approx(row.path_seconds / row.costliest_seconds)
    assert row.sum_seconds >= row.costliest_seconds > 0

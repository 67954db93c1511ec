from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from exactsindy.errors import ProblemError
from exactsindy.problem import Problem
from exactsindy.problem.tall import TallCollector, grown, one_thread

NAMES = ("a", "b", "c", "d", "e")


def collected(rows, size):
    found = TallCollector(NAMES, ("y",))
    for start in range(0, len(rows), size):
        found.add(rows[start : start + size])
    return found.block()


@pytest.mark.parametrize("size", [3, 50, 1000])
def test_the_factor_is_that_of_all_rows_even_of_nearly_dependent_columns(size):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1000, 6)) * [1e-8, 1.0, 1e6, 1.0, 1.0, 1.0]
    rows[:, 3] = rows[:, 1] + 1e-7 * rows[:, 3]
    rows[:, 5] = rows[:, :5] @ [1e8, -2.0, 1e-6, 3.0, 0.0] + 1e-9 * rows[:, 5]
    block = collected(rows, size)
    want = Problem.from_arrays(rows[:, :-1], rows[:, -1], names=NAMES, target_names=("y",)).blocks[0]
    assert block.n_samples == 1000
    # The residual is 1e-9 of the target: the products of the columns themselves would hold none of its digits.
    assert abs(block.factor[5, 5] / want.factor[5, 5] - 1) < 1e-4
    assert abs(block.factor[3, 3] / want.factor[3, 3] - 1) < 1e-6
    assert np.allclose(block.factor.T @ block.factor, want.factor.T @ want.factor, rtol=1e-12)


def test_rows_far_larger_than_those_before_are_reflected():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(200, 6))
    rows[100:, 2] *= 1e9
    factor = np.linalg.qr(rows[:100], mode="r")
    assert grown(factor, rows[100:]) is None
    block = collected(rows, 50)
    want = Problem.from_arrays(rows[:, :-1], rows[:, -1], names=NAMES, target_names=("y",)).blocks[0]
    assert np.allclose(block.factor, want.factor, rtol=1e-9)


def test_zero_columns_and_few_rows_are_no_obstacle():
    rows = np.random.default_rng(2).normal(size=(60, 6))
    rows[:, 1] = 0.0
    assert not collected(rows, 20).factor[:, 1].any()
    assert collected(rows[:3], 2).n_samples == 3


def test_a_value_that_is_not_finite_is_named():
    rows = np.random.default_rng(3).normal(size=(60, 6))
    rows[50, 2] = np.nan
    with pytest.raises(ProblemError, match="'c'"):
        collected(rows, 20)


def threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_one_thread_inside_and_as_before_outside():
    with one_thread():
        pass  # loads what it limits
    before = threads()
    with one_thread():
        assert set(threads()) == {1}
    assert threads() == before


def test_it_ends_when_the_work_fails():
    with one_thread():
        pass
    before = threads()
    try:
        with one_thread():
            raise ValueError
    except ValueError:
        pass
    assert threads() == before


def test_growing_a_factor_leaves_threads_as_they_were():
    rng = np.random.default_rng(0)
    rows, more = rng.normal(size=(40, 6)), rng.normal(size=(300, 6))
    with one_thread():
        pass
    before = threads()
    found = grown(np.linalg.qr(rows)[1], more)
    whole = np.vstack([rows, more])
    assert np.allclose(found.T @ found, whole.T @ whole, rtol=1e-12)
    assert threads() == before

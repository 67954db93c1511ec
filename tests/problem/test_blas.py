"""BLAS threads are limited where they would wait for one another, and only there."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_info

from exactsindy.problem.tall import grown, one_thread


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

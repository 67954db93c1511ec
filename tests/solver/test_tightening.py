"""Bounds of searches that a time limit ended: true, better than before, and within the limit."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

import exactsindy as es
from exactsindy.solver import tightening
from exactsindy.solver.backends import native
from exactsindy.solver.equations import equations_of
from exactsindy.solver.settings import Deadline, Status


def noisy_problem(seed, width=40, rows=60, noise=1.0):
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=(rows, width)) + rng.normal(size=(rows, 1))
    return es.Problem.from_arrays(theta, theta[:, :3].sum(axis=1) + noise * rng.normal(size=rows))


def stopped(equation, size, answer):
    """Return what a search knows that a limit ended at once."""
    first = native.run([equation], [size], [[]], es.Settings(nodes=1, threads=1))[0][0]
    return replace(first, answers=(answer,), stop=Status.TIME_LIMIT)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("rank", [0, 1])
def test_bounds_are_true_and_nearly_closed(seed, rank):
    """Also from the second-best support, where the best one has to be found on the way."""
    equation, size = equations_of(noisy_problem(seed), np.zeros((1, 40)))[0], 5
    best = native.run([equation], [size], [[]], es.Settings(), pool=True, keep=2)[0][0]
    before = stopped(equation, size, best.answers[rank])
    after = tightening._tightened(equation, size, before, Deadline(es.Settings(seconds=60.0)))
    assert before.lower_bound < after.lower_bound <= best.objective
    assert after.lower_bound > (1 - 2e-4) * best.objective
    assert after.objective <= before.objective
    assert after.nodes > before.nodes


def test_no_bound_from_libraries_whose_columns_depend_on_each_other():
    rng = np.random.default_rng(0)
    theta = rng.normal(size=(30, 12))
    theta[:, 7] = theta[:, 3]
    equation = equations_of(es.Problem.from_arrays(theta, rng.normal(size=30)), np.zeros((1, 12)))[0]
    best = native.run([equation], [4], [[]], es.Settings())[0][0]
    before = stopped(equation, 4, best.answers[0])
    after = tightening._tightened(equation, 4, before, Deadline(es.Settings(seconds=20.0)))
    assert after.lower_bound <= best.objective


def test_time_limits_hold_and_progress_goes_on(monkeypatch):
    """A search that cannot end: 2 s are 2 s, the bound is better than that of all terms, and is shown."""
    rng, features, seen = np.random.default_rng(3), es.Polynomials(5).bind(("x", "y", "z", "w")), []
    theta = features.evaluate(rng.uniform(-1, 1, size=(600, 4)))  # 126 monomials, and a target of noise
    problem = es.Problem.from_arrays(theta, rng.normal(size=600), names=features.terms)
    begin = time.perf_counter()
    solution = es.solve(problem, 12, settings=es.Settings(seconds=2.0, progress=seen.append))
    assert time.perf_counter() - begin < 3.0
    assert solution.status == (Status.TIME_LIMIT,)
    monkeypatch.setattr(tightening, "LEAST_SECONDS", 1e9)
    without = es.solve(problem, 12, settings=es.Settings(seconds=0.2))
    assert solution.lower_bound[0] > without.lower_bound[0]
    bounds = [next(iter(now.lower_bound.values())) for now in seen]
    assert bounds == sorted(bounds)
    assert bounds[-1] <= solution.lower_bound[0] <= solution.objective[0]
    assert [now.seconds for now in seen] == sorted(now.seconds for now in seen)

"""Standard errors under constraints: compared with how much coefficients scatter when the noise is drawn anew."""

from __future__ import annotations

import numpy as np
import pytest

import exactsindy as es
from exactsindy.constraints import Equal, Forbid, SemiContinuous

NAMES = ["x", "y", "x y", "x^2"]
TRUTH = np.array([[1.0, 2.0, 0.0, 0.0], [2.0, 0.0, 0.0, -1.0]])
THETA = np.random.default_rng(0).normal(size=(60, 4))
TIED = Equal(("x'", "y"), ("y'", "x"))


def fitted(seed, constraints, k=2, ridge=0.0):
    noise = np.array([0.3, 0.1]) * np.random.default_rng(seed).normal(size=(60, 2))
    problem = es.Problem.from_arrays(THETA, THETA @ TRUTH.T + noise, names=NAMES, target_names=["x'", "y'"])
    return es.solve(problem, k, constraints=constraints, ridge=ridge)


def errors(solution):
    return [row.standard_errors for row in es.Model.from_solution(solution).rows]


@pytest.mark.parametrize(
    ("constraints", "k", "ridge"),
    [
        ((), 2, 0.0),
        ((), 2, 0.3),
        ([TIED], 2, 0.0),
        ([TIED], 2, 0.3),
        ([TIED], es.Total(4, weights=[1.0, 20.0]), 0.0),
        (["x': x + y == 3"], 2, 0.0),
        (["x': x + y == 3", TIED], 2, 0.0),
        (["x': x + y <= 2.85"], 2, 0.0),
        (["x': y == 2"], 2, 0.0),
    ],
    ids=["none", "ridge", "tied", "tied, ridge", "tied, weighted", "sum", "sum and tied", "met inequality", "fixed"],
)
def test_errors_are_the_scatter_of_the_coefficients(constraints, k, ridge):
    runs = [fitted(seed, constraints, k, ridge) for seed in range(200)]
    assert all(run.support == ((0, 1), (0, 3)) for run in runs)
    expected = [np.mean([errors(run)[i] for run in runs], axis=0) for i in (0, 1)]
    for i in (0, 1):
        scatter = np.std([run.coef[i, run.support[i]] for run in runs], axis=0)
        decided = scatter < 1e-9
        assert (np.isnan(expected[i]) == decided).all()
        np.testing.assert_allclose(scatter[~decided], expected[i][~decided], rtol=0.15)


def test_tied_coefficients_have_one_error():
    first, second = errors(fitted(0, [TIED]))
    assert first[1] == pytest.approx(second[0], rel=1e-9)


def test_coefficients_that_constraints_decide_are_called_fixed():
    both = ["x': x + y == 3", "x': x == 1"]
    row = es.Model.from_solution(fitted(0, both)).rows[0]
    assert row.text_with_errors() == "x' = (1 fixed) x + (2 fixed) y"
    bounded = es.Model.from_solution(fitted(0, ["x': x <= 0.9"])).rows[0]
    assert bounded.text_with_errors().startswith("x' = (0.9 fixed) x + (2.")
    sized = es.Model.from_solution(fitted(0, [SemiContinuous("x'", "x", least=1.5)])).rows[0]
    assert sized.is_fixed(0) is (sized.coefficients[0] == 1.5)


def test_constraints_that_are_not_met_with_equality_change_nothing():
    loose = ["x': x + y <= 30", "x': x >= 0.1", Forbid("x'", "x y")]
    np.testing.assert_allclose(errors(fitted(0, loose))[0], errors(fitted(0, ()))[0], rtol=1e-9)

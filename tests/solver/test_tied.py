"""Coefficients that equalities tie to each other: the search for each choice of ties, against brute force."""

from __future__ import annotations

import numpy as np
import pytest

import exactsindy as es
from constrained_cases import Case
from exactsindy.solver import constrained_search
from exactsindy.solver.tied import ties

C = es.constraints


@pytest.fixture
def tied(monkeypatch):
    """Nothing but the choices of ties comes before the joint search. Counts what they answer."""
    monkeypatch.setattr(constrained_search, "TRIAL", 0)
    monkeypatch.setattr(constrained_search, "_by_relaxation", lambda *_: None)
    answered, original = [], constrained_search.by_ties

    def watched(*arguments):
        outcome = original(*arguments)
        answered.append(outcome is not None)
        return outcome

    monkeypatch.setattr(constrained_search, "by_ties", watched)
    return answered


@pytest.mark.parametrize("batch", range(8))
def test_ties_against_brute_force(batch, tied):
    for seed in range(50):
        rng = np.random.default_rng([21, batch, seed])
        others = [str(kind) for kind in rng.choice(["Equal", "Forbid", "Require"], size=int(rng.integers(0, 3)))]
        Case([21, batch, seed], ["Equal", *others]).check()
    assert sum(tied) > len(tied) / 3


@pytest.mark.parametrize("batch", range(4))
def test_ties_of_columns_that_resemble_each_other(batch, tied):
    for seed in range(25):
        Case([22, batch, seed], ["Equal", "Equal"], alike=30.0).check()
    assert sum(tied) > len(tied) / 3


def test_chains_of_ties_are_one_and_contradictions_leave_it_to_others():
    rng = np.random.default_rng(0)
    problem = es.Problem.from_arrays(rng.normal(size=(30, 6)), rng.normal(size=(30, 2)), target_names=["x'", "y'"])
    chain = [C.Equal(("x'", 0), ("x'", 1), 2.0), C.Equal(("x'", 1), ("y'", 2), -1.0)]
    seen = []
    original = constrained_search.by_ties
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(constrained_search, "by_ties", lambda *a: (seen.append(ties(a[1])), original(*a))[1])
        patch.setattr(constrained_search, "_by_relaxation", lambda *_: None)
        patch.setattr(constrained_search, "TRIAL", 0)
        solved = es.solve(problem, es.Total(4), constraints=chain)
        around = es.solve(problem, es.Total(4), constraints=[*chain, C.Equal(("x'", 0), ("y'", 2), 3.0)])
    (tie,), none = seen[0]
    assert tie.variables == (0, 1, 8)
    assert not none
    assert np.allclose(np.array(tie.ratios) / tie.ratios[1], [2.0, 1.0, -1.0])
    assert seen[1] is None
    assert solved.optimal
    assert around.optimal
    # The last row contradicts the others: all three coefficients are 0.
    assert not {0, 1} & set(around.support[0])
    assert 2 not in around.support[1]


def lorenz(noise=0.02):
    """Return Lorenz's rates over monomials up to degree 5, with noise."""
    system, times = es.systems.find_system("lorenz"), np.arange(0, 10, 0.02)
    x = system.simulate(system.initial_condition(np.random.RandomState(0)), times)
    rates = np.array(
        [10 * (x[:, 1] - x[:, 0]), x[:, 0] * (28 - x[:, 2]) - x[:, 1], x[:, 0] * x[:, 1] - 8 / 3 * x[:, 2]]
    ).T
    noisy = rates + noise * rates.std(axis=0) * np.random.default_rng(0).normal(size=rates.shape)
    features = es.Polynomials(5).bind(("x", "y", "z"))
    return es.Problem.from_arrays(features.evaluate(x), noisy, names=features.terms, target_names=("x'", "y'", "z'"))


def test_a_tie_far_from_the_truth_is_proved():
    """The joint search left a gap of one half after 20 s."""
    problem, tie = lorenz(), C.Equal(("x'", "y"), ("y'", "x"))
    solution = es.solve(problem, es.Total(9), constraints=[tie], settings=es.Settings(seconds=30))
    assert solution.optimal
    assert solution.margin[0] > 0.01
    assert solution.terms["x'"]["y"] == pytest.approx(solution.terms["y'"]["x"], rel=1e-9)
